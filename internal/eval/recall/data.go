package recall

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Set is what the files of one measurement hold together. Name joins theirs.
type Set struct {
	Name    string
	Corpora []Corpus
}

// Corpus is what one person's memory holds, and the questions to it.
type Corpus struct {
	Name      string
	Units     []Unit
	Questions []Question

	last time.Time // of a unit
}

// Unit is one memory, or one turn of a conversation.
type Unit struct {
	ID, Session, Speaker, Text string
	Time                       time.Time
}

// Question asks a corpus. An empty Relevant means that nothing there answers it.
type Question struct {
	Text     string
	Context  []string // the turns before, oldest first
	Relevant []string // ids of units
	Category string
	Asked    time.Time // zero: after the last unit

	number int
}

// now is when a question is asked.
func (c Corpus) now(q *Question) time.Time {
	if q.Asked.IsZero() {
		return c.last
	}
	return q.Asked
}

// line is one line of a file; what it has says what it is.
type line struct {
	About    string   `json:"about"`
	Corpus   string   `json:"corpus"`
	Unit     string   `json:"unit"`
	Session  string   `json:"session"`
	Speaker  string   `json:"speaker"`
	Text     string   `json:"text"`
	Time     moment   `json:"time"`
	Question string   `json:"question"`
	Context  []string `json:"context"`
	Relevant []string `json:"relevant"`
	Category string   `json:"category"`
	Asked    moment   `json:"asked"`
}

// moment is a time in seconds or as a date, with or without the hour.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(b []byte) error {
	var seconds float64
	if json.Unmarshal(b, &seconds) == nil {
		m.Time = time.Unix(0, int64(seconds*1e9)).UTC()
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("time %s: want seconds or a date", b)
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			m.Time = t
			return nil
		}
	}
	return fmt.Errorf("time %q: want seconds or a date like 2006-01-02", s)
}

// Load reads files, plain or gzip, one JSON object a line. Corpora of one name
// are one corpus over all files, unless two files give a unit of the same id:
// then each file that has units has a corpus of its own. The error names the
// file and the line.
func Load(files []string) (*Set, error) {
	l := loader{}
	var names []string
	for _, f := range files {
		if err := l.file(f); err != nil {
			return nil, err
		}
		names = append(names, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f), ".gz"), ".jsonl"))
	}
	set := &Set{Name: strings.Join(names, "+")}
	return set, l.join(set)
}

// loader holds the corpora of each file, in the order of their first line.
type loader struct{ files []loaded }

type loaded struct {
	name    string
	corpora []Corpus
}

func (l *loader) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open data: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	in := bufio.NewReader(f)
	var r io.Reader = in
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if r, err = gzip.NewReader(in); err != nil {
			return fmt.Errorf("unpack %s: %w", path, err)
		}
	}
	to := loaded{name: filepath.Base(path)}
	at := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var v line
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return fmt.Errorf("%s line %d: %w", to.name, n, err)
		}
		if v.Corpus == "" && v.About != "" {
			continue
		}
		if v.Corpus == "" || (v.Unit == "") == (v.Question == "") {
			return fmt.Errorf("%s line %d: want a corpus and either a unit or a question", to.name, n)
		}
		i, ok := at[v.Corpus]
		if !ok {
			i = len(to.corpora)
			at[v.Corpus] = i
			to.corpora = append(to.corpora, Corpus{Name: v.Corpus})
		}
		to.corpora[i].add(v)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	l.files = append(l.files, to)
	return nil
}

func (c *Corpus) add(v line) {
	if v.Unit != "" {
		c.Units = append(c.Units, Unit{ID: v.Unit, Session: v.Session, Speaker: v.Speaker, Text: v.Text, Time: v.Time.Time})
		return
	}
	c.Questions = append(c.Questions, Question{
		Text: v.Question, Context: v.Context, Relevant: v.Relevant, Category: v.Category, Asked: v.Asked.Time,
	})
}

// join makes one set of all files.
func (l *loader) join(set *Set) error {
	apart := l.apart()
	at := map[string]int{}
	for _, f := range l.files {
		for _, c := range f.corpora {
			name := c.Name
			if apart[name] {
				if len(c.Units) == 0 {
					return fmt.Errorf("%s asks corpus %s, which several files give units of the same id: measure them one by one", f.name, name)
				}
				c.Name = f.name + ":" + name
			}
			i, ok := at[c.Name]
			if !ok {
				i = len(set.Corpora)
				at[c.Name] = i
				set.Corpora = append(set.Corpora, Corpus{Name: c.Name})
			}
			set.Corpora[i].Units = append(set.Corpora[i].Units, c.Units...)
			set.Corpora[i].Questions = append(set.Corpora[i].Questions, c.Questions...)
		}
	}
	var errs []error
	for i := range set.Corpora {
		errs = append(errs, set.Corpora[i].check())
	}
	return errors.Join(errs...)
}

// apart are the names of corpora that two files give a unit of the same id.
func (l *loader) apart() map[string]bool {
	out := map[string]bool{}
	from := map[[2]string]int{}
	for n, f := range l.files {
		for _, c := range f.corpora {
			for _, u := range c.Units {
				k := [2]string{c.Name, u.ID}
				if had, ok := from[k]; ok && had != n {
					out[c.Name] = true
				}
				from[k] = n
			}
		}
	}
	return out
}

// check completes a corpus: what its questions name must be there.
func (c *Corpus) check() error {
	known := map[string]bool{}
	for _, u := range c.Units {
		if known[u.ID] {
			return fmt.Errorf("corpus %s: unit %s is there twice", c.Name, u.ID)
		}
		known[u.ID] = true
		if u.Time.After(c.last) {
			c.last = u.Time
		}
	}
	if len(c.Units) == 0 {
		return fmt.Errorf("corpus %s: questions and no units: name the file that has them too", c.Name)
	}
	for i := range c.Questions {
		q := &c.Questions[i]
		q.number = i
		for _, r := range q.Relevant {
			if !known[r] {
				return fmt.Errorf("corpus %s: question %q names the unit %s, which isn't there", c.Name, q.Text, r)
			}
		}
	}
	return nil
}
