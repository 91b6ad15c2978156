package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

// A client may leave once it has read the event that says the whole response
// again, however long that is; the upstream needn't have closed.
func TestResponseEndsWithItsLastEvent(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t)
	long := strings.Repeat("long ", 4000)
	w.answer = func(rw http.ResponseWriter, r *http.Request, _ []byte) bool {
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(rw, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":%q}\n\n", long)
		fmt.Fprintf(rw, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":%q}]}]}}\n\n", long)
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	req, err := http.NewRequest(http.MethodPost, w.st.proxyURL()+"/v1/responses", strings.NewReader(`{"stream":true,"input":"Hello."}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewReader(resp.Body); ; {
		line, err := s.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, `data: {"type":"response.completed"`) {
			if _, err := s.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	resp.Body.Close()
	if x := w.session(resp.Header.Get("Hindsight-Session")).Exchanges; len(x) != 1 || x[0].Status != store.Complete {
		t.Errorf("exchanges %+v", x)
	}
}

// An answer of two messages comes back as two; a client may leave their ids
// out.
func TestResponseOfTwoMessages(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t)
	message := func(text string) string {
		return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text)
	}
	w.answer = func(rw http.ResponseWriter, _ *http.Request, _ []byte) bool {
		fmt.Fprintf(rw, `{"id":"resp_1","status":"completed","output":[%s,%s]}`, message("Let me see."), message("It is four."))
		return true
	}
	first := w.sendResponses(`"store":false,"input":[` + string(userItem("What is two and two?")) + `]`)
	for _, back := range []string{message("Let me see.") + "," + message("It is four."), message("It is four.")} {
		r := w.sendResponses(`"store":false,"input":[` + string(userItem("What is two and two?")) + "," + back + "," + string(userItem("Sure?")) + `]`)
		if r.session() != first.session() {
			t.Errorf("%s: session %s after %s", back, r.session(), first.session())
		}
	}
}

// Instructions count for one request alone where the provider keeps the
// conversation. An answer that was gone on from is no side call's, under
// whichever instructions it was given.
func TestInstructionsOfOneResponse(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]func(last string) string{
		"chain": func(last string) string {
			if last == "" {
				return `"instructions":"You are kind.",`
			}
			return fmt.Sprintf(`"previous_response_id":%q,`, last)
		},
		"conversation": func(last string) string {
			if last == "" {
				return `"instructions":"You are kind.","conversation":"conv_68a1b2c3d4",`
			}
			return `"conversation":"conv_68a1b2c3d4",`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOpenAI(t)
			r, last := response{}, ""
			for _, words := range []string{"My badge is B4411.", "How deep is the sea?", "How high is the sky?", "How far is the moon?"} {
				r = w.sendResponses(members(last) + fmt.Sprintf(`"input":%q`, words))
				last = r.ID
			}
			kept, dropped := w.close(r.session())
			if len(kept) != 1 || !strings.Contains(kept[0].Text, "B4411") {
				t.Errorf("kept %+v, dropped %+v", kept, dropped)
			}
		})
	}
}
