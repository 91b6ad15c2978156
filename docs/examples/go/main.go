// Command go asks the model through Hindsight with nothing but net/http.
//
//	go run ./docs/examples/go "Please remember that my badge is B4411."
//	go run ./docs/examples/go "Which badge do I have?"
//
// Each run is a process and a conversation of its own. What the second one knows
// of the first comes from the memory.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

// message and the two below are what the chat completions API takes and gives,
// as far as this program uses it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type question struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
}

type answer struct {
	Choices []struct {
		Message message `json:"message"`
	} `json:"choices"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal(`say something: go run ./docs/examples/go "Which badge do I have?"`)
	}
	said, status, err := ask(context.Background(), os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("model:    ", said)
	fmt.Println("hindsight:", status)
}

// ask returns the model's words and what Hindsight did.
func ask(ctx context.Context, words string) (said, status string, err error) {
	body, err := json.Marshal(question{
		Model:    cmp.Or(os.Getenv("MODEL"), "gpt-4o-mini"),
		Messages: []message{{Role: "user", Content: words}},
	})
	if err != nil {
		return "", "", err
	}
	// The two things that are Hindsight's: the address, and whose memory it is.
	base := cmp.Or(os.Getenv("OPENAI_BASE_URL"), "http://127.0.0.1:8080/v1")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", "", err
	}
	req.Header.Set("Hindsight-User", cmp.Or(os.Getenv("CHAT_USER"), "ann"))
	req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	req.Header.Set("Content-Type", "application/json")

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", "", err
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil || len(a.Choices) == 0 {
		return "", "", fmt.Errorf("%s: %s", resp.Status, raw)
	}
	return a.Choices[0].Message.Content, resp.Header.Get("Hindsight-Status") + " " + resp.Header.Get("Hindsight-Memories"), nil
}
