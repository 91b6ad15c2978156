package recall

import (
	"testing"
)

// TestWindows: five sessions in windows of two, a question whose evidence lies
// in two of them, and three that nothing answers.
func TestWindows(t *testing.T) {
	c := Corpus{Name: "c", Questions: []Question{asked("in", "1", "2"), asked("across", "2", "3"), asked("a"), asked("b"), asked("c"), asked("d"), asked("last", "5")}}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		c.Units = append(c.Units, Unit{ID: id, Session: "s" + id})
	}
	got := (&Set{Name: "n", Corpora: []Corpus{c}}).Windows(2)
	want := [][2]string{{"12", "in a d "}, {"34", "b "}, {"5", "c last "}}
	if len(got.Corpora) != len(want) {
		t.Fatalf("%d windows", len(got.Corpora))
	}
	for i, w := range got.Corpora {
		var units, questions string
		for _, u := range w.Units {
			units += u.ID
		}
		for n, q := range w.Questions {
			questions += q.Text + " "
			if q.number != n {
				t.Errorf("window %d: question %d has the number %d", i, n, q.number)
			}
		}
		if units != want[i][0] || questions != want[i][1] {
			t.Errorf("window %d: units %s, questions %s, want %v", i, units, questions, want[i])
		}
	}
}
