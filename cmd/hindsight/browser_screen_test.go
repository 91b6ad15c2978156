//go:build browser

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screen is a real browser, without a window, on one page of the console.
// Whatever it complains about, and every request that leaves the admin port's
// origin, fails the test.
type screen struct {
	t      *testing.T
	ctx    context.Context
	origin string
	shots  string
	axe    string

	mu       sync.Mutex
	trouble  []string
	requests int
}

// newScreen starts a browser. Its flags are what a container without a sandbox
// of its own needs.
func newScreen(t *testing.T, w *world, lang string) *screen {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no chromium is installed: apt-get install chromium")
	}
	script, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		t.Fatalf("AXE must name axe-core's axe.min.js: %v", err)
	}
	s := &screen{t: t, origin: w.st.adminURL(), shots: os.Getenv("SCREENSHOTS"), axe: string(script)}
	if s.shots == "" {
		t.Fatal("SCREENSHOTS must name a folder")
	}
	if err := os.MkdirAll(s.shots, 0o755); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("lang", lang), chromedp.Flag("accept-lang", lang), chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	s.ctx = ctx
	s.run() // starts the browser
	if err := chromedp.Listen(ctx, s.hear); err != nil {
		t.Fatal(err)
	}
	command(s, network.Enable, network.EnableParams{})
	command(s, cdpruntime.Enable, cdp.Empty{})
	command(s, cdplog.Enable, cdp.Empty{})
	command(s, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
	s.size(1280, 900, false)
	return s
}

// command sends a command of the browser's protocol.
func command[P any](s *screen, c cdp.Command[P, cdp.Empty], params P) {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, c, params); err != nil {
		s.t.Fatal(err)
	}
}

// answered runs an action that has an answer.
func answered[T any](s *screen, a chromedp.Action[T]) T {
	s.t.Helper()
	out, err := chromedp.Run(s.ctx, a)
	if err != nil {
		at, _ := chromedp.Run(s.ctx, chromedp.Location()) // for the message
		s.t.Fatalf("at %s: %v", at, err)
	}
	return out
}

// hear listens to what the browser says and asks for.
func (s *screen) hear(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.ConsoleAPICalledTypeError || e.Type == cdpruntime.ConsoleAPICalledTypeWarning {
			s.trouble = append(s.trouble, fmt.Sprintf("the console says %s: %v", e.Type, e.Args))
		}
	case *cdpruntime.EventExceptionThrown:
		s.trouble = append(s.trouble, "an exception: "+e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			s.trouble = append(s.trouble, fmt.Sprintf("the log says %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		s.requests++
		// data: is no request; the browser draws its own icons of date fields from it.
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != s.origin {
			s.trouble = append(s.trouble, "a request leaves the console: "+e.Request.URL)
		}
	}
}

// calm fails the test with what has troubled the browser so far.
func (s *screen) calm() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, what := range s.trouble {
		s.t.Error(what)
	}
	s.trouble = nil
	if s.requests == 0 {
		s.t.Error("the browser asked for nothing: it isn't heard")
	}
}

func (s *screen) run(actions ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	answered(s, chromedp.Steps(actions...))
}

// visit goes to a path and waits for its page.
func (s *screen) visit(path string) {
	s.t.Helper()
	s.run(chromedp.Navigate(s.origin+path), chromedp.WaitReady("main"))
}

// press clicks and waits for the page that comes of it: the old one is marked.
func (s *screen) press(selector string) {
	s.t.Helper()
	s.leave(chromedp.Click(selector, chromedp.NodeVisible))
}

// leave does what leads to another page, and waits for that: the page that is
// left is marked.
func (s *screen) leave(by chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	answered(s, chromedp.Evaluate[any](`document.body.setAttribute("data-old", ""), 0`))
	s.run(by)
	for range 200 {
		there, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!document.body && !document.body.hasAttribute("data-old")`))
		if err == nil && there { // an error: the page was left in the middle of it
			return
		}
		s.run(chromedp.Sleep(50 * time.Millisecond))
	}
	s.t.Fatal("no other page has come")
}

// sees fails the test where the page doesn't hold the words.
func (s *screen) sees(words ...string) {
	s.t.Helper()
	text, at := answered(s, chromedp.Evaluate[string](`document.querySelector("main").innerText`)), answered(s, chromedp.Location())
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.t.Errorf("%s doesn't show %q:\n%s", at, w, text)
		}
	}
}

// size is that of the window, in points.
func (s *screen) size(wide, high int64, phone bool) {
	s.t.Helper()
	scale := 1.0
	if phone {
		scale = 2
	}
	s.run(chromedp.EmulateViewport(wide, high, chromedp.EmulateScale(scale)))
}

// dark turns the system's wish for dark colours on or off.
func (s *screen) dark(on bool) {
	s.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	command(s, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
}

// shoot keeps a picture of the whole page, and holds the page against axe-core's
// rules and its own width.
func (s *screen) shoot(name string) {
	s.t.Helper()
	picture := answered(s, chromedp.FullScreenshot(100))
	if answered(s, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)) {
		s.t.Errorf("%s: the page is wider than its window", name)
	}
	if err := os.WriteFile(filepath.Join(s.shots, name+".png"), picture, 0o644); err != nil {
		s.t.Fatal(err)
	}
	answered(s, chromedp.Evaluate[any](s.axe+";0"))
	found := answered(s, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v =>
		({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	var violations []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		s.t.Fatalf("axe-core answers %q: %v", found, err)
	}
	for _, v := range violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			s.t.Errorf("%s: axe-core finds %s (%s): %s\n%s", name, v.ID, v.Impact, v.Help, strings.Join(v.Nodes, "\n"))
		} else {
			s.t.Logf("%s: axe-core notes %s (%s): %s", name, v.ID, v.Impact, v.Help)
		}
	}
}
