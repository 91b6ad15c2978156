package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

type healthOutput struct {
	Body struct {
		Status string `json:"status" example:"ok"`
	}
}

type readyOutput struct {
	Status int
	Body   struct {
		Ready  bool   `json:"ready" doc:"Whether requests can be forwarded: false only while starting or draining."`
		Memory string `json:"memory" enum:"on,degraded,off"`
		Reason string `json:"reason" doc:"Why memory isn't on."`
	}
}

func (a *API) health(api huma.API) {
	route(api, "healthz", http.MethodGet, "/healthz", "Is the process alive", func(context.Context, *struct{}) (*healthOutput, error) {
		out := &healthOutput{}
		out.Body.Status = "ok"
		return out, nil
	}, open)
	route(api, "readyz", http.MethodGet, "/readyz", "Can requests be forwarded", func(context.Context, *struct{}) (*readyOutput, error) {
		out := &readyOutput{Status: http.StatusOK}
		out.Body.Ready, out.Body.Memory, out.Body.Reason = a.cfg.Ready()
		if !out.Body.Ready {
			out.Status = http.StatusServiceUnavailable
		}
		return out, nil
	}, open, also(http.StatusServiceUnavailable, "Starting or draining."))
}
