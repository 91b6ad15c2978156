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

var (
	errTooLarge = errors.New("body above the limit")
	errNoRoom   = errors.New("no room for the body")
)

// believed is the length that a client's word is taken for: a longer body gets
// its buffer as it arrives.
const believed = 1 << 20

// readBody reads a request body into one buffer of its size. length is -1 where
// the client didn't say. With errNoRoom comes what has been read so far.
func readBody(r io.Reader, length, limit int64, hold func(int64) bool) ([]byte, error) {
	if length > limit {
		return nil, errTooLarge
	}
	if length >= 0 {
		body, err := readAll(io.LimitReader(r, length), length, min(length, believed), hold)
		if err == nil && int64(len(body)) < length {
			err = io.ErrUnexpectedEOF
		}
		return body, err
	}
	body, err := readAll(r, limit, 16<<10, hold)
	return fitted(body), err
}

// fitted is b in a buffer without much slack: a body is held as long as its
// answer takes.
func fitted(b []byte) []byte {
	if cap(b)-len(b) <= len(b)/4 {
		return b
	}
	return append(make([]byte, 0, len(b)), b...)
}

// readAll reads to the end, at most limit bytes. hold is asked for the bytes of
// the buffer; without its leave errNoRoom comes with what has been read.
func readAll(r io.Reader, limit, first int64, hold func(int64) bool) ([]byte, error) {
	if first = min(first, limit); !hold(first) {
		return nil, errNoRoom
	}
	body := make([]byte, 0, first)
	for {
		if len(body) == cap(body) {
			if int64(len(body)) == limit {
				return body, atEnd(r)
			}
			size := min(2*int64(cap(body)), limit)
			if !hold(size - int64(cap(body))) {
				return body, errNoRoom
			}
			grown := make([]byte, len(body), size)
			copy(grown, body)
			body = grown
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// atEnd is nil where r has nothing left.
func atEnd(r io.Reader) error {
	var one [1]byte
	for {
		n, err := r.Read(one[:])
		switch {
		case n > 0:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
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

var errCoding = errors.New("content coding that isn't undone")

// maxWindow is what a zstd stream of HTTP may ask a decoder to keep (RFC 9659).
const maxWindow = 8 << 20

// decodeRequest undoes a request's content coding. The error is errNoRoom, or
// says that the coding is none that we undo, or the body not what it says.
func decodeRequest(coding string, raw []byte, limit int64, hold func(int64) bool) ([]byte, error) {
	var r io.Reader
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, errCoding
	}
	body, err := readAll(r, limit, 4*int64(len(raw))+512, hold)
	return fitted(body), err
}

// tooLarge is the answer to a body above the limit.
func (s *Server) tooLarge() fault {
	return fault{http.StatusRequestEntityTooLarge, "request_too_large",
		"The request's body is larger than " + strconv.FormatInt(s.cfg.MaxBody, 10) + " bytes, the limit set by HINDSIGHT_MAX_BODY."}
}
