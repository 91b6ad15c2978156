//go:build browser

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hindsight/proxy/admin"
)

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
