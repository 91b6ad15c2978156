package proxy

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// replayable is how much of a streamed request body is kept, so that it can be
// sent again when a kept upstream connection turns out to be closed.
const replayable = 64 << 10

var errUploadOver = errors.New("the request's body is no longer read")

// upload is a request body that streams from the client to the upstream. Each
// open gives a reader from its start, for as long as the start is kept.
type upload struct {
	x   *exchange
	src io.Reader
	all atomic.Bool // the body has been read to its end

	mu   sync.Mutex
	left int64 // bytes to come, -1 unknown
	kept []byte
	over bool // more has been read than is kept
	err  error
}

// newUpload is the body whose first bytes, read, have come already.
func newUpload(x *exchange, src io.Reader, read []byte) *upload {
	u := &upload{x: x, src: src, left: x.length, kept: read}
	if x.length >= 0 {
		u.left -= int64(len(read))
	}
	return u
}

// open is a reader from the body's first byte.
func (u *upload) open() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return nil, errUploadOver
	}
	return &uploadReader{u: u}, nil
}

// uploadReader reads an upload for one try.
type uploadReader struct {
	u  *upload
	at int // in kept
}

func (r *uploadReader) Read(p []byte) (int, error) {
	u := r.u
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.at < len(u.kept) {
		n := copy(p, u.kept[r.at:])
		r.at += n
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.src.Read(p)
	if u.left >= 0 {
		u.left -= int64(n)
	}
	if !u.over && len(u.kept)+n <= replayable {
		u.kept = append(u.kept, p[:n]...)
		r.at += n
	} else {
		u.over, u.kept = true, nil
	}
	if err == io.EOF && u.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && u.left == 0 {
		err = io.EOF
	}
	u.err = err
	switch err {
	case nil:
	case io.EOF:
		u.all.Store(true)
		u.x.watch()
	default:
		u.x.left()
	}
	return n, err
}

// Close ends one try, not the upload.
func (r *uploadReader) Close() error { return nil }

// broken says whether the client's side of the upload has failed. It doesn't wait
// for a read that still waits for the client.
func (u *upload) broken() bool {
	if u == nil || !u.mu.TryLock() {
		return false
	}
	defer u.mu.Unlock()
	return u.err != nil && !errors.Is(u.err, io.EOF) && !errors.Is(u.err, errUploadOver)
}

// stop makes sure that nobody reads the client's connection any more. A read
// that waits for the client is ended, after which the connection can only be
// closed.
func (u *upload) stop() {
	if u == nil {
		return
	}
	if !u.mu.TryLock() {
		u.x.conn.SetReadDeadline(time.Unix(1, 0))
		u.mu.Lock()
		u.x.conn.SetReadDeadline(time.Time{})
	}
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = errUploadOver
	}
}
