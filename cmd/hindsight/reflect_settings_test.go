package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// The operator's strategy and instructions reach the model: the instructions
// behind a fixed part that is the same bytes in every call, and the job's
// record names the strategy with its version.
func TestStrategyAndInstructions(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"classify", "score", "contrast"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var fixed, data []string
			w := newWorld(t, "HINDSIGHT_REFLECT_STRATEGY="+strategy, "HINDSIGHT_REFLECT_INSTRUCTIONS=Care for ports and nothing else.")
			w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
				if !strings.Contains(string(body), "hindsight_memories") {
					return false
				}
				var req struct{ Messages []struct{ Content string } }
				if json.Unmarshal(body, &req) != nil || len(req.Messages) != 2 {
					return false
				}
				mu.Lock()
				defer mu.Unlock()
				fixed, data = append(fixed, req.Messages[0].Content), append(data, req.Messages[1].Content)
				content := `{"items":[` +
					`{"type":"user_fact","text":"The gateway listens on port 8443.","subject":"gateway","scenario":"","without":"guesses the port","with":"uses port 8443","importance":0.8,"confidence":0.9,"standing":false,"said_by":"user","events":["e1"],"quote":"gateway listens on port 8443","time_expression":"","valid_until":"","relation":"new","relation_id":""}` +
					`],"scores":[{"item":1,"useful":8,"lasting":8}],"injected":[]}`
				rw.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(rw).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": content}, "finish_reason": "stop"}}})
				return true
			}
			first, dropped := w.learn("Our gateway listens on port 8443.")
			if len(first) != 1 || first[0].Importance != 0.8 {
				t.Fatalf("kept %+v, dropped %+v", first, dropped)
			}
			w.learn("What is a fjord?")
			mu.Lock()
			defer mu.Unlock()
			if len(fixed) < 2 || fixed[0] != fixed[1] || strings.Contains(fixed[0], "Care for ports") {
				t.Errorf("%d calls, or the fixed part isn't the same in each", len(fixed))
			}
			for _, d := range data {
				if !strings.HasPrefix(d, "What the operator cares about:\nCare for ports and nothing else.\n") {
					t.Errorf("the data begins with %.80q", d)
				}
			}
			if got := string(w.admin(http.MethodGet, "/api/v1/reflections?state=done", "")); !strings.Contains(got, `"`+strategy+`-2"`) {
				t.Errorf("the job's record doesn't name the strategy: %s", got)
			}
		})
	}
}
