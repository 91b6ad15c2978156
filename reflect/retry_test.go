package hreflect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// What fails a check is asked for once more, all of it in one question that
// shows only the turns it is about.
func TestFocusedRetry(t *testing.T) {
	t.Parallel()
	const wrong = "The user owns 7 red bikes."
	for name, c := range map[string]struct {
		first, second string // texts about the bike
		broken        bool   // the second call fails
		want          []string
		reasons       []string
		calls         int
	}{
		"nothing to mend":   {first: bikeIs, want: []string{boatIs, bikeIs}, calls: 1},
		"mended":            {first: wrong, second: bikeIs, want: []string{boatIs, bikeIs}, reasons: []string{extract.NewNumber}, calls: 2},
		"wrong again":       {first: wrong, second: "The user owns 8 red bikes.", want: []string{boatIs}, reasons: []string{extract.NewNumber, extract.NewNumber}, calls: 2},
		"the call fails":    {first: wrong, broken: true, want: []string{boatIs}, reasons: []string{extract.NewNumber}, calls: 2},
		"unreadable":        {first: wrong, second: "?", want: []string{boatIs}, reasons: []string{extract.NewNumber}, calls: 2},
		"a secret, nothing": {first: "The user's password is hunter22.", want: []string{boatIs}, reasons: []string{extract.Secret}, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			h := newHouse(t, func(w http.ResponseWriter, n int, data string) {
				asked = append(asked, data)
				switch {
				case n == 1:
					say(w, `{"items":[`+itemOf(data, bike, c.first)+","+itemOf(data, boat, boatIs)+`],"injected":[]}`)
				case c.broken:
					http.Error(w, "{}", 503)
				case c.second == "?":
					say(w, "I don't know.")
				default:
					// A statement that wasn't in doubt is none of this question's.
					say(w, `{"items":[`+itemOf(data, bike, c.second)+`],"injected":[]}`)
				}
			})
			h.run()
			h.talk("s", 1, bike+".", "Nice!")
			h.talk("s", 2, boat+".", "Nice too!")
			j := h.close("s")
			if diff := cmp.Diff(c.want, h.texts()); diff != "" || j.State != store.Done || h.calls() != c.calls {
				t.Errorf("%d calls, %s: %s", h.calls(), j.State, diff)
			}
			var reasons []string
			for _, d := range j.Dropped {
				reasons = append(reasons, d.Reason)
			}
			if diff := cmp.Diff(c.reasons, reasons); diff != "" {
				t.Error(diff)
			}
			if c.calls == 2 && (!strings.Contains(asked[1], "<failed>") || strings.Contains(asked[1], boat)) {
				t.Errorf("the second question isn't about the bike alone:\n%s", asked[1])
			}
		})
	}
}

// A text that lost a number of its quote gets one question; after that the
// quote stands beside it.
func TestTheQuoteBesideAThinText(t *testing.T) {
	const said = "I own 3 red bikes from Batavus"
	for second, want := range map[string]string{
		"The user owns 3 red bikes from Batavus.": "The user owns 3 red bikes from Batavus.",
		"The user owns some red bikes.":           `The user owns red bikes. ("` + said + `")`,
	} {
		h := newHouse(t, func(w http.ResponseWriter, n int, data string) {
			text := "The user owns red bikes."
			if n > 1 {
				text = second
			}
			say(w, `{"items":[`+itemOf(data, said, text)+`],"injected":[]}`)
		})
		h.run()
		h.talk("s", 1, said+".", "Nice!")
		if j := h.close("s"); j.State != store.Done || h.calls() != 2 {
			t.Errorf("%d calls: %+v", h.calls(), j)
		}
		if diff := cmp.Diff([]string{want}, h.texts()); diff != "" {
			t.Error(diff)
		}
	}
}
