package console

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"hindsight/proxy/admin/explain"
	"hindsight/store"
)

//go:embed words.json
var words []byte

// help is what the settings do, in Chinese.
//
//go:embed settings.zh.json
var help []byte

// pages are the templates and their texts.
type pages struct {
	words explain.Catalog
	help  map[string]string // of settings, in Chinese
	named map[string]*template.Template
}

// readPages parses every page together with the frame around it.
func readPages(files fs.FS) (*pages, error) {
	catalog, err := explain.Read(words)
	if err != nil {
		return nil, err
	}
	p := &pages{words: catalog, named: map[string]*template.Template{}}
	if err := json.Unmarshal(help, &p.help); err != nil {
		return nil, fmt.Errorf("read the Chinese of the settings: %w", err)
	}
	parts, err := template.ParseFS(files, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	all, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if strings.HasPrefix(name, "_") {
			continue
		}
		t, err := parts.Clone()
		if err != nil {
			return nil, err
		}
		if p.named[name], err = t.ParseFS(files, file); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// view is what a template works with: the page's data, and the visit.
type view struct {
	v     *visit
	Title string
	Data  any
}

// page writes a page. title is the key of its title.
func (v *visit) page(name, title string, status int, data any) {
	v.titled(name, v.t(title), status, data)
}

func (v *visit) titled(name, title string, status int, data any) {
	var b bytes.Buffer
	if err := v.c.pages.named[name].ExecuteTemplate(&b, "_frame.html", &view{v: v, Title: title, Data: data}); err != nil {
		// A page that can't be drawn is a fault of ours, and the tests draw all.
		http.Error(v.w, v.t("problem.inside"), http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Language", string(v.lang))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // the browser is gone if this fails
}

// t is a text in the visitor's language, with its arguments. A key that isn't
// there shows itself.
func (v *visit) t(key string, args ...any) string {
	text, ok := v.c.pages.words.Text(v.lang, key)
	if !ok {
		return key
	}
	if len(args) > 0 {
		return fmt.Sprintf(text, args...)
	}
	return text
}

// T is t for templates.
func (w *view) T(key string, args ...any) string { return w.v.t(key, args...) }

// Word is the text of a word of the contract, such as a type or a state.
func (w *view) Word(kind string, word any) string {
	key := fmt.Sprintf("%s.%v", kind, word)
	if text, ok := w.v.c.pages.words.Text(w.v.lang, key); ok {
		return text
	}
	return fmt.Sprint(word)
}

// Lang is the page's language, Other the one to switch to.
func (w *view) Lang() string { return string(w.v.lang) }

// Other is the language that isn't the page's.
func (w *view) Other() string {
	if w.v.lang == explain.Chinese {
		return string(explain.English)
	}
	return string(explain.Chinese)
}

// Here is the page's own address, to come back to.
func (w *view) Here() string { return w.v.r.URL.RequestURI() }

// In says whether the page lies below a path, for the mark in the navigation.
func (w *view) In(below string) bool {
	at := w.v.r.URL.Path
	return at == below || below != home && strings.HasPrefix(at, below+"/")
}

// Inside says whether a visitor is logged in.
func (w *view) Inside() bool { return w.v.who.csrf != "" }

// CSRF is what a form of this visitor holds.
func (w *view) CSRF() string { return w.v.who.csrf }

// Tenant is the tenant that the visitor has chosen; empty: the usual one.
func (w *view) Tenant() string { return w.v.who.tenant }

// Version is the build's.
func (w *view) Version() string { return w.v.c.cfg.Version }

// File is the address of a static file, with its hash.
func (w *view) File(name string) string { return w.v.c.static.address(name) }

// Done is what was just done, in words; empty: nothing.
func (w *view) Done() string {
	key := "done." + w.v.r.URL.Query().Get("done")
	if text, ok := w.v.c.pages.words.Text(w.v.lang, key); ok {
		return text
	}
	return ""
}

// Types lists the types of memories for a choice.
func (w *view) Types() []store.Type { return store.Types() }

// States lists the states of memories for a choice.
func (w *view) States() []store.State {
	return []store.State{store.Active, store.Quarantined, store.Archived, store.Superseded, store.Consolidated}
}

// Both is what a shared piece of a template works with: the view, and what it is
// about.
func (w *view) Both(of any) []any { return []any{w, of} }

// Act is a button that has something done: where, its words, its look and, where
// the form holds one more field, its name and value.
func (w *view) Act(to, label, look string, field ...string) []any {
	out := []any{w, to, label, look}
	for _, f := range field {
		out = append(out, f)
	}
	return out
}
