package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Upstream answers each replayed request with what the client's own history
// says the model answered, so that the next captured request fits. It is the
// upstream of the proxy under test.
type Upstream struct {
	mu     sync.Mutex
	format format
	answer json.RawMessage
	n      int
}

// script sets the answer to the next request, which is request i of c.
func (u *Upstream) script(f format, c Conversation, i int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
	u.format, u.answer = f, f.answer(c, i, fmt.Sprintf("Answer %d of the replay.", u.n))
}

// ServeHTTP answers with the scripted message, as JSON or as a stream.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var req struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(raw, &req) // a GET has no body
	u.mu.Lock()
	f, answer, n := u.format, u.answer, u.n
	u.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	f.write(w, answer, n, req.Stream)
}
