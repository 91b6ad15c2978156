package watch

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// pair is a watched connection and its client's end.
func pair(t *testing.T, delay time.Duration) (*Listener, *Conn, *net.TCPConn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := Listen(inner, delay)
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); c.Close(); ln.Close() })
	return ln, c.(*Conn), client.(*net.TCPConn)
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(2 * time.Second):
		t.Fatal("never: " + what)
	}
}

func TestGone(t *testing.T) {
	for _, leave := range []func(*net.TCPConn){
		func(c *net.TCPConn) { c.Close() },
		func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
	} {
		_, c, client := pair(t, time.Millisecond)
		gone := make(chan struct{})
		c.Watch(func() { close(gone) })
		leave(client)
		within(t, "gone", gone)
		c.Unwatch()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a read after the client has left succeeds")
		}
	}
}

// A byte that comes while watching is read afterwards, once and in order.
func TestKeepsBytes(t *testing.T) {
	_, c, client := pair(t, 0)
	for round := range 200 {
		c.Watch(func() { t.Error("gone") })
		want := []byte{byte(round), 'a', 'b'}
		if round%2 == 0 {
			client.Write(want)
		}
		c.Unwatch()
		if round%2 == 1 {
			client.Write(want)
		}
		got := make([]byte, 3)
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %v %v, want %v", round, got, err, want)
		}
	}
}

// Ending the watch isn't the client's leaving, and leaves no deadline behind.
func TestUnwatch(t *testing.T) {
	_, c, client := pair(t, 0)
	c.Unwatch() // without a watch
	for range 200 {
		c.Watch(func() { t.Error("gone") })
		c.Unwatch()
	}
	client.Write([]byte("x"))
	if n, err := c.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("read %d %v", n, err)
	}
}

// Before its delay the watcher doesn't touch the connection.
func TestDelay(t *testing.T) {
	_, c, client := pair(t, time.Hour)
	c.Watch(func() {})
	client.Write([]byte("x"))
	if n, err := c.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("read %d %v", n, err)
	}
	c.Unwatch()
}

func TestLingerOnClose(t *testing.T) {
	_, c, client := pair(t, time.Hour)
	c.LingerOnClose(Linger{Bytes: 1 << 20, Time: 10 * time.Second})
	c.Write([]byte("answer"))
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	// The client sends all it has before it reads.
	if _, err := client.Write(bytes.Repeat([]byte{'x'}, 512<<10)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); string(got) != "answer" || err != nil {
		t.Errorf("client read %q %v", got, err)
	}
	client.Close()
	within(t, "closed", closed)
}

func TestReset(t *testing.T) {
	_, c, client := pair(t, time.Hour)
	c.Reset()
	c.Close()
	if _, err := client.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("client read %v, want a reset", err)
	}
}

func TestCloseConns(t *testing.T) {
	ln, c, client := pair(t, time.Hour)
	if ln.Conns() != 1 {
		t.Errorf("%d connections", ln.Conns())
	}
	empty := ln.CloseConns()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("client read %v", err)
	}
	select {
	case <-empty:
		t.Error("done before the server is")
	default:
	}
	c.Close()
	c.Close()
	within(t, "all closed", ln.CloseConns())
	if ln.Conns() != 0 {
		t.Errorf("%d connections", ln.Conns())
	}
	late, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after the hard stop: %v", err)
	}
}

func TestReadFromWritesAtOnce(t *testing.T) {
	_, c, client := pair(t, time.Hour)
	pr, pw := io.Pipe()
	read := make(chan int64)
	go func() {
		n, _ := c.ReadFrom(pr)
		read <- n
	}()
	for range 3 {
		pw.Write([]byte("abc"))
		got := make([]byte, 3)
		if _, err := io.ReadFull(client, got); err != nil || string(got) != "abc" {
			t.Fatalf("%q %v", got, err)
		}
	}
	pw.Close()
	if n := <-read; n != 9 {
		t.Errorf("ReadFrom wrote %d bytes", n)
	}
}

// What waits for the answer to be sent runs with the next read, with the close, or
// at once behind it, and never twice.
func TestAfter(t *testing.T) {
	_, c, client := pair(t, time.Hour)
	ran := 0
	later := func() { ran++ }
	c.After(later)
	if ran != 0 {
		t.Error("it runs before the answer is sent")
	}
	client.Write([]byte("ab"))
	c.Read(make([]byte, 1))
	if ran != 1 {
		t.Errorf("it has run %d times at the next read", ran)
	}
	c.After(later)
	c.After(later) // the first doesn't wait for the second
	if ran != 2 {
		t.Errorf("%d of three have run", ran)
	}
	c.Close()
	c.Close()
	if ran != 3 {
		t.Errorf("it has run %d times at the close", ran)
	}
	c.After(later)
	if ran != 4 {
		t.Errorf("it has run %d times after the close", ran)
	}
}
