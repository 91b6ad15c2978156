package proxy

import (
	"bufio"
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hindsight/store"
)

// heads pools what startHead needs.
var heads = sync.Pool{New: func() any {
	src := bytes.NewReader(nil)
	return &headReader{src: src, br: bufio.NewReaderSize(src, 512)}
}}

type headReader struct {
	buf []byte
	src *bytes.Reader
	br  *bufio.Reader
}

// startHead begins an answer's head with the upstream's status line and Date.
// fasthttp sets no Date that it is given, but keeps one that it has parsed.
func startHead(h *fasthttp.ResponseHeader, resp *http.Response) {
	date := resp.Header.Get("Date")
	_, phrase, _ := strings.Cut(resp.Status, " ")
	usual := phrase == http.StatusText(resp.StatusCode)
	if date == "" && usual || len(date) > 64 || len(phrase) > 128 || resp.StatusCode < 200 {
		h.SetStatusCode(resp.StatusCode)
		return
	}
	r := heads.Get().(*headReader)
	defer heads.Put(r)
	b := append(r.buf[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(resp.StatusCode), 10)
	b = append(b, ' ')
	b = append(b, phrase...)
	b = append(b, "\r\nContent-Length: 0\r\n"...)
	if date != "" {
		b = append(b, "Date: "...)
		b = append(b, date...)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	r.buf = b
	r.src.Reset(b)
	r.br.Reset(r.src)
	if h.Read(r.br) != nil {
		h.SetStatusCode(resp.StatusCode)
	}
	if resp.StatusCode == http.StatusNotModified {
		h.Del("Content-Length") // it would be sent, and speak of the stored answer
	}
}

// The names of our answer headers.
var (
	headerSession  = own + "Session"
	headerStatus   = own + "Status"
	headerMemories = own + "Memories"
	headerExchange = own + "Exchange"
)

// ownHeaders says what memory did. memories goes with a 2xx only.
func (x *exchange) ownHeaders(c *fasthttp.RequestCtx, code int, memories string) {
	if x.route == nil {
		return
	}
	h := &c.Response.Header
	h.Set(headerStatus, x.status.String())
	if x.walk == nil {
		return
	}
	if t := x.walk.turn.Load(); t != nil {
		if t.Session != "" {
			h.Set(headerSession, t.Session)
		}
		if t.Exchange != "" {
			h.Set(headerExchange, t.Exchange)
		}
	}
	if memories != "" && code/100 == 2 {
		h.Set(headerMemories, memories)
	}
}

// newMemories are the ids of what is new in this turn, joined.
func (x *exchange) newMemories() string {
	if x.walk == nil {
		return ""
	}
	return joinIDs(x.walk.used.New)
}

func joinIDs(refs []store.Ref) string {
	ids := make([]string, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	return strings.Join(ids, ",")
}
