package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/valyala/fasthttp"
)

// fault is an error of ours at the HTTP edge. Its message is for the client: it
// holds no key, no header and nothing of a body.
type fault struct {
	status  int
	code    string
	message string
}

// answerFault answers in the shape of the route's dialect, else in that of the
// route that the path lies below (…/messages/count_tokens), else in OpenAI's.
func (x *exchange) answerFault(c *fasthttp.RequestCtx, f fault) {
	var body []byte
	if d := x.s.family(x); d != nil {
		body = d.Error(f.status, f.code, f.message)
	} else {
		body = openAIError(f)
	}
	c.SetStatusCode(f.status)
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(body)
	x.ownHeaders(c, f.status, "")
	if !x.whole() {
		// The client may still be sending, and reads the answer all the same.
		c.SetConnectionClose()
		x.linger()
	}
}

func openAIError(f fault) []byte {
	kind := "invalid_request_error"
	if f.status >= 500 {
		kind = "server_error"
	}
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	body, err := json.Marshal(struct {
		Error inner `json:"error"`
	}{inner{f.message, kind, nil, f.code}})
	if err != nil {
		return []byte(`{"error":{}}`)
	}
	return body
}

// unreachable says why there is no answer and what to check.
func unreachable(err error, u *upstream) fault {
	var (
		dns     *net.DNSError
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		timeout net.Error
	)
	why := "the connection broke before an answer; check that the upstream is healthy"
	switch {
	case errors.As(err, &dns):
		why = "its name can't be resolved; check the host in LLM_API_BASE and the DNS"
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "it refused the connection; check that it runs and the port in LLM_API_BASE"
	case errors.As(err, &host), errors.As(err, &unknown):
		why = "its TLS certificate isn't trusted; check the host in LLM_API_BASE and the system's certificates"
	case errors.As(err, &record):
		why = "it doesn't speak TLS; check whether LLM_API_BASE should begin with http://"
	case errors.As(err, &timeout) && timeout.Timeout():
		why = "it didn't answer in time; check the network, proxies (HTTPS_PROXY) and that it runs"
	case errors.Is(err, errReplayed):
		why = "it closed two connections in a row without an answer; check that it is healthy"
	}
	f := fault{status: http.StatusBadGateway, code: "upstream_unreachable"}
	if errors.As(err, &timeout) && timeout.Timeout() && isFirstByte(err) {
		f.status, f.code = http.StatusGatewayTimeout, "upstream_timeout"
	}
	f.message = fmt.Sprintf("Hindsight can't reach the upstream %s: %s.", u.host, why)
	return f
}

// isFirstByte says whether net/http's own limit for the answer's headers ended
// the request; its error has no name.
func isFirstByte(err error) bool {
	return err.Error() == "net/http: timeout awaiting response headers"
}

// refusedRequest answers what fasthttp couldn't read.
func refusedRequest(c *fasthttp.RequestCtx, err error) {
	f := fault{http.StatusBadRequest, "invalid_request", "The request can't be read as HTTP."}
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		f = fault{http.StatusRequestHeaderFieldsTooLarge, "headers_too_large", "The request's headers are larger than 64 KiB."}
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, fasthttp.ErrTimeout):
		f = fault{http.StatusRequestTimeout, "request_timeout", "The request's headers didn't arrive in time."}
	}
	c.SetStatusCode(f.status)
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(openAIError(f))
}
