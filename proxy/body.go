package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var errTooLarge = errors.New("body above the limit")

// readBody reads a request body into one buffer of its size. length is -1 where
// the client didn't say.
func readBody(r io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, errTooLarge
	}
	if length >= 0 {
		body := make([]byte, length)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	return readAll(r, limit, 16<<10)
}

// readAll reads to the end, at most limit bytes.
func readAll(r io.Reader, limit int64, first int) ([]byte, error) {
	body := make([]byte, 0, min(int64(first), limit+1))
	for {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(2*int64(cap(body)), limit+1))
			copy(grown, body)
			body = grown
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// encoding is the one content coding of a message, lower-cased, empty for none.
// Several are never worth undoing here and come back joined.
func encoding(h http.Header) string {
	e := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	if e == "identity" {
		return ""
	}
	return e
}

// decodeRequest undoes a request's content coding. ok is false where it is none
// that we undo, or the body isn't what it says.
func decodeRequest(coding string, raw []byte, limit int64) (body []byte, ok bool) {
	var r io.Reader
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, false
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return nil, false
		}
		defer z.Close()
		r = z
	default:
		return nil, false
	}
	body, err := readAll(r, limit, 4*len(raw)+512)
	return body, err == nil
}

// tooLarge is the answer to a body above the limit.
func (s *Server) tooLarge() fault {
	return fault{http.StatusRequestEntityTooLarge, "request_too_large",
		"The request's body is larger than " + strconv.FormatInt(s.cfg.MaxBody, 10) + " bytes, the limit set by HINDSIGHT_MAX_BODY."}
}
