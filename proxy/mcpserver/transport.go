package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a client in bytes.
const maxMessage = 4 << 20

// frames carries whole messages. send may be called concurrently with itself and
// with next; close ends a next that waits.
type frames interface {
	next(ctx context.Context) ([]byte, error)
	send(ctx context.Context, message []byte) error
	close() error
}

// transport makes a session of frames. What isn't a message is answered and
// passed over: one bad line doesn't end a session.
type transport struct{ frames frames }

var _ mcp.Transport = transport{}

// Connect implements [mcp.Transport].
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return &conn{frames: t.frames}, nil
}

type conn struct {
	frames frames
	once   sync.Once
	err    error
}

// Read implements [mcp.Connection].
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		raw, err := c.frames.next(ctx)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(raw)
		if err == nil {
			return msg, nil
		}
		code, wrong := jsonrpc.CodeInvalidRequest, "this isn't a JSON-RPC request: "+err.Error()
		if !json.Valid(raw) {
			code, wrong = jsonrpc.CodeParseError, "this isn't JSON: send one message, in UTF-8"
		}
		no, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": wrong}})
		if err := c.frames.send(ctx, no); err != nil {
			return nil, err
		}
	}
}

// Write implements [mcp.Connection].
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return c.frames.send(ctx, raw)
}

// Close implements [mcp.Connection].
func (c *conn) Close() error {
	c.once.Do(func() { c.err = c.frames.close() })
	return c.err
}

// SessionID implements [mcp.Connection]: the connection is the session.
func (*conn) SessionID() string { return "" }

// lines are messages that stand in a line each.
type lines struct {
	in    <-chan line
	done  chan struct{}
	write sync.Mutex
	out   io.Writer
}

type line struct {
	text []byte
	err  error
}

// newLines reads in a goroutine that ends with the input, or, while that is
// silent, with the process: a read of standard input can't be ended.
func newLines(in io.Reader, out io.Writer) *lines {
	got, done := make(chan line), make(chan struct{})
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			text, err := readLine(r)
			if errors.Is(err, errLongLine) {
				text, err = []byte("["), nil // answered as what isn't JSON
			}
			if len(text) > 0 {
				select {
				case got <- line{text: text}:
				case <-done:
					return
				}
			}
			if err != nil {
				select {
				case got <- line{err: err}:
				case <-done:
				}
				return
			}
		}
	}()
	return &lines{in: got, done: done, out: out}
}

var errLongLine = errors.New("a line is longer than a message may be")

// readLine reads a line; one that is too long is read to its end and dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var all []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(all)+len(part) > maxMessage; !long {
			all = append(all, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			return nil, errLongLine
		}
		return all, err
	}
}

func (l *lines) next(ctx context.Context) ([]byte, error) {
	select {
	case got := <-l.in:
		return got.text, got.err
	case <-l.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lines) send(_ context.Context, message []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	_, err := l.out.Write(append(message, '\n'))
	return err
}

func (l *lines) close() error {
	close(l.done)
	return nil
}

// socket are the messages of a WebSocket.
type socket struct{ *websocket.Conn }

func (s socket) next(ctx context.Context) ([]byte, error) {
	_, raw, err := s.Read(ctx)
	if websocket.CloseStatus(err) == websocket.StatusNormalClosure || websocket.CloseStatus(err) == websocket.StatusGoingAway {
		return nil, io.EOF
	}
	return raw, err
}

func (s socket) send(ctx context.Context, message []byte) error {
	return s.Write(ctx, websocket.MessageText, message)
}

func (s socket) close() error { return s.Close(websocket.StatusNormalClosure, "") }
