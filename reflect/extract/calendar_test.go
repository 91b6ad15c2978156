package extract

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"hindsight/store"
)

// TestDatesInZones reads sixty relative times in three zones, round midnight,
// the ends of months, a leap day and a change of the clocks.
func TestDatesInZones(t *testing.T) {
	var rows []struct {
		Zone, Text, Want, Expression string
		Time                         time.Time
	}
	b, err := os.ReadFile("testdata/dates.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 71 {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	for _, r := range rows {
		zone, err := time.LoadLocation(r.Zone)
		if err != nil {
			t.Skip("no time zones here:", err)
		}
		if got := dated(r.Text, r.Expression, r.Time.In(zone)); got != r.Want {
			t.Errorf("%s in %s: %s, want %s", r.Time.Format(time.RFC3339), r.Zone, got, r.Want)
		}
	}
}

// What looks like a relative time and is none.
func TestNoDates(t *testing.T) {
	now := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"以前天天跑步。", "以后年夜饭我来做。", "我看今日头条。", "每月底结账。", "每个月底结账。", "I learned it in three days.", "后来好了。",
		"这个月31号交房。", // November has none
	} {
		if got := dated(text, "", now); got != text {
			t.Error(got)
		}
	}
}

// The date is computed from the event in the user's zone, whatever a model
// writes, and a date that a model made up is refused.
func TestDatesAreNotTheModels(t *testing.T) {
	m := talk("user: I resigned from the harbour authority tonight.")
	m.Events[0].Time = time.Date(2026, 10, 31, 23, 58, 0, 0, time.FixedZone("", -4*3600))
	it := map[string]any{"type": "event", "text": "The user resigned from the harbour authority.", "quote": "I resigned from the harbour authority tonight", "time_expression": "tonight"}
	res, err := Read(answer(t, fact(it)), m)
	if err != nil || len(res.Candidates) != 1 || res.Candidates[0].Text != "The user resigned from the harbour authority (2026-10-31)." {
		t.Errorf("%v %+v", err, res)
	}
	it["text"] = "The user resigned from the harbour authority on 2026-11-01."
	res, err = Read(answer(t, fact(it)), m)
	if err != nil || len(res.Candidates) != 0 || len(res.Dropped) != 1 || (res.Dropped[0] != store.Dropped{Text: it["text"].(string), Reason: NewNumber}) {
		t.Errorf("%v %+v", err, res)
	}
}
