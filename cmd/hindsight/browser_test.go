//go:build browser

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	"github.com/chromedp/chromedp/kb"

	"hindsight/proxy/admin"
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

// furnished is a world with something on every page of the console.
func furnished(t *testing.T) (w *world, memory, exchange string) {
	t.Helper()
	w, memory, _, exchange = taught(t, func(cfg *Config) { cfg.Sample = 100 * time.Millisecond })
	for _, text := range []string{
		`"text":"The staging database listens on port 5433; the default port belongs to the old cluster.","type":"solution","subject":"staging database","importance":0.8`,
		`"text":"pnpm install fails behind the proxy unless NODE_EXTRA_CA_CERTS names the company's certificate.","type":"error_lesson","subject":"pnpm"`,
		`"text":"回答请用简体中文，代码注释用英文。","type":"preference","standing":true,"importance":0.9`,
		`"text":"Visited the Rijksmuseum with Anna on 14 November.","type":"event","subject":"Anna"`,
		`"text":"每周四晚上下围棋。","type":"user_fact","subject":"围棋"`,
	} {
		w.admin(http.MethodPost, "/api/v1/memories", "{"+text+"}")
	}
	w.admin(http.MethodPatch, "/api/v1/memories/"+memory, `{"importance":0.85,"subject":"home"}`)
	for i := range 12 {
		c := w.conversation()
		c.say(fmt.Sprintf("On which port does the staging database listen? (%d)", i))
		if i%2 == 0 {
			c.say("And what do I drink while I wait for it?")
		}
	}
	c := w.conversation("Hindsight-Session: design-review")
	c.say("My sister Anna works at the harbour museum. The build takes 14 minutes.")
	c.say("Remember that I use fish as my shell.")
	w.admin(http.MethodPost, "/api/v1/sessions/"+c.say("Thanks, that is all.").session()+"/close?wait=30s", "")
	w.flush()
	return w, memory, exchange
}

func TestConsoleInABrowser(t *testing.T) {
	w, memory, exchange := furnished(t)
	s := newScreen(t, w, "en")
	var link admin.ConsoleLink
	w.decode(w.admin(http.MethodPost, "/api/v1/console/links", ""), &link)

	// In by the link; the page goes on by itself.
	s.run(chromedp.Navigate(link.URL), chromedp.WaitVisible("#charts"))
	s.sees("Memory is on.", "questions", "Requests a minute", "All memories")
	s.shoot("overview")

	// From the answer's header to the evidence.
	s.visit("/console/sessions")
	s.run(chromedp.SendKeys("#exchange", exchange))
	s.leave(chromedp.SendKeys("#exchange", kb.Enter))
	s.sees("Why this was remembered", "In which city do I live?", "Given to the model.", "Hindsight-Status: injected")
	s.run(chromedp.Click(".considered.chosen summary"), chromedp.WaitVisible(".considered.chosen .scores"))
	s.sees("Share answered", "Recency")
	s.shoot("why")
	s.press(`.considered.chosen .says a[href$="` + memory + `"]`)
	s.sees("Rotterdam", "Evidence", "Learned from a session", "Edited")
	s.shoot("memory")
	s.press("blockquote footer a")
	if marked := answered(s, chromedp.Text(".turn:target mark")); !strings.Contains(marked, "Rotterdam") {
		t.Errorf("the conversation marks %q as the evidence", marked)
	}
	if n := answered(s, chromedp.Evaluate[int](`document.querySelectorAll("mark").length`)); n != 1 {
		t.Errorf("%d places are marked: the answer that repeats the words is no evidence", n)
	}
	s.sees("Conversation", "Kept", "What was learned")
	s.shoot("session")

	// Search by the keyboard alone, then edit, forget, restore.
	s.visit("/console/memories")
	s.shoot("memories")
	s.run(chromedp.KeyEvent("/"))
	if answered(s, chromedp.Evaluate[string](`document.activeElement.id`)) != "q" {
		t.Error("the key / doesn't lead to the search")
	}
	// The driver types the character all the same; it isn't the browser's doing.
	s.run(chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("Where does the user live?"))
	s.leave(chromedp.KeyEvent(kb.Enter))
	s.sees("Rotterdam", "best first")
	s.run(chromedp.Click(".hit summary"), chromedp.WaitVisible(".hit .scores"))
	s.shoot("search")
	s.visit("/console/memories/" + memory + "?edit")
	s.shoot("edit")
	s.run(chromedp.SetValue("textarea", "The user lives in Delft."))
	s.press("form.sheet button.main")
	s.sees("Changed.", "The user lives in Delft.", "revision 3")
	s.press(`form[action$="/pin"] button`)
	s.sees("Pinned", "pinned")
	s.press(`form[action$="/forget"] button`)
	s.sees("Forgotten.", "archived")
	s.press(`form[action$="/restore"] button.main`)
	s.sees("Restored.")
	s.shoot("history")
	var state struct{ State, Text string }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories/"+memory, ""), &state)
	if state.State != "active" || state.Text != "The user lives in Delft." {
		t.Errorf("the API says %+v", state)
	}
	s.visit("/console/memories/" + memory + "/erase")
	s.shoot("erase")
	s.visit("/console/memories/new")
	s.run(chromedp.SendKeys("textarea", "Prefers window seats."))
	s.press("form.sheet button.main")
	s.sees("Written down.", "Prefers window seats.")

	s.visit("/console/sessions/design-review")
	s.sees("Anna", "fish")
	s.shoot("conversation")
	s.visit("/console/sessions")
	s.shoot("sessions")
	s.visit("/console/reflections")
	s.sees("done")
	s.shoot("reflections")
	s.visit("/console/settings")
	s.sees("recall.deadline", "set, never shown")
	s.shoot("settings")

	// Dark, by the system's wish.
	s.dark(true)
	for _, page := range []string{"", "memories", "memories/" + memory, "exchanges/" + exchange, "sessions/design-review", "reflections", "settings"} {
		s.visit("/console/" + page)
		s.shoot("dark-" + shotName(page))
	}
	// On a phone, and in Chinese by the switch.
	s.dark(false)
	s.size(390, 844, true)
	for _, page := range []string{"", "memories", "memories?q=port", "memories/" + memory, "exchanges/" + exchange, "sessions", "sessions/design-review", "reflections", "settings"} {
		s.visit("/console/" + page)
		s.shoot("phone-" + shotName(page))
	}
	s.size(1280, 900, false)
	s.visit("/console/")
	s.press(".tools a[hreflang=zh]")
	s.sees("概览", "记忆正常", "每分钟请求")
	for _, page := range []string{"", "memories", "memories/" + memory, "exchanges/" + exchange, "sessions/design-review", "settings"} {
		s.visit("/console/" + page)
		s.shoot("zh-" + shotName(page))
	}
	s.visit("/console/")
	s.press(`form[action$="/logout"] button`)
	s.sees("hindsight console")
	s.mu.Lock()
	kept := s.trouble[:0]
	for _, what := range s.trouble {
		if !strings.Contains(what, "401") { // the page that says how to log in
			kept = append(kept, what)
		}
	}
	s.trouble = kept
	s.mu.Unlock()
	s.calm()
}

// shotName is the name of a page's picture.
func shotName(page string) string {
	name, _, _ := strings.Cut(strings.NewReplacer("?", "-", "=", "-").Replace(page), "/")
	if page == "" {
		return "overview"
	}
	if strings.Contains(page, "/") {
		return strings.TrimSuffix(name, "s") + "-one"
	}
	return name
}

// A browser whose first wish is Chinese gets Chinese from the first page on.
func TestConsoleInAChineseBrowser(t *testing.T) {
	w := newWorld(t)
	s := newScreen(t, w, "zh-CN")
	var link admin.ConsoleLink
	w.decode(w.admin(http.MethodPost, "/api/v1/console/links", ""), &link)
	s.run(chromedp.Navigate(link.URL), chromedp.WaitVisible("#charts"))
	s.sees("概览", "本次启动以来还没有提问")
	s.shoot("zh-empty")
	s.visit("/console/memories")
	s.sees("这里还没有记忆")
	s.calm()
}
