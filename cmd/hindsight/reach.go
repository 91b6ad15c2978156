package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hindsight/proxy/admin"
)

// reach says which Hindsight a command is for.
type reach struct {
	DataDir   setting `name:"data-dir" key:"data_dir" group:"reach" placeholder:"PATH" help:"The server's data directory."`
	Admin     string  `name:"admin" group:"reach" placeholder:"URL" help:"The management API's address, where it isn't of this machine."`
	Token     setting `name:"admin-token" key:"admin.token" group:"reach" placeholder:"TOKEN" help:"Its bearer token."`
	TokenFile setting `name:"admin-token-file" key:"admin.token_file" group:"reach" placeholder:"PATH" help:"A file with it."`
	Tenant    string  `name:"tenant" group:"reach" placeholder:"NAME" help:"The tenant, where there are several."`
}

// query holds the tenant, where one is named.
func (r reach) query() url.Values {
	q := url.Values{}
	put(q, "tenant", r.Tenant)
	return q
}

// put sets a query parameter unless it is empty.
func put(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// config is what the command's own process is configured with.
func (r reach) config(a *app) (Config, error) {
	return load(settings{DataDir: r.DataDir, AdminToken: r.Token, AdminTokFile: r.TokenFile}, a.config, a.env, false)
}

// client finds the way to the memory: the address that was named; else the
// socket of whoever holds the data directory; else the configured address of
// the management API, if something listens there and no flag names a directory
// that is another's; else the directory itself. Close the client when done.
func (a *app) client(ctx context.Context, r reach) (*client, error) {
	cfg, err := r.config(a)
	if err != nil {
		return nil, err
	}
	if r.Admin != "" {
		return remote(cfg, r.Admin)
	}
	c, err := ownerClient(ctx, cfg.Store.Dir)
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	_, missing := os.Stat(cfg.Store.Dir)
	if cfg.Admin.Chosen && (missing != nil || !r.DataDir.given() && listening(ctx, cfg.Admin.Listen)) {
		return remote(cfg, adminBase(cfg))
	}
	return a.openDirectory(ctx, cfg)
}

// listening says whether anything answers at a listen address: the server's
// environment is often that of the command too, while the server is stopped.
func listening(ctx context.Context, listen string) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", dialable(listen))
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was said on it
	return true
}

// adminBase is the management API's address as seen from this machine.
func adminBase(cfg Config) string { return scheme(cfg.Admin.CertFile) + dialable(cfg.Admin.Listen) }

// dialable is a listen address as seen from this machine.
func dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// withScheme is the management API's address as a URL.
func withScheme(cfg Config, address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return scheme(cfg.Admin.CertFile) + address
}

// remote is a client over TCP. The token is the configured one, else the one in
// the data directory.
func remote(cfg Config, address string) (*client, error) {
	address = withScheme(cfg, address)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &failure{wrong: fmt.Sprintf("--admin %q isn't an address", address), next: "Write it like http://127.0.0.1:8081.", code: exitUsage}
	}
	token := cfg.Admin.Token
	if token == "" {
		file := filepath.Join(cfg.Store.Dir, admin.TokenName)
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &failure{wrong: fmt.Sprintf("the admin token in %s can't be read: %s", file, cause(err)), next: "Run the command as the server's user, or give the token with --admin-token-file or HINDSIGHT_ADMIN_TOKEN."}
		}
		token = strings.TrimSpace(string(b))
	}
	transport, err := trusting(cfg)
	if err != nil {
		return nil, err
	}
	return &client{
		http: &http.Client{Transport: transport}, base: u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/"),
		token: token, where: u.Scheme + "://" + u.Host, close: func() error { return nil },
	}, nil
}
