package recall

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines, "\n")
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	} else if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoadJoinsFiles: one packed file with the units, one plain with questions.
func TestLoadJoinsFiles(t *testing.T) {
	units := write(t, "units.jsonl.gz",
		`{"about":"made up"}`,
		`{"corpus":"c","unit":"1","session":"s","speaker":"Ann","text":"tea","time":1700000000}`,
		`{"corpus":"c","unit":"2","text":"coffee","time":"2024-05-06"}`)
	asked := write(t, "asked.jsonl",
		`{"corpus":"c","question":"what?","context":["a","b"],"relevant":["2"],"category":"x","asked":"2024-06-01T10:00:00Z"}`, ``,
		`{"corpus":"c","question":"who?","relevant":[],"category":"y"}`)
	set, err := Load([]string{units, asked})
	if err != nil {
		t.Fatal(err)
	}
	last := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	want := &Set{Name: "units+asked", Corpora: []Corpus{{
		Name: "c", last: last,
		Units: []Unit{
			{ID: "1", Session: "s", Speaker: "Ann", Text: "tea", Time: time.Unix(1700000000, 0).UTC()},
			{ID: "2", Text: "coffee", Time: last},
		},
		Questions: []Question{
			{Text: "what?", Context: []string{"a", "b"}, Relevant: []string{"2"}, Category: "x", Asked: time.Date(2024, 6, 1, 10, 0, 0, 0, time.UTC)},
			{Text: "who?", Relevant: []string{}, Category: "y", number: 1},
		},
	}}}
	if d := cmp.Diff(want, set, cmp.AllowUnexported(Corpus{}, Question{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	c := set.Corpora[0]
	if now := c.now(&c.Questions[0]); now.Year() != 2024 || now.Month() != 6 {
		t.Errorf("asked at %v", now)
	}
	if now := c.now(&c.Questions[1]); !now.Equal(last) {
		t.Errorf("without a time asked at %v, want the last unit's", now)
	}
}

// TestLoadKeepsFilesApartThatNumberAlike: the two languages of one benchmark.
func TestLoadKeepsFilesApartThatNumberAlike(t *testing.T) {
	en := write(t, "en.jsonl", `{"corpus":"1","unit":"1","text":"tea","time":1}`, `{"corpus":"1","question":"drink?","relevant":["1"]}`)
	zh := write(t, "zh.jsonl", `{"corpus":"1","unit":"1","text":"茶","time":1}`, `{"corpus":"1","question":"喝什么？","relevant":["1"]}`)
	set, err := Load([]string{en, zh})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Corpora) != 2 || len(set.Corpora[0].Units) != 1 || len(set.Corpora[1].Questions) != 1 || set.Corpora[1].Units[0].Text != "茶" {
		t.Errorf("got %+v", set.Corpora)
	}
	more := write(t, "more.jsonl", `{"corpus":"1","question":"again?","relevant":["1"]}`)
	if _, err := Load([]string{en, zh, more}); err == nil || !strings.Contains(err.Error(), "more.jsonl") {
		t.Errorf("a question to one of two corpora: %v", err)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	unit := `{"corpus":"c","unit":"1","text":"tea","time":1}`
	for want, lines := range map[string][]string{
		"line 2":        {unit, `{"corpus":`},
		"neither":       {unit, `{"corpus":"c"}`},
		"want seconds":  {`{"corpus":"c","unit":"1","text":"tea","time":"yesterday"}`},
		"isn't there":   {unit, `{"corpus":"c","question":"what?","relevant":["9"]}`},
		"no units":      {`{"corpus":"c","question":"what?","relevant":[]}`},
		"is there twic": {unit, unit},
	} {
		if want == "neither" {
			want = "want a corpus and either"
		}
		if _, err := Load([]string{write(t, "x.jsonl", lines...)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
	}
	if _, err := Load([]string{"not/there.jsonl"}); err == nil {
		t.Error("a file that isn't there was read")
	}
}
