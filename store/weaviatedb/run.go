package weaviatedb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/fault"
	"github.com/weaviate/weaviate/entities/models"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Run connects and keeps State true to life until ctx ends.
func (d *DB) Run(ctx context.Context) error {
	tick := time.NewTicker(d.cfg.Probe)
	defer tick.Stop()
	for {
		d.look(ctx)
		if d.cfg.Layout == LayoutIsolated {
			d.cool(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-d.wake:
			// Once more at the next tick: a server that hangs isn't asked in a loop.
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

// look asks the server how it is, and where it was gone, everything.
func (d *DB) look(ctx context.Context) {
	on, _ := d.State()
	err := d.alive(ctx)
	if err == nil && !on {
		err = d.Check(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if f := (*errForeign)(nil); errors.As(err, &f) || err == nil {
		d.mu.Lock()
		d.strange = reason
		d.mu.Unlock()
	}
	if !d.set(reason) {
		return
	}
	if err != nil {
		d.cfg.Log.Warn("the shared memory can't be used", "reason", reason)
		return
	}
	d.cfg.Log.Info("the shared memory is in use", "url", d.base.Redacted(), "collection", d.memories(), "layout", d.cfg.Layout)
}

// Check looks at everything that must hold before the shared memory may be used:
// the server is reached, is new enough, has the collections in the right form
// (they are made where they are missing), answers over gRPC, and belongs to the
// fleet of this identity key. Run calls it.
func (d *DB) Check(ctx context.Context) error {
	client, _, err := d.reached(ctx)
	if err != nil {
		return err
	}
	for _, want := range []*models.Class{memoryForm(d.memories(), d.cfg.VectorIndex), stateForm(d.state())} {
		if err := d.ensure(ctx, client, want); err != nil {
			return err
		}
	}
	return d.sameFleet(ctx)
}

// Findings are what a look at the server found.
type Findings struct {
	Version string
	// Missing says that the collections will be made by the first who connects.
	Missing bool
	// Tenants of the memories' collection, and how many of them are open: each open
	// one costs the server about OpenCosts descriptors.
	Tenants, Open int
}

// OpenCosts is how many descriptors an open tenant costs the server.
const OpenCosts = 12

// Look is Check for somebody who only wants to know: it makes and writes nothing.
func (d *DB) Look(ctx context.Context) (f Findings, err error) {
	client, version, err := d.reached(ctx)
	if err != nil {
		return f, err
	}
	f.Version = version
	for _, want := range []*models.Class{memoryForm(d.memories(), d.cfg.VectorIndex), stateForm(d.state())} {
		call, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
		have, err := client.Schema().ClassGetter().WithClassName(want.Class).Do(call)
		cancel()
		if refused(err) == http.StatusNotFound {
			f.Missing = true
			continue
		}
		if err != nil {
			return f, fmt.Errorf("read collection %s: %w", want.Class, plain(err))
		}
		if err := fits(have, want); err != nil {
			return f, err
		}
	}
	if f.Missing {
		return f, nil
	}
	var theirs string
	if ok, err := d.fact(ctx, metaIdentity, &theirs); err != nil {
		return f, err
	} else if ok && theirs != d.Fingerprint() {
		return f, d.otherFleet(theirs)
	}
	call, cancel := context.WithTimeout(ctx, moving)
	defer cancel()
	list, err := client.Schema().TenantsGetter().WithClassName(d.memories()).Do(call)
	if err != nil {
		return f, fmt.Errorf("list the tenants of %s: %w", d.memories(), plain(err))
	}
	f.Tenants = len(list)
	for _, t := range list {
		if t.ActivityStatus == models.TenantActivityStatusHOT || t.ActivityStatus == models.TenantActivityStatusACTIVE {
			f.Open++
		}
	}
	return f, nil
}

// reached asks whether the server is there and new enough.
func (d *DB) reached(ctx context.Context) (*weaviate.Client, string, error) {
	if err := d.alive(ctx); err != nil {
		return nil, "", err
	}
	client, err := d.connect()
	if err != nil {
		return nil, "", err
	}
	version, err := d.Version(ctx)
	if err != nil {
		return nil, "", err
	}
	if tooOld(version) {
		return nil, version, fmt.Errorf("Weaviate %s is too old: this needs %d.%d or later", version, leastMajor, leastMinor)
	}
	return client, version, nil
}

// alive asks whether the server is ready.
func (d *DB) alive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	res, err := d.get(ctx, "/v1/.well-known/ready")
	if err != nil {
		return fmt.Errorf("Weaviate at %s can't be reached: %w", d.base.Host, plain(err))
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("Weaviate at %s isn't ready: HTTP %d", d.base.Host, res.StatusCode)
	}
	return nil
}

func (d *DB) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base.Scheme+"://"+d.base.Host+path, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range d.headers() {
		req.Header.Set(k, v)
	}
	return d.http.Do(req)
}

func (d *DB) headers() map[string]string {
	if d.cfg.APIKey == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + d.cfg.APIKey}
}

// connect makes the client, once: to make one asks the server for its version
// without a context, and one that is let go of blocks the finalizers of the
// process (client v4.16.1, connection.finalizer).
func (d *DB) connect() (*weaviate.Client, error) {
	d.mu.Lock()
	client := d.client
	d.mu.Unlock()
	if client != nil {
		return client, nil
	}
	client, err := weaviate.NewClient(weaviate.Config{Host: d.base.Host, Scheme: d.base.Scheme, ConnectionClient: d.http, Headers: d.headers(), Timeout: d.cfg.Timeout})
	if err != nil {
		return nil, fmt.Errorf("connect to Weaviate: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil {
		d.client = client
	}
	return d.client, nil
}

// The oldest Weaviate that has what is used here: tenants that are made and
// opened by whoever uses them.
const leastMajor, leastMinor = 1, 27

func tooOld(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil {
		return false
	}
	return a < leastMajor || a == leastMajor && b < leastMinor
}

// Version is the server's.
func (d *DB) Version(ctx context.Context) (string, error) {
	client, err := d.connect()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	meta, err := client.Misc().MetaGetter().Do(ctx)
	if err != nil {
		return "", fmt.Errorf("ask Weaviate for its version: %w", plain(err))
	}
	return meta.Version, nil
}

// lost says whether an error means that the server can't be reached or doesn't
// answer, and not that it said no.
func lost(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded:
		return true
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) {
		return true
	}
	var rest *fault.WeaviateClientError
	return errors.As(err, &rest) && !rest.IsUnexpectedStatusCode
}

// refused is Weaviate's HTTP status, 0 where there is none.
func refused(err error) int {
	var rest *fault.WeaviateClientError
	if errors.As(err, &rest) && rest.IsUnexpectedStatusCode {
		return rest.StatusCode
	}
	return 0
}

// plain is the error inside those of the client, which say "check the
// DerivedFromError field" to people, with what to do where that is known.
func plain(err error) error {
	if cert := (*tls.CertificateVerificationError)(nil); errors.As(err, &cert) {
		return fmt.Errorf("its certificate isn't trusted, so name the file of its authority in SSL_CERT_FILE: %w", cert)
	}
	var rest *fault.WeaviateClientError
	if !errors.As(err, &rest) {
		return err
	}
	if rest.DerivedFromError != nil {
		return rest.DerivedFromError
	}
	switch rest.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("it doesn't know the key (HTTP %d): set WEAVIATE_API_KEY to one of its own", rest.StatusCode)
	case http.StatusForbidden:
		return fmt.Errorf("the key in WEAVIATE_API_KEY may not do this (HTTP %d): %s", rest.StatusCode, clip(rest.Msg))
	}
	return fmt.Errorf("HTTP %d: %s", rest.StatusCode, clip(rest.Msg))
}

// clip keeps what Weaviate says to a length that a log line bears.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
