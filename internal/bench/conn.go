package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// conn is one kept-alive connection to a target.
type conn struct {
	net  net.Conn
	in   *bufio.Reader
	head []byte // of every request, but for its length
	out  []byte
	body bytes.Buffer
}

func dial(ctx context.Context, t Target, header http.Header) (*conn, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, fmt.Errorf("parse the target's URL: %w", err)
	}
	var d net.Dialer
	n, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", u.RequestURI(), u.Host)
	_ = t.Header.Write(&head) // a buffer
	_ = header.Write(&head)
	return &conn{net: n, in: bufio.NewReaderSize(n, 64<<10), head: head.Bytes()}, nil
}

// send writes one request and reads its answer's head.
func (c *conn) send(body []byte) (*http.Response, error) {
	c.out = append(append(c.out[:0], c.head...), fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))...)
	c.out = append(c.out, body...)
	if _, err := c.net.Write(c.out); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}

// reply is an answer. Its body is overwritten by the next.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask is one whole exchange.
func (c *conn) ask(body []byte) (reply, error) {
	resp, err := c.send(body)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or broken
	c.body.Reset()
	_, err = io.Copy(&c.body, resp.Body)
	return reply{resp.StatusCode, resp.Header, c.body.Bytes()}, err
}

func (c *conn) close() { _ = c.net.Close() } // nothing is under way
