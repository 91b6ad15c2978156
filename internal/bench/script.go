package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Script makes the requests of one connection: the body of the n-th request,
// after the answer to the one before. A body is used before the next is made.
type Script func(n int, answer []byte) []byte

// Things and Places are what the memories and the questions of a run are about.
var (
	Things = [...]string{"billing", "search", "login", "report", "mail", "upload", "invoice", "gateway", "queue", "export", "metrics", "backup"}
	Places = [...]string{"staging", "production", "Oslo", "Berlin", "the lab", "the test cluster", "Shanghai", "the old data centre"}
)

// question asks for what a memory may hold.
func question(n int) string {
	return fmt.Sprintf("Request %d: which port does the %s service use in %s?", n, Things[n%len(Things)], Places[n/7%len(Places)])
}

// Small asks one question a request, each in a conversation of its own.
func Small() Script {
	return func(n int, _ []byte) []byte {
		return fmt.Appendf(nil, `{"model":"bench-1","messages":[{"role":"user","content":"%s"}]}`, question(n))
	}
}

// Streaming is Small with an answer that streams.
func Streaming() Script {
	return func(n int, _ []byte) []byte {
		return fmt.Appendf(nil, `{"model":"bench-1","stream":true,"messages":[{"role":"user","content":"%s"}]}`, question(n))
	}
}

// Histories are conversations that go on: each begins with a history of about
// size bytes in so many messages and is continued for a few turns, every
// request with all that was said before; then comes another.
func Histories(size, messages int) func() Script {
	const turns = 8
	prose := prose(4 * size)
	return func() Script {
		var body []byte
		turn := 0
		return func(n int, answer []byte) []byte {
			if turn == 0 {
				body = fmt.Appendf(body[:0], `{"model":"bench-1","temperature":0.2,"messages":[{"role":"system","content":"You help with conversation %d.\n"}`, n)
				each := size/messages - 40
				at := n * 7919 % (len(prose) - size)
				for i := range messages - 2 {
					role := [...]string{"user", "assistant"}[i%2]
					body = fmt.Appendf(body, `,{"role":"%s","content":"%d/%d: %s"}`, role, n, i, cut(prose, at+i*each, each))
				}
			} else {
				body = fmt.Appendf(body[:len(body)-2], `,{"role":"assistant","content":"%s"}`, said(answer))
			}
			turn = (turn + 1) % turns
			body = fmt.Appendf(body, `,{"role":"user","content":"%s"}]}`, question(n))
			return body
		}
	}
}

// said is the content of the upstream's answer, as it stands in its JSON.
func said(answer []byte) []byte {
	_, rest, _ := bytes.Cut(answer, []byte(`"content":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return text
}

// prose is text as it stands in a JSON string, escapes here and there.
func prose(size int) string {
	words := strings.Fields("the build of a service that runs on two nodes was slow again so we looked at its log and found one query without an index " +
		"then wrote a small patch for it with a test which passes now while another question about memory limits stays open until somebody from the team has time")
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(words[r.IntN(len(words))])
		switch {
		case i%90 == 89:
			b.WriteString(`.\n\n`)
		case i%40 == 39:
			b.WriteString(` \"quoted\" `)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// cut takes about n bytes of prose and breaks no escape.
func cut(prose string, from, n int) string {
	from += strings.IndexByte(prose[from:], ' ') + 1
	piece := prose[from : from+n]
	return piece[:strings.LastIndexByte(piece, ' ')]
}
