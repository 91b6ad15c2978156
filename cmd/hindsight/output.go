package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"

	"hindsight/inject"
)

// printJSON prints a value for machines.
func (a *app) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.out, "%s\n", b)
	return err
}

// printRaw prints an answer of the API as it came, indented.
func (a *app) printRaw(raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err := fmt.Fprintf(a.out, "%s\n", bytes.TrimSpace(b.Bytes()))
	return err
}

// printTable prints rows under a header. The column elastic (-1: none) is cut
// so that a row fits the terminal; without a terminal nothing is cut.
func (a *app) printTable(header []string, elastic int, rows [][]string) error {
	for _, r := range rows {
		for i := range r {
			r[i] = oneLine(r[i])
		}
	}
	if elastic >= 0 && a.width > 0 {
		room := a.width
		for i := range header {
			if i == elastic {
				continue
			}
			widest := runewidth.StringWidth(header[i])
			for _, r := range rows {
				widest = max(widest, runewidth.StringWidth(r[i]))
			}
			room -= widest + 2
		}
		for _, r := range rows {
			r[elastic] = runewidth.Truncate(r[elastic], max(room, 20), "…")
		}
	}
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(cells(header))
	for _, r := range rows {
		t.AppendRow(cells(r))
	}
	out := t.Render()
	if head, rest, ok := strings.Cut(out, "\n"); ok {
		out = a.paint("1", head) + "\n" + rest
	}
	_, err := fmt.Fprintln(a.out, out)
	return err
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, s := range texts {
		row[i] = s
	}
	return row
}

// oneLine keeps a text from breaking its row, or the terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if inject.Hidden(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
}

// paint colours a text by an ANSI code where colours are shown.
func (a *app) paint(code, s string) string {
	if !a.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// fields prints names and values, the empty ones left out.
func (a *app) printFields(pairs ...[2]string) error {
	widest := 0
	for _, p := range pairs {
		widest = max(widest, len(p[0]))
	}
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%s%s  %s\n", a.paint("1", p[0]), strings.Repeat(" ", widest-len(p[0])), oneLine(p[1])); err != nil {
			return err
		}
	}
	return nil
}

// number counts things in words.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// when is a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
