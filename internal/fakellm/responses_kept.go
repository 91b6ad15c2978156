package fakellm

import (
	"encoding/json"
	"fmt"
	"sync"
)

// maxKept is how many responses are kept; the oldest go first.
const maxKept = 10_000

// keptResponses are the responses that a client can come back to. It is the
// one thing that the server knows beside a request's text.
type keptResponses struct {
	mu    sync.Mutex
	byID  map[string]keptResponse
	items map[string]json.RawMessage // by item id
	order []string
}

type keptResponse struct {
	response map[string]any
	input    []json.RawMessage // all that the model saw, earlier responses included
	output   []json.RawMessage
}

func (k *keptResponses) get(id string) (keptResponse, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.byID[id]
	return r, ok
}

func (k *keptResponses) remove(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

// history is what the model saw and said up to a response, a new slice.
func (k *keptResponses) history(id string) ([]json.RawMessage, error) {
	if id == "" {
		return nil, nil
	}
	r, ok := k.get(id)
	if !ok {
		return nil, &failure{"previous_response_not_found", fmt.Sprintf("previous response with id '%s' not found", id)}
	}
	return append(append([]json.RawMessage{}, r.input...), r.output...), nil
}

// input is a request's items; a reference is replaced by the kept item.
func (k *keptResponses) input(input json.RawMessage) ([]json.RawMessage, error) {
	var text string
	if len(input) == 0 {
		return nil, nil
	}
	if json.Unmarshal(input, &text) == nil {
		b, _ := json.Marshal(map[string]any{"type": "message", "role": "user", "content": text}) // strings alone
		return []json.RawMessage{b}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(input, &items); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, raw := range items {
		var it struct {
			Type string `json:"type"`
			ID   string `json:"id"`
		}
		if json.Unmarshal(raw, &it) != nil || it.Type != "item_reference" {
			continue
		}
		kept, ok := k.items[it.ID]
		if !ok {
			return nil, &failure{"item_not_found", fmt.Sprintf("item with id '%s' not found", it.ID)}
		}
		items[i] = kept
	}
	return items, nil
}

// add keeps a response. Instructions aren't part of what the next one sees.
func (k *keptResponses) add(req request, in responsesRequest, output []map[string]any, response map[string]any) {
	r := keptResponse{response: response, input: req.raw}
	if in.Instructions != nil {
		r.input = req.raw[1:]
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, it := range output {
		b, _ := json.Marshal(it) // strings alone
		r.output = append(r.output, b)
		k.items[it["id"].(string)] = b
	}
	id := req.id("resp_")
	k.byID[id] = r
	k.order = append(k.order, id)
	if len(k.order) > maxKept {
		delete(k.byID, k.order[0])
		k.order = k.order[1:]
	}
}
