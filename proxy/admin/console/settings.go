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

// Help says what a setting does. The API has it in English; a setting whose
// Chinese isn't there yet says it so too.
func (w *view) Help(s admin.Setting) string {
	if text := w.v.c.pages.help[s.Key]; text != "" && w.v.lang == explain.Chinese {
		return text
	}
	return s.Help
}
