package proxy

import (
	"bytes"
	"io"
)

// payload is a request body in pieces that are sent as one: the client's bytes,
// which are held once for all uses, and the blocks between them.
type payload [][]byte

// together is the size up to which pieces are joined: they leave in one write
// with the headers then, which is worth the copy.
const together = 8 << 10

// carry makes p the body.
func (o *outgoing) carry(p payload) {
	o.length = 0
	for _, piece := range p {
		o.length += int64(len(piece))
	}
	switch {
	case o.length == 0:
		return
	case len(p) > 1 && o.length <= together:
		p = payload{bytes.Join(p, nil)}
	}
	o.pieces = p
}

// open is a reader from the body's first byte.
func (p payload) open() (io.ReadCloser, error) {
	if len(p) == 1 {
		// net/http knows this form as one that is at hand, and sends it with
		// the headers in one write.
		return io.NopCloser(bytes.NewReader(p[0])), nil
	}
	readers := make([]io.Reader, len(p))
	for i, piece := range p {
		readers[i] = bytes.NewReader(piece)
	}
	return io.NopCloser(io.MultiReader(readers...)), nil
}
