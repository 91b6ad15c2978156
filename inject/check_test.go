package inject

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// TestPleaseCheck goes through a year of one conversation a day, and restarts in
// between: what is important and old is asked about once a month, until somebody
// confirms it.
func TestPleaseCheck(t *testing.T) {
	d := &disk{}
	clock := now
	day := func(n int) { clock = now.AddDate(0, 0, n) }
	mem := fact("mboat01", "User's boat lies in Porto")
	mem.CreatedAt, mem.Importance = now, 0.7
	minor := fact("mbike01", "User's bicycle stands in the cellar")
	minor.CreatedAt, minor.Importance = now, 0.69
	rule := store.Memory{ID: "mrule01", Tenant: "t", Text: "Answer in French", Type: store.Preference, Standing: true, Importance: 0.9, CreatedAt: now}
	d.put(mem, minor, rule)
	e := d.engine(t, Config{})
	ask := func(session, words string) string {
		t.Helper()
		c := talk(session, words)
		c.Now = clock
		p := e.Plan(t.Context(), c)
		e.Commit(p)
		if len(p.Blocks) != 1 {
			t.Fatalf("%s: %d blocks", session, len(p.Blocks))
		}
		return p.Blocks[0].Text
	}
	checks := func(block, id string) bool {
		t.Helper()
		_, line, ok := strings.Cut(block, "["+id)
		if !ok {
			t.Fatalf("%s isn't in\n%s", id, block)
		}
		line, _, _ = strings.Cut(line, "\n")
		return strings.HasSuffix(line, " (please check)")
	}
	asked := 0
	for n := 0; n <= 360; n += 3 {
		day(n)
		if n%30 == 0 {
			e = d.engine(t, Config{}) // a restart
		}
		boat := ask(fmt.Sprint("boat", n), "where does my boat lie?")
		if got, want := checks(boat, "mboat01"), n >= 180 && n%30 == 0; got != want {
			t.Errorf("day %d: asked to check: %v, want %v", n, got, want)
		} else if got {
			asked++
			// The same conversation keeps its bytes.
			clock = clock.Add(20 * time.Hour)
			if again := ask(fmt.Sprint("boat", n), "where does my boat lie?"); again != boat {
				t.Errorf("day %d: replayed\n%s\nwas\n%s", n, again, boat)
			}
			day(n)
		}
		if got, want := checks(boat, "mrule01"), n >= 180 && n%30 == 0; got != want {
			t.Errorf("day %d: standing: asked to check: %v, want %v", n, got, want)
		}
		if checks(ask(fmt.Sprint("bike", n), "where does my bicycle stand?"), "mbike01") {
			t.Errorf("day %d: asked about what isn't important", n)
		}
	}
	if asked != 7 {
		t.Errorf("asked %d times in half a year, want 7", asked)
	}
	mem.LastVerified = clock
	d.put(mem)
	day(360 + 179)
	if checks(ask("verified", "where does my boat lie?"), "mboat01") {
		t.Error("asked again within 180 days of the confirmation")
	}
	day(360 + 180)
	e.Plan(t.Context(), func() Conversation { c := talk("unused", "where does my boat lie?"); c.Now = clock; return c }())
	if !checks(ask("used", "where does my boat lie?"), "mboat01") {
		t.Error("a plan that was never used counts as asked")
	}
}

// What a block says already isn't said again under another id, whatever follows
// it in its line.
func TestAlreadySaidWithAnEnding(t *testing.T) {
	text := "User's boat lies in Porto"
	for _, l := range []line{{}, {earlier: 2}, {instead: "m123456"}, {check: true}, {earlier: 1, check: true}} {
		l.memory = &store.Memory{ID: "mboat01", Text: text, CreatedAt: now}
		if b := renderLine(l, "mboat01", time.UTC); !states(b, text) || states(b, "User's boat lies in") || states(b, text+" (x)") {
			t.Errorf("what %q says isn't known", b)
		}
	}
}
