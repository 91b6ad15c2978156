package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Setting is one setting as it is in force. A secret's value is never in it.
type Setting struct {
	Key    string `json:"key" doc:"Its name in the configuration file." example:"inject.tokens"`
	Group  string `json:"group" doc:"What it is about." example:"injection"`
	Help   string `json:"help"`
	Value  string `json:"value" doc:"Empty for a secret and for what isn't set."`
	From   string `json:"from" doc:"The flag, the variable or the line of the file that gave it; empty: the default."`
	Secret bool   `json:"secret" doc:"Whether the value is kept back."`
	Set    bool   `json:"set" doc:"Whether there is a value."`
}

func (a *API) settings(api huma.API) {
	route(api, "settings", http.MethodGet, base+"/settings", "The settings in force, without secrets", a.getSettings)
}

type settingsOutput struct {
	Body struct {
		Settings []Setting `json:"settings" nullable:"false"`
	}
}

func (a *API) getSettings(context.Context, *struct{}) (*settingsOutput, error) {
	out := &settingsOutput{}
	out.Body.Settings = append([]Setting{}, a.cfg.Settings...)
	return out, nil
}
