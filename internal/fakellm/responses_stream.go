package fakellm

import "net/http"

// streamResponses streams a response: an event for each step of each item.
func (s *Server) streamResponses(w http.ResponseWriter, r *http.Request, v map[string]any, output []map[string]any, u usage) {
	e := s.events(w, r)
	n := 0
	send := func(name string, more map[string]any) {
		name = "response." + name
		more["type"], more["sequence_number"] = name, n
		n++
		e.send(name, more)
	}
	send("created", map[string]any{"response": v})
	send("in_progress", map[string]any{"response": v})
	for i, it := range output {
		at := func(more map[string]any) map[string]any {
			more["item_id"], more["output_index"] = it["id"], i
			return more
		}
		begin := map[string]any{}
		for name, e := range it {
			begin[name] = e
		}
		// What comes by deltas is empty at first.
		switch it["type"] {
		case "reasoning":
			begin["summary"] = []any{}
			delete(begin, "encrypted_content")
		case "message":
			begin["content"], begin["status"] = []any{}, "in_progress"
		default:
			begin["arguments"], begin["status"] = "", "in_progress"
		}
		send("output_item.added", map[string]any{"output_index": i, "item": begin})
		switch it["type"] {
		case "reasoning":
			part := it["summary"].([]any)[0].(map[string]any)
			send("reasoning_summary_part.added", at(map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""}}))
			for _, p := range pieces(part["text"].(string)) {
				send("reasoning_summary_text.delta", at(map[string]any{"summary_index": 0, "delta": p}))
			}
			send("reasoning_summary_text.done", at(map[string]any{"summary_index": 0, "text": part["text"]}))
			send("reasoning_summary_part.done", at(map[string]any{"summary_index": 0, "part": part}))
		case "message":
			part := it["content"].([]any)[0].(map[string]any)
			send("content_part.added", at(map[string]any{"content_index": 0, "part": outputText("")}))
			for _, p := range pieces(part["text"].(string)) {
				send("output_text.delta", at(map[string]any{"content_index": 0, "delta": p, "logprobs": []any{}}))
			}
			send("output_text.done", at(map[string]any{"content_index": 0, "text": part["text"], "logprobs": []any{}}))
			send("content_part.done", at(map[string]any{"content_index": 0, "part": part}))
		default:
			for _, p := range pieces(it["arguments"].(string)) {
				send("function_call_arguments.delta", at(map[string]any{"delta": p}))
			}
			send("function_call_arguments.done", at(map[string]any{"name": it["name"], "arguments": it["arguments"]}))
		}
		send("output_item.done", map[string]any{"output_index": i, "item": it})
	}
	send("completed", map[string]any{"response": finished(v, output, u)})
}
