package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"hindsight/internal/foreign"
	"hindsight/proxy/admin"
	"hindsight/store"
)

// importCmd is `hindsight import`.
type importCmd struct {
	reach
	File   string `arg:"" help:"The file; - for standard input."`
	Format string `default:"auto" enum:"auto,hindsight,mem0,chatgpt,openai" placeholder:"WORD" help:"hindsight (an export), mem0, chatgpt (conversations.json), openai (message logs, one request a line); auto tells by the file."`
	User   string `placeholder:"NAME" help:"Whose conversations, or whose memories where the file doesn't say; the default user where left out."`
	Yes    bool   `short:"y" help:"Reflect on conversations without asking, whatever it costs."`
}

// importPiece is how many bytes of memories go into one call.
const importPiece = 8 << 20

// imported is what an import comes to, for people and machines.
type imported struct {
	Format foreign.Format `json:"format"`
	// Memories.
	Added     int `json:"added"`
	Revisions int `json:"revisions"` // their older forms
	Known     int `json:"known"`
	Forgotten int `json:"forgotten"`
	Skipped   int `json:"skipped"`
	// Conversations: how many had something new, how many had not, and the
	// reflections that were queued.
	Conversations int           `json:"conversations,omitempty"`
	Repeated      int           `json:"repeated,omitempty"`
	Reflections   int           `json:"reflections,omitempty"`
	Bad           []foreign.Bad `json:"bad"`
	Left          []foreign.Bad `json:"left_out,omitempty"` // lines that were forgotten here
}

// Run imports the file.
func (c *importCmd) Run(ctx context.Context, a *app) (err error) {
	in, closeIn, err := openInput(c.File)
	if err != nil {
		return err
	}
	defer closeIn()
	format := foreign.Format(c.Format)
	if c.Format == "auto" {
		if format = foreign.Detect(in); format == "" {
			return &failure{wrong: c.File + " isn't in a format that is known", next: "Say which with --format: hindsight, mem0, chatgpt or openai.", code: exitUsage}
		}
	}
	cl, err := a.client(ctx, c.reach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.close()) }()
	job := importing{importCmd: c, app: a, client: cl, sum: imported{Format: format, Bad: []foreign.Bad{}}}
	switch format {
	case foreign.HindsightLines:
		err = job.ours(ctx, in)
	case foreign.Mem0Export:
		err = job.mem0(ctx, in)
	case foreign.ChatGPTExport, foreign.OpenAILog:
		err = job.conversations(ctx, in)
	}
	if err != nil {
		return err
	}
	return job.report()
}

// openInput opens a file with room to look at its beginning.
func openInput(path string) (*bufio.Reader, func(), error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, nil, &failure{wrong: fmt.Sprintf("%s can't be read: %s", path, cause(err)), next: "Name the file to import, or - for standard input.", code: exitUsage}
		}
	}
	return bufio.NewReaderSize(f, 256<<10), func() { _ = f.Close() }, nil // it was read
}

// importing is one import under way.
type importing struct {
	*importCmd
	*app
	client *client
	sum    imported
}

// ours sends an export's lines as they are, a few megabytes at a time.
func (i *importing) ours(ctx context.Context, in *bufio.Reader) error {
	shown := i.long("lines", 0)
	defer shown.end()
	var piece bytes.Buffer
	first, n := 1, 0
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			n++
			piece.Write(line)
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("read %s: line %d: %w", i.File, n+1, err)
		}
		if piece.Len() >= importPiece || err == io.EOF && piece.Len() > 0 {
			if err := i.send(ctx, piece.Bytes(), func(line int) (string, int) { return "line", first + line - 1 }); err != nil {
				return err
			}
			shown.at(n)
			piece.Reset()
			first = n + 1
		}
		if err == io.EOF {
			return nil
		}
	}
}

// send imports lines. place says where in the file a line stands.
func (i *importing) send(ctx context.Context, lines []byte, place func(line int) (string, int)) error {
	var rep admin.ImportReport
	if err := i.client.sendLines(ctx, "/api/v1/import", i.query(), lines, &rep); err != nil {
		return err
	}
	i.sum.Added += rep.Added
	i.sum.Revisions += rep.Revisions
	i.sum.Known += rep.Known
	i.sum.Forgotten += rep.Forgotten
	i.sum.Skipped += rep.Skipped
	for _, l := range rep.Lines {
		unit, at := place(l.Line)
		switch l.Result {
		case "wrong":
			i.sum.Bad = append(i.sum.Bad, foreign.Bad{Unit: unit, At: at, Reason: l.Reason})
		case string(store.ImportForgotten):
			i.sum.Left = append(i.sum.Left, foreign.Bad{Unit: unit, At: at, Reason: l.Reason})
		}
	}
	return nil
}

// mem0 sends what mem0 exported as memories of ours.
func (i *importing) mem0(ctx context.Context, in *bufio.Reader) error {
	ms, bad, err := foreign.Mem0(in)
	if err != nil {
		return &failure{wrong: err.Error(), next: "Give the JSON that mem0's export or get_all wrote."}
	}
	i.sum.Bad = append(i.sum.Bad, bad...)
	const some = 1000
	shown := i.long("memories", len(ms))
	defer shown.end()
	for from := 0; from < len(ms); from += some {
		var lines bytes.Buffer
		enc := json.NewEncoder(&lines)
		for _, m := range ms[from:min(from+some, len(ms))] {
			if m.Scope == "" && i.User != "" {
				m.Scope = store.UserScope(i.User)
			}
			if err := enc.Encode(m); err != nil {
				return fmt.Errorf("encode a memory: %w", err)
			}
		}
		if err := i.send(ctx, lines.Bytes(), func(line int) (string, int) { return "memory", from + line }); err != nil {
			return err
		}
		shown.at(min(from+some, len(ms)))
	}
	return nil
}

// report prints what became of everything. What couldn't be read is no failure
// unless it is all there was.
func (i *importing) report() error {
	s := i.sum
	if i.json {
		if err := i.printJSON(s); err != nil {
			return err
		}
	} else if err := i.print(); err != nil {
		return err
	}
	if done := s.Added + s.Known + s.Forgotten + s.Skipped + s.Conversations + s.Repeated; done == 0 && len(s.Bad) > 0 {
		return &failure{wrong: "nothing of it could be read", next: "Say what the file is with --format."}
	}
	return nil
}

func (i *importing) print() error {
	s := i.sum
	for _, b := range s.Bad {
		if err := i.say("%s %s", i.paint("31", "bad"), oneLine(b.Error())); err != nil {
			return err
		}
	}
	for _, b := range s.Left {
		if err := i.say("%s %s", i.paint("33", "left out"), oneLine(b.Error())); err != nil {
			return err
		}
	}
	if s.Format == foreign.ChatGPTExport || s.Format == foreign.OpenAILog {
		return i.say("%s recorded, %d known, %d bad. %s queued; `hindsight memories list` shows what comes of them.",
			number(s.Conversations, "conversation", "conversations"), s.Repeated, len(s.Bad), number(s.Reflections, "reflection", "reflections"))
	}
	history := ""
	if s.Revisions > 0 {
		history = ", with " + number(s.Revisions, "older form", "older forms")
	}
	return i.say("%s added%s, %d known, %d forgotten here, %s skipped, %d bad.",
		number(s.Added, "memory", "memories"), history, s.Known, s.Forgotten, number(s.Skipped, "line", "lines"), len(s.Bad))
}
