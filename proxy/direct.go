package proxy

import (
	"context"
	"io"
	"net"
)

// direct is a connection to the upstream that takes a body which lies in memory
// in one write. net/http would copy it through a buffer of 32 KiB, made anew for
// each request.
type direct struct{ net.Conn }

var _ io.ReaderFrom = direct{}

// ReadFrom is what net/http sends a body by. What of it is limited to its
// declared length and can write itself is one of [outgoing.carry]'s, which are
// exactly so long.
func (d direct) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if w, ok := l.R.(io.WriterTo); ok {
			n, err := w.WriteTo(d.Conn)
			l.N -= n
			return n, err
		}
	}
	if to, ok := d.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{d.Conn}, r)
}

// directly wraps what dial connects.
func directly(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return direct{c}, nil
	}
}
