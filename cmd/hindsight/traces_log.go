package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// told says in our log that spans aren't taken, once for each time that it
// begins, and that they are taken again.
type told struct {
	sdktrace.SpanExporter
	log     *slog.Logger
	failing atomic.Bool
}

// ExportSpans exports. Its failure is told here and to nobody else.
func (t *told) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	switch failing := err != nil; {
	case t.failing.Swap(failing) == failing:
	case failing:
		t.log.Warn("traces are lost: the collector doesn't take them; see OTEL_EXPORTER_OTLP_ENDPOINT", "error", unsent(err))
	default:
		t.log.Info("traces are taken again")
	}
	return nil
}

// unsent is why spans weren't taken, without what the collector answered and
// without the address, which may hold a key.
func unsent(err error) string {
	var network *net.OpError
	switch {
	case errors.As(err, &network):
		return network.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return "it was refused"
}

// reportTo has OpenTelemetry's own findings, about its variables for instance,
// come to log instead of Go's standard log. The library has one place for that
// in a process. What it found them in stays out: that may be a key.
func reportTo(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {
		log.Warn("OpenTelemetry can't use one of its settings or lost spans; see the variables OTEL_…")
	}))
	otel.SetLogger(logr.New(findings{log}))
}

// findings takes what OpenTelemetry logs.
type findings struct{ log *slog.Logger }

var _ logr.LogSink = findings{}

// Init does nothing.
func (findings) Init(logr.RuntimeInfo) {}

// Enabled lets only errors through.
func (findings) Enabled(int) bool { return false }

// Info isn't asked for.
func (findings) Info(int, string, ...any) {}

// Error logs what was being done.
func (f findings) Error(_ error, doing string, _ ...any) {
	f.log.Warn("OpenTelemetry can't use one of its settings; see the variables OTEL_…", "doing", doing)
}

// WithValues adds nothing.
func (f findings) WithValues(...any) logr.LogSink { return f }

// WithName adds nothing.
func (f findings) WithName(string) logr.LogSink { return f }
