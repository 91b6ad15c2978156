package proxy

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"hindsight/store"
)

// newApp makes the Fiber application: one handler, in which Fiber ends.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage:        true,
		DisableDefaultDate:           true,
		DisableDefaultContentType:    true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		// Only what is read before the handler runs counts here, and a slow body
		// must not: we have a limit of our own.
		BodyLimit:      1,
		ReadBufferSize: 72 << 10, // headers of 64 KiB and their request line
		// What is moved at a time and its framing: one write.
		WriteBufferSize: moved + 64,
		ReadTimeout:     s.cfg.HeaderTimeout,
		IdleTimeout:     s.cfg.IdleTimeout,
		RequestMethods:  append(fiber.DefaultMethods[:len(fiber.DefaultMethods):len(fiber.DefaultMethods)], "QUERY", "SEARCH", "PROPFIND", "REPORT"),
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			refusedRequest(c.Context(), err)
			return nil
		},
	})
	app.Use(func(c *fiber.Ctx) error {
		s.handle(c.Context())
		return nil
	})
	server := app.Server()
	server.ErrorHandler = refusedRequest
	server.CloseOnShutdown = true
	server.LazyRequestTime = true
	// The header limit must not end a slow body: from the headers on there is none.
	server.HeaderReceived = func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
		return fasthttp.RequestConfig{ReadTimeout: 365 * 24 * time.Hour}
	}
	return app
}

// handle answers one request, from its headers to its answer's headers.
func (s *Server) handle(c *fasthttp.RequestCtx) {
	received := time.Now()
	uri := string(c.Request.Header.RequestURI())
	if uri == "" || uri[0] != '/' {
		uri = originForm(uri)
	}
	if s.ownPath(c, uri) {
		return
	}
	x := s.newExchange(c, uri, received)
	defer x.crashed(c)
	if x.method == http.MethodConnect || uri == "" {
		x.answerFault(c, fault{http.StatusBadRequest, "invalid_request", "This is a reverse proxy: send a path, not a host to connect to."})
		x.over(c)
		return
	}
	if up := x.header["Upgrade"]; len(up) > 0 && hasToken(x.header["Connection"], "upgrade") {
		s.upgrade(c, x)
		return
	}
	body := c.RequestBodyStream()
	if x.route != nil {
		s.forwardRead(c, x, body)
		return
	}
	s.forwardStream(c, x, body, nil)
}

// crashed turns a panic of ours into an answer; fasthttp would end the process.
func (x *exchange) crashed(c *fasthttp.RequestCtx) {
	r := recover()
	if r == nil {
		return
	}
	x.s.log.Error("the proxy panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
	c.Response.Reset()
	x.unread = !x.whole()
	x.answerFault(c, fault{http.StatusInternalServerError, "internal", "Hindsight could not forward this request."})
	x.unrecorded(store.Errored)
	x.over(c)
}

// originForm takes the path out of an absolute request target.
func originForm(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			return "/" + strings.TrimPrefix(rest[i:], "/")
		}
		return "/"
	}
	if uri == "*" {
		return "/"
	}
	return ""
}
