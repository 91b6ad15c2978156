package console

import (
	"net/http"

	"hindsight/proxy/admin"
	"hindsight/proxy/admin/explain"
)

// settingsGroup are the settings about one thing.
type settingsGroup struct {
	Name     string
	Settings []admin.Setting
}

func (c *Console) settings(v *visit) error {
	var list struct{ Settings []admin.Setting }
	if err := v.get("/settings", nil, &list); err != nil {
		return err
	}
	var groups []settingsGroup
	for _, s := range list.Settings {
		if n := len(groups); n == 0 || groups[n-1].Name != s.Group {
			groups = append(groups, settingsGroup{Name: s.Group})
		}
		g := &groups[len(groups)-1]
		g.Settings = append(g.Settings, s)
	}
	v.page("settings", "nav.settings", http.StatusOK, groups)
	return nil
}

// Help says what a setting does. The API has it in English; the catalog has the
// Chinese.
func (w *view) Help(s admin.Setting) string {
	if w.v.lang == explain.Chinese {
		if text, ok := w.v.c.pages.words.Text(w.v.lang, "help."+s.Key); ok {
			return text
		}
	}
	return s.Help
}
