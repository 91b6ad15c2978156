package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// evalData is a data set of three memories, one question that a memory answers
// and one that none does.
const evalData = `{"about":"made up"}
{"corpus":"ann","unit":"1","text":"The staging database listens on port 5433.","time":"2026-01-02"}
{"corpus":"ann","unit":"2","text":"User's dog is called Biscuit.","time":"2026-01-03"}
{"corpus":"ann","unit":"3","text":"User plays the cello on Tuesdays.","time":"2026-01-04"}
{"corpus":"ann","question":"Which port does the staging database listen on?","relevant":["1"],"category":"own"}
{"corpus":"ann","question":"Who painted the Night Watch?","relevant":[],"category":"foreign"}
`

func evalFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.jsonl")
	if err := os.WriteFile(path, []byte(evalData), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEvalRecallPrintsTheContract: two runs with the names that scripts read.
func TestEvalRecallPrintsTheContract(t *testing.T) {
	t.Parallel()
	code, out, errs := newShell(t).run("eval", "recall", "--data", evalFile(t), "--embedder", "none", "--ranking", "additive", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Runs []map[string]any `json:"runs"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) != 2 {
		t.Fatalf("%d runs: %s", len(got.Runs), out)
	}
	all := map[string]any{"1": 1.0, "5": 1.0, "10": 1.0, "50": 1.0}
	for i, run := range got.Runs {
		if _, ok := run["ms_per_question"].(float64); !ok {
			t.Errorf("run %d has no time", i)
		}
		delete(run, "ms_per_question")
		own := map[string]any{"questions": 1.0, "r_at": all, "mrr": 1.0}
		none := map[string]any{"questions": 1.0, "r_at": map[string]any{"1": 0.0, "5": 0.0, "10": 0.0, "50": 0.0}, "mrr": 0.0}
		want := map[string]any{
			"data": "made", "ranking": "additive", "embedder": "none", "gate": i == 1, "questions": 2.0, "r_at": all, "mrr": 1.0,
			"by_category": map[string]any{"own": own, "foreign": none},
		}
		if i == 1 {
			shares := func(own float64) map[string]any {
				return map[string]any{"answerable": own, "right": own, "findable_kept": own, "unanswerable": 0.0}
			}
			want["injected"], own["injected"], none["injected"] = shares(1), shares(1), shares(0)
		}
		if d := cmp.Diff(want, run); d != "" {
			t.Errorf("run %d (-want +got):\n%s", i, d)
		}
	}
}

// TestEvalWithVectors goes the way of the built-in embedder once, through tune.
func TestEvalWithVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	t.Parallel()
	code, out, errs := newShell(t).run("eval", "tune", "--data", evalFile(t), "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Embedder string `json:"embedder"`
		Points   []struct {
			Gate         float64 `json:"gate"`
			FindableKept float64 `json:"findable_kept"`
			Unanswerable float64 `json:"unanswerable"`
		} `json:"points"`
		Proposal *struct {
			Gate float64 `json:"gate"`
		} `json:"proposal"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Embedder != "builtin" || len(got.Points) < 10 || got.Proposal == nil || got.Proposal.Gate < 1 {
		t.Errorf("tuning: %s", out)
	}
	for _, p := range got.Points {
		if p.Gate == 1 && (p.FindableKept != 1 || p.Unanswerable != 0) {
			t.Errorf("the gate as it is: %+v", p)
		}
	}
}

func TestEvalRefusesWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	for words, args := range map[string][]string{
		"where.jsonl":          {"recall", "--data", "where.jsonl"},
		"--embedding-api-base": {"recall", "--data", evalFile(t), "--embedder", "some-model"},
		"--ranking":            {"recall", "--data", evalFile(t), "--ranking", "best"},
		"--keep":               {"tune", "--data", evalFile(t), "--keep", "2"},
		"--each":               {"harm", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--each", "0"},
	} {
		if code, _, errs := newShell(t).run(append([]string{"eval"}, args...)...); code != exitUsage || !strings.Contains(errs, words) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestEvalHarmFailsWithoutAnswers: no answer is no good answer.
func TestEvalHarmFailsWithoutAnswers(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	code, out, errs := newShell(t).run("eval", "harm", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--each", "40")
	if code != exitFailed || !strings.Contains(errs, "14 calls without an answer") || !strings.Contains(out, "| none |  | 0 |") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}
