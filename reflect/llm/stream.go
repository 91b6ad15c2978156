package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// chunk is what is read of an answer, whole or streamed.
type chunk struct {
	Choices []struct {
		Index   int     `json:"index"`
		Delta   content `json:"delta"`
		Message content `json:"message"`
		Finish  string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error *struct {
		Code any `json:"code"`
	} `json:"error"`
}

type content struct {
	Content string `json:"content"`
}

var errFault = errors.New("the server broke the answer off with an error")

// take adds a chunk to the answer and says whether the model has finished.
func (a *Answer) take(c chunk) bool {
	done := false
	if c.Usage != nil {
		a.Input, a.Output = c.Usage.Prompt, c.Usage.Completion
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		a.Text += ch.Delta.Content + ch.Message.Content
		a.Cut = a.Cut || ch.Finish == "length"
		done = done || ch.Finish != ""
	}
	return done
}

func readWhole(r io.Reader, a *Answer, limit int) error {
	raw, err := io.ReadAll(io.LimitReader(r, int64(limit)*8))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return errors.New("the answer is no JSON document")
	}
	if c.Error != nil {
		return errFault
	}
	a.take(c)
	return nil
}

// readStream reads server-sent events. A stream that ends without the model
// having finished is an error: half an answer reads like a whole one.
func readStream(r io.Reader, a *Answer, limit int) error {
	in := bufio.NewReaderSize(r, 32<<10)
	finished := false
	for len(a.Text) < limit {
		line, err := in.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			if string(data) == "[DONE]" {
				return nil
			}
			var c chunk
			if json.Unmarshal(data, &c) == nil { // what isn't JSON is no piece of the answer
				if c.Error != nil {
					return errFault
				}
				finished = a.take(c) || finished
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && finished:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return fmt.Errorf("read the answer: %w", err)
		}
	}
	a.Cut = true // a model that loops: what it said first may be good
	return nil
}
