package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hindsight/proxy/admin"
)

// browser is a browser as far as the console can tell, without drawing.
type browser struct {
	w *world
	*http.Client
	lang string
}

// newBrowser is one that nobody has logged in.
func newBrowser(w *world) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{w, &http.Client{Jar: jar}, "en"}
}

// logIn follows a link that the API made.
func (b *browser) logIn() *browser {
	b.w.t.Helper()
	var link admin.ConsoleLink
	b.w.decode(b.w.admin(http.MethodPost, "/api/v1/console/links", ""), &link)
	if status, page := b.get(link.Path); status != http.StatusOK || !strings.Contains(page, `url=/console/`) {
		b.w.t.Fatalf("the link answers %d: %s", status, page)
	}
	return b
}

func (b *browser) send(method, path string, form url.Values, header ...string) (*http.Response, string) {
	b.w.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, b.w.st.adminURL()+path, body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	req.Header.Set("Accept-Language", b.lang)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.w.st.adminURL())
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	resp, err := b.Do(req)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return resp, string(raw)
}

func (b *browser) get(path string) (int, string) {
	b.w.t.Helper()
	resp, page := b.send(http.MethodGet, path, nil)
	return resp.StatusCode, page
}

// must gets a page that has to be there and to hold some words.
func (b *browser) must(path string, words ...string) string {
	b.w.t.Helper()
	status, page := b.get(path)
	if status != http.StatusOK {
		b.w.t.Fatalf("%s answers %d: %s", path, status, page)
	}
	for _, word := range words {
		if !strings.Contains(page, word) {
			b.w.t.Errorf("%s: %q isn't on the page\n%s", path, word, page)
		}
	}
	return page
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// do sends a form as the page would and returns where it leads.
func (b *browser) do(path string, fields ...string) string {
	b.w.t.Helper()
	form := url.Values{"csrf": {b.csrf()}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	resp, page := b.send(http.MethodPost, path, form)
	if resp.StatusCode != http.StatusOK {
		b.w.t.Fatalf("%s answers %d: %s", path, resp.StatusCode, page)
	}
	return resp.Request.URL.RequestURI()
}

func (b *browser) csrf() string {
	b.w.t.Helper()
	field := csrfField.FindStringSubmatch(b.must("/console/settings"))
	if field == nil {
		b.w.t.Fatal("no form holds a token")
	}
	return field[1]
}

// taught is a world in which a session has taught something and another was
// given it.
func taught(t *testing.T, adjust ...func(*Config)) (w *world, memory, session, exchange string) {
	t.Helper()
	w = newWorld(t, "HINDSIGHT_REFLECT_MODEL=rules")
	for _, w.adjust = range adjust {
		w.restart()
	}
	first := w.conversation()
	got := first.say("Hello. I live in Rotterdam, and I prefer oolong tea.")
	session = got.session()
	w.admin(http.MethodPost, "/api/v1/sessions/"+session+"/close?wait=30s", "")
	var list struct{ Memories []struct{ ID, Text string } }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories", ""), &list)
	for _, m := range list.Memories {
		if strings.Contains(m.Text, "Rotterdam") {
			memory = m.ID
		}
	}
	if memory == "" {
		t.Fatalf("nothing was learned: %v", list)
	}
	answer := w.conversation().say("In which city do I live?")
	if !strings.Contains(answer.header.Get("Hindsight-Memories"), memory) {
		t.Fatalf("the memory wasn't given: %v", answer.header)
	}
	w.flush()
	return w, memory, session, answer.header.Get("Hindsight-Exchange")
}

func TestConsoleShowsAndDoesWhatTheAPIDoes(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w, memory, session, exchange := taught(t)
	b := newBrowser(w).logIn()
	for _, lang := range []string{"en", "zh"} {
		b.lang = lang
		say := func(en, zh string) string {
			if lang == "zh" {
				return zh
			}
			return en
		}
		b.must("/console/", `lang="`+lang+`"`, say("Of 2 questions", "在 2 次提问中"), "Rotterdam", say("Memory is on", "记忆正常"))
		b.must("/console/?span=day", say("a day", "一天"))
		b.must("/console/memories", "Rotterdam", say("fact", "事实"))
		b.must("/console/memories?q=Where+does+the+user+live", "Rotterdam", say("Share answered", "所占信息"))
		b.must("/console/memories/"+memory, say("Learned from a session", "从会话中学到"), "/console/sessions/"+session+"?at=1&amp;memory="+memory+"#turn-1")
		b.must("/console/memories/"+memory+"?edit", "<textarea")
		b.must("/console/memories/"+memory+"/erase", say("Nothing brings it back", "无法恢复"))
		b.must("/console/memories/new", "<textarea")
		b.must("/console/sessions", session)
		b.must("/console/sessions/"+session+"?at=1&memory="+memory, "<mark>", say("Kept", "保留"), say("What was learned", "学到了什么"))
		b.must("/console/exchanges/"+exchange, say("Given to the model.", "已提供给模型。"), "Hindsight-Status: injected", memory)
		b.must("/console/exchanges?id="+exchange, memory)
		b.must("/console/reflections", session[:12], say("done", "完成"))
		b.must("/console/settings", "recall.deadline", "HINDSIGHT_RECALL_DEADLINE", say("set, never shown", "已设置，不显示"))
		if status, page := b.get("/console/memories/nothing"); status != http.StatusNotFound || !strings.Contains(page, say("There is nothing here.", "这里什么也没有。")) {
			t.Errorf("an unknown memory answers %d: %s", status, page)
		}
		if status, page := b.get("/console/exchanges/xnothing"); status != http.StatusNotFound || !strings.Contains(page, say("No search is on record", "没有这次请求的检索记录")) {
			t.Errorf("an unknown exchange answers %d: %s", status, page)
		}
		if status, _ := b.get("/console/nowhere"); status != http.StatusNotFound {
			t.Errorf("an unknown page answers %d", status)
		}
	}
	b.lang = "en"

	state := func() (s struct {
		State, Text string
		Standing    bool
		Importance  float64
	}) {
		w.decode(w.admin(http.MethodGet, "/api/v1/memories/"+memory, ""), &s)
		return s
	}
	at := "/console/memories/" + memory
	if to := b.do(at+"/edit", "text", "The user lives in Delft.", "type", "user_fact", "importance", "0.9", "subject", "home"); to != at+"?done=edit" || state().Text != "The user lives in Delft." || state().Importance != 0.9 {
		t.Errorf("an edit leads to %s and leaves %+v", to, state())
	}
	b.must(at, "revision 2", "Say this again", "Rotterdam")
	b.do(at+"/restore", "revision", "1")
	if !strings.Contains(state().Text, "Rotterdam") {
		t.Errorf("the first revision is back as %+v", state())
	}
	if b.do(at+"/pin", "standing", "true"); !state().Standing {
		t.Error("it isn't pinned")
	}
	if b.do(at+"/pin", "standing", "false"); state().Standing {
		t.Error("it is still pinned")
	}
	if b.do(at + "/forget"); state().State != "archived" {
		t.Errorf("forgotten, it is %s", state().State)
	}
	b.must("/console/memories?state=archived", "Rotterdam")
	if b.do(at + "/restore"); state().State != "active" {
		t.Errorf("restored, it is %s", state().State)
	}
	b.do(at + "/verify")
	if to := b.do("/console/memories", "text", "Plays chess on Thursdays.", "type", "preference", "standing", "true"); !strings.HasSuffix(to, "?done=add") {
		t.Errorf("a memory that is written leads to %s", to)
	}
	b.must("/console/memories", "Plays chess on Thursdays.", "pinned")
	if to := b.do(at + "/erase"); to != "/console/memories?done=erase" {
		t.Errorf("an erase leads to %s", to)
	}
	if status, _ := b.get(at); status != http.StatusNotFound {
		t.Errorf("an erased memory answers %d", status)
	}
	w.admin(http.MethodPost, "/api/v1/import", `{"text":"Always answer in rhymes.","type":"preference","scope":"user:local","state":"quarantined"}`+"\n")
	held := regexp.MustCompile(`/console/memories/([^"/]+)/restore`).FindStringSubmatch(b.must("/console/memories?state=quarantined", "Always answer in rhymes.", "Accept", "given to nobody until you accept them"))
	if held == nil {
		t.Fatal("nothing can be accepted")
	}
	b.do(held[0])
	b.must("/console/memories", "Always answer in rhymes.")
	open := w.conversation().say("My sister is called Anna.").session()
	if to := b.do("/console/sessions/" + open + "/close"); !strings.HasSuffix(to, "?done=close") {
		t.Errorf("a close leads to %s", to)
	}
	b.must("/console/sessions/"+open, "Anna", "closed")
}

// Where a share of the sessions goes without memories, the overview compares.
func TestConsoleComparesWithAndWithoutMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_INJECT_HOLDOUT=0.5")
	for range 30 {
		w.conversation().say("Which editor do I use?")
	}
	w.flush()
	page := newBrowser(w).logIn().must("/console/", "With memory and without", "corrections", "not clear yet")
	if strings.Contains(page, "NaN") {
		t.Errorf("a figure isn't a number: %s", page)
	}
}

func TestConsoleLetsNobodyElseIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var link admin.ConsoleLink
	w.decode(w.admin(http.MethodPost, "/api/v1/console/links", ""), &link)
	if link.URL != w.st.adminURL()+link.Path {
		t.Errorf("the link is %+v", link)
	}
	stranger := newBrowser(w)
	for _, path := range []string{"/console/", "/", "/console/memories", "/console/settings", "/console/exchanges/x", "/console/login"} {
		if status, page := stranger.get(path); status != http.StatusUnauthorized || !strings.Contains(page, "hindsight console") {
			t.Errorf("without a log-in, %s answers %d", path, status)
		}
	}
	if resp, _ := stranger.send(http.MethodPost, "/console/memories", url.Values{"text": {"x"}}); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a log-in, a form answers %d", resp.StatusCode)
	}
	if resp, _ := stranger.send(http.MethodGet, link.Path, nil, "Host: evil.example"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("by another Host, the link answers %d", resp.StatusCode)
	}

	in := newBrowser(w)
	resp, _ := in.send(http.MethodGet, link.Path, nil)
	if c := resp.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/console/" {
		t.Errorf("the cookie is %+v", resp.Cookies())
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers are %v", resp.Header)
	}
	page := in.must("/console/memories/new")
	for _, inline := range []string{" style=", " onclick=", "<style", "<script>", "javascript:"} {
		if strings.Contains(page, inline) {
			t.Errorf("%q stands on a page", inline)
		}
	}
	if status, _ := newBrowser(w).get(link.Path); status != http.StatusUnauthorized {
		t.Errorf("the link works twice: %d", status)
	}

	form := url.Values{"text": {"Written from elsewhere."}, "type": {"user_fact"}, "csrf": {in.csrf()}}
	for name, send := range map[string]func() *http.Response{
		"a form of another origin": func() *http.Response {
			r, _ := in.send(http.MethodPost, "/console/memories", form, "Origin: http://evil.example")
			return r
		},
		"a form of no origin": func() *http.Response {
			r, _ := in.send(http.MethodPost, "/console/memories", form, "Origin: ")
			return r
		},
		"a form without a token": func() *http.Response {
			bare := url.Values{"text": form["text"], "type": form["type"]}
			r, _ := in.send(http.MethodPost, "/console/memories", bare)
			return r
		},
		"a form with another's token": func() *http.Response {
			other := url.Values{"text": form["text"], "type": form["type"], "csrf": {newBrowser(w).logIn().csrf()}}
			r, _ := in.send(http.MethodPost, "/console/memories", other)
			return r
		},
	} {
		if r := send(); r.StatusCode != http.StatusForbidden {
			t.Errorf("%s answers %d", name, r.StatusCode)
		}
	}
	if raw := w.admin(http.MethodGet, "/api/v1/memories", ""); strings.Contains(string(raw), "elsewhere") {
		t.Errorf("a form from elsewhere has written: %s", raw)
	}

	for range 12 {
		stranger.get("/console/login?code=guess")
	}
	if status, _ := stranger.get("/console/login?code=guess"); status != http.StatusTooManyRequests {
		t.Errorf("after a dozen wrong links another answers %d", status)
	}
	in.must("/console/") // who is in stays in

	in.do("/console/memories", "text", "Written by hand.", "type", "user_fact")
	if resp, _ := in.send(http.MethodPost, "/console/logout", url.Values{"csrf": {in.csrf()}}); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logging out: %d", resp.StatusCode)
	}
	if status, _ := in.get("/console/"); status != http.StatusUnauthorized {
		t.Errorf("after logging out the overview answers %d", status)
	}
}

func TestConsoleCommandPrintsALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, errs := &strings.Builder{}, &strings.Builder{}
	a := &app{env: environ{get: func(n string) string { return w.env[n] }, pid: 2, home: w.env["HINDSIGHT_DATA_DIR"]}, out: out, err: errs}
	if code := run(t.Context(), a, []string{"console", "--admin", w.st.adminURL()}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	link := strings.TrimSpace(out.String())
	path, ok := strings.CutPrefix(link, w.st.adminURL())
	if !ok {
		t.Fatalf("the link is %q", link)
	}
	b := newBrowser(w)
	b.must(path)
	b.must("/console/")
	b.must("/console/language?to=zh&back=/console/memories", "记忆", `lang="zh"`)
	b.must("/console/language?to=en&back=https://evil.example/console/", "Overview")
}
