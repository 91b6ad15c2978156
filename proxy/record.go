package proxy

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
	"hindsight/store"
)

// tailBytes is how much of a stream's end is looked at for its end mark.
const tailBytes = 2 << 10

// record is the copy of a memory route's answer, and the turn's end. It belongs
// to the goroutine that serves the exchange until over hands it on.
type record struct {
	x      *exchange
	code   int             // HTTP status, 0 without an answer
	coding string          // of the answer's bytes
	stream bool            // an event stream
	keep   bool            // the answer may be wanted
	begun  bool            // the tracker knows of the answer
	first  *store.Exchange // the exchange so far, until the journal has it

	buf    []byte
	expect int  // bytes, by the answer's headers; -1 unknown
	shared bool // buf is the client's answer too
	cut    bool // more came than is kept
	done   bool
}

// record begins to record an answer whose headers have come.
func (x *exchange) record(resp *http.Response, stream bool) *record {
	r := &x.recording
	*r = record{x: x, code: resp.StatusCode, coding: encoding(resp.Header), stream: stream}
	t := x.walk.turn.Load()
	if r.good() && t != nil {
		r.begin(t)
	}
	r.keep = r.good() && (t == nil || !unwanted(t))
	r.expect = int(min(resp.ContentLength, believed))
	return r
}

// unwanted says that memory wants nothing of a turn's answer.
func unwanted(t *session.Turn) bool { return t.Off != "" || t.Mode == session.Off }

// unrecorded ends the turn of an exchange that had no answer of an upstream, or
// whose answer isn't read on.
func (x *exchange) unrecorded(end store.ExchangeStatus) {
	if x.walk == nil {
		return
	}
	x.recording.x = x
	x.recording.over(end)
}

func (r *record) good() bool { return r.code/100 == 2 }

// begin tells the tracker that an answer has begun.
func (r *record) begin(t *session.Turn) {
	r.begun = true
	r.x.s.safely("begin", func() { r.first = r.x.s.mem.Tracker.Begin(t, r.x.walk.used) })
}

// lasts tells the journal of an answer that doesn't come whole with its headers:
// what was asked outlives us then. The others' end is all that it needs.
func (r *record) lasts() {
	if r == nil || r.first == nil || r.x.s.mem.Recorder == nil {
		return
	}
	r.x.s.safely("begin", func() { r.x.s.mem.Recorder.Begin(r.first) })
	r.first = nil
}

func (r *record) add(p []byte) {
	if !r.keep || r.done || r.cut {
		return
	}
	if len(r.buf)+len(p) > r.x.s.cfg.MaxAnswer {
		p, r.cut = p[:r.x.s.cfg.MaxAnswer-len(r.buf)], true
	}
	if more := len(r.buf) + len(p) - cap(r.buf); more > 0 && !r.grow(more) {
		r.cut = true
		return
	}
	r.buf = append(r.buf, p...)
}

// share takes an answer that has come whole and that nobody changes any more:
// then the copy needs no buffer of its own.
func (r *record) share(p []byte) {
	if !r.keep || r.done || r.cut || len(r.buf) > 0 || len(p) > r.x.s.cfg.MaxAnswer {
		r.add(p)
		return
	}
	if !r.x.hold(int64(len(p))) {
		r.x.s.metrics.failOpen("limit")
		r.cut = true
		return
	}
	r.buf, r.shared = p, true
}

// copies are buffers of answers' copies for the next ones: of a stream nobody
// knows the length, and one that has to grow a few times costs as much as its
// reading.
var copies = sync.Pool{New: func() any { return new([copied]byte) }}

// copied is the size of such a buffer, in bytes: most streams' answers fit.
const copied = 32 << 10

// grow makes room for more bytes, at least, if there is some.
func (r *record) grow(more int) bool {
	size := min(max(cap(r.buf)+more, 2*cap(r.buf), r.expect, 1<<10), r.x.s.cfg.MaxAnswer)
	pooled := cap(r.buf) == 0 && r.expect < 0 && size <= copied && copied <= r.x.s.cfg.MaxAnswer
	if pooled {
		size = copied
	}
	if !r.x.hold(int64(size - cap(r.buf))) {
		r.x.s.metrics.failOpen("limit")
		return false
	}
	old := r.buf
	if pooled {
		r.buf = copies.Get().(*[copied]byte)[:0]
	} else {
		r.buf = append(make([]byte, 0, size), old...)
	}
	r.recycle(old)
	return true
}

// recycle gives a buffer back from which nothing is read any more.
func (r *record) recycle(buf []byte) {
	if cap(buf) == copied && !r.shared {
		copies.Put((*[copied]byte)(buf[:copied]))
	}
}

// marked says whether the stream so far ends with its format's own end mark.
func (r *record) marked() bool {
	if !r.keep || r.done || r.cut || !r.stream || r.coding != "" {
		return false
	}
	return r.x.route.Dialect.Ended(r.tail())
}

// tail is the end of the stream so far. Where an event has just ended it goes
// back to its beginning: some formats end with one that says everything again.
func (r *record) tail() []byte {
	from := max(0, len(r.buf)-tailBytes)
	if from == 0 || r.buf[len(r.buf)-1] != '\n' {
		return r.buf[from:]
	}
	said := bytes.TrimRight(r.buf, "\r\n")
	return r.buf[max(0, min(from, bytes.LastIndexByte(said, '\n')-tailBytes)):]
}

// over ends the turn, once. It returns at once and is called before the client
// can have the answer's last byte: the tracker knows by then that the answer has
// ended, and lets the client's next request wait for what it says. A short whole
// answer is read by the connection's own goroutine, when it has been sent.
func (r *record) over(end store.ExchangeStatus) {
	if r.done {
		return
	}
	r.done = true
	s, w := r.x.s, r.x.walk
	if !r.good() && end != store.Aborted {
		end = store.Errored
	}
	at := time.Now()
	t := w.turn.Load()
	if t != nil {
		s.safely("ended", func() { s.mem.Tracker.Ended(t) })
		if unwanted(t) { // nothing waits, nothing is read
			r.finish(t, dialect.Answer{}, session.End{Status: end, HTTP: r.code, At: at})
			r.x.drop()
			return
		}
	}
	settle := func() {
		defer r.x.drop()
		<-w.done // a late turn is recorded too
		t := w.turn.Load()
		if t == nil {
			return
		}
		if r.good() && !r.begun {
			r.begin(t)
		}
		a := r.read()
		if end == store.Complete && (!a.Whole || r.cut) {
			end = store.Truncated // an end of the transfer, but not of the answer
		}
		s.metrics.usage(a.Usage)
		r.finish(t, a, session.End{Status: end, HTTP: r.code, At: at})
		r.recycle(r.buf)
		r.buf = nil
	}
	if soon := end == store.Complete && !r.stream && len(r.buf) <= copied && w.ended(); soon {
		s.work.after(r.x.conn, settle)
	} else {
		s.work.do(settle) // what takes longer, or may end long before the connection is read again
	}
}

// read makes sense of the copy.
func (r *record) read() (a dialect.Answer) {
	r.x.s.safely("answer", func() {
		if r.keep && len(r.buf) > 0 {
			a = r.x.route.Dialect.ReadAnswer(decodeAnswer(r.coding, r.buf, r.x.s.cfg.MaxAnswer), r.stream)
		}
	})
	return a
}

func (r *record) finish(t *session.Turn, a dialect.Answer, end session.End) {
	s := r.x.s
	s.safely("finish", func() {
		if ex := s.mem.Tracker.Finish(t, a, end); ex != nil && s.mem.Recorder != nil {
			s.mem.Recorder.Finish(ex)
		}
		s.mem.Tracker.Recorded(t)
	})
}

// safely runs memory code whose panic must not reach the request.
func (s *Server) safely(where string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			s.caught(where, r)
		}
	}()
	f()
}

// decodeAnswer undoes the coding of a copy as far as it goes: a cut stream
// gives its beginning.
func decodeAnswer(coding string, raw []byte, limit int) []byte {
	var r io.Reader
	var err error
	src := bytes.NewReader(raw)
	switch coding {
	case "":
		return raw
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(src)
	case "br":
		r = brotli.NewReader(src)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1)); err == nil {
			defer z.Close()
			r = z
		}
	case "deflate":
		r, err = zlib.NewReader(src)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, io.LimitReader(r, int64(limit))) // a cut answer gives its beginning
	return out.Bytes()
}
