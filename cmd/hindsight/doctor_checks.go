package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
)

const (
	doctorPatience = 5 * time.Second
	// maxSkew is how far this machine's clock may be off before "yesterday"
	// means another day.
	maxSkew = 5 * time.Minute
	// lowSpace is the free space below which the store stops recording.
	lowSpace = 128 << 20
)

// checkUpstream asks the upstream for its models. Any answer means that it can
// be reached; its Date header tells whether the clocks agree.
func checkUpstream(ctx context.Context, cfg Config) []check {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	u := modelsURL(cfg.Upstream.Base)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return []check{{"upstream", checkFail, err.Error(), "Correct LLM_API_BASE."}}
	}
	if cfg.Upstream.Key != "" {
		req.Header.Set("Authorization", "Bearer "+cfg.Upstream.Key)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // no redirects: the proxy follows none either
	if err != nil {
		return []check{{"upstream", checkFail, fmt.Sprintf("GET %s: %v", u, err), "Check the address in LLM_API_BASE, the network and HTTPS_PROXY."}}
	}
	_ = resp.Body.Close() // the head says it all
	found := fmt.Sprintf("GET %s answers %s", u, resp.Status)
	c := check{"upstream", checkOK, found, ""}
	switch denied := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden; {
	case denied:
		c.Found += "; it can be reached and wants a key"
	case resp.StatusCode >= 500:
		c.Result, c.Next = checkWarn, "The upstream has a problem of its own; try again later."
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		c.Result, c.Next = checkWarn, "The upstream redirects; set LLM_API_BASE to where it leads: "+resp.Header.Get("Location")
	case resp.StatusCode == http.StatusNotFound:
		c.Result, c.Next = checkWarn, "Something answers, but it lists no models; check the path in LLM_API_BASE."
	}
	out := []check{c}
	out = append(out, checkKey(cfg, resp.StatusCode))
	if sent, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		skew := time.Since(sent).Round(time.Second).Abs()
		clock := check{"clock", checkOK, fmt.Sprintf("this machine's and the upstream's agree to %v", max(skew, time.Second)), ""}
		if skew > maxSkew {
			clock = check{"clock", checkWarn, fmt.Sprintf("this machine's clock and the upstream's differ by %v", skew), "Set the clock (NTP); memories of \"yesterday\" depend on it."}
		}
		out = append(out, clock)
	}
	return out
}

// modelsURL is the upstream's list of models: one /v1 whether or not the base
// has it.
func modelsURL(base *url.URL) string {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") + "/v1/models"
	u.RawPath = ""
	return u.String()
}

// checkKey says what the upstream made of LLM_API_KEY.
func checkKey(cfg Config, status int) check {
	denied := status == http.StatusUnauthorized || status == http.StatusForbidden
	switch {
	case cfg.Upstream.Key == "" && cfg.Auth.Mode == "keys": // a configuration with a problem says so
		return check{"key", checkFail, "callers show Hindsight keys, and there is none for the upstream", "Set LLM_API_KEY."}
	case cfg.Upstream.Key == "":
		return check{"key", checkOK, "LLM_API_KEY isn't set: the callers bring theirs", ""}
	case denied:
		return check{"key", checkFail, "the upstream refuses LLM_API_KEY", "Set the right key."}
	case status/100 == 2:
		return check{"key", checkOK, "the upstream takes LLM_API_KEY", ""}
	}
	return check{"key", checkWarn, "whether the upstream takes LLM_API_KEY can't be told from its answer", "Mend what is said of the upstream first."}
}

func checkIdentity(cfg Config) check {
	name := "identity"
	switch id := cfg.Identity; {
	case cfg.Auth.Mode == "keys":
		return check{name, checkOK, fmt.Sprintf("callers show one of %d Hindsight keys", len(cfg.Auth.Keys)), ""}
	case id.Tenant != "" && !loopback(cfg.Listen):
		return check{name, checkFail, fmt.Sprintf("%s is open and everyone on it is tenant %q: whoever reaches it can name any user", cfg.Listen, id.Tenant), "Set auth.mode: keys, or listen on loopback, or leave HINDSIGHT_TENANT out so that each credential is its own tenant."}
	case id.Tenant != "":
		return check{name, checkOK, fmt.Sprintf("tenant %q on a loopback listener", id.Tenant), ""}
	case id.Implied:
		return check{name, checkOK, fmt.Sprintf("the first credential is tenant %q, every other one its own", impliedTenant), ""}
	}
	return check{name, checkOK, "each credential is its own tenant; tokens that expire get no memory", ""}
}

// checkManagement says who reaches the management API, and how.
func checkManagement(cfg Config) check {
	name := "management"
	switch at := adminBase(cfg); {
	case cfg.Admin.CertFile != "":
		return check{name, checkOK, at + ", with TLS", ""}
	case loopback(cfg.Admin.Listen):
		return check{name, checkOK, at + ", for this machine alone", ""}
	default:
		return check{name, checkWarn, cfg.Admin.Listen + " is open and speaks plain HTTP: its token, and every memory, can be read on the way", "Set HINDSIGHT_ADMIN_TLS_CERT_FILE and HINDSIGHT_ADMIN_TLS_KEY_FILE, or listen on loopback."}
	}
}

func checkUser(cfg Config) check {
	name := "user"
	switch id := cfg.Identity; {
	case id.User != "":
		return check{name, checkOK, fmt.Sprintf("requests that name no user are those of %q", id.User), ""}
	case id.Implied:
		return check{name, checkOK, fmt.Sprintf("requests that name no user are those of %q until a second person shows", impliedUser), ""}
	}
	return check{name, checkWarn, "requests that name no user get no memory (no_user)", "Have the application send Hindsight-User, or set HINDSIGHT_DEFAULT_USER if one person alone uses it."}
}

// checkDirectory looks at the data directory; it leaves nothing behind there.
func checkDirectory(ctx context.Context, cfg Config) check {
	name, dir := "data", cfg.Store.Dir
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(dir)
		for parent != filepath.Dir(parent) {
			if _, err := os.Stat(parent); err == nil {
				break
			}
			parent = filepath.Dir(parent)
		}
		if !writable(parent) {
			return check{name, checkFail, fmt.Sprintf("%s isn't there and can't be made", dir), "Make it for this user, or set HINDSIGHT_DATA_DIR."}
		}
		return check{name, checkOK, dir + " will be made at the first start", ""}
	}
	switch {
	case err != nil:
		return check{name, checkFail, fmt.Sprintf("%s: %s", dir, cause(err)), "Make it readable for this user, or set HINDSIGHT_DATA_DIR."}
	case !st.IsDir():
		return check{name, checkFail, dir + " isn't a directory", "Move the file away, or set HINDSIGHT_DATA_DIR."}
	case !writable(dir):
		return check{name, checkFail, dir + " can't be written to", "Give it to this user, or set HINDSIGHT_DATA_DIR."}
	}
	found := dir
	if free, err := freeSpace(dir); err == nil {
		found += fmt.Sprintf(", %d MiB free", free>>20)
		if free < lowSpace {
			return check{name, checkFail, found, "Make room: below 128 MiB nothing is recorded."}
		}
	}
	if c, err := ownerClient(ctx, dir); err == nil {
		_ = c.close() // nothing was asked of it
		found += ", held by a running Hindsight"
	} else if err := badgerdb.Examine(directoryOf(cfg)); err == nil {
		found += ", held by nobody"
	} else if what, next, held := reasonOf(err); held {
		return check{name, checkWarn, what, next}
	} else {
		return check{name, checkFail, what, next}
	}
	if lost, path := lastLost(dir); lost != "" {
		return check{name, checkWarn, fmt.Sprintf("%s; damage was found: %s", found, lost), "Restore a backup (hindsight restore) where something is missing, then remove " + path + "."}
	}
	if st.Mode().Perm()&0o077 != 0 {
		return check{name, checkWarn, fmt.Sprintf("%s, mode %04o: others can look into it", found, st.Mode().Perm()), "chmod 700 " + dir}
	}
	return check{name, checkOK, found, ""}
}

// reasonOf cuts what a store says of itself, "what is wrong: what to do", in two.
func reasonOf(err error) (what, next string, held bool) {
	what = err.Error()
	var off *store.Off
	if errors.As(err, &off) {
		what, held = off.Reason, off.Held
	}
	if i := strings.LastIndex(what, ": "); i >= 0 {
		what, next = what[:i], what[i+2:]
		next = strings.ToUpper(next[:1]) + next[1:] + "."
	}
	return what, next, held
}

// lastLost is the last that an opening of the directory found to be lost, and the
// file that says so.
func lastLost(dir string) (what, path string) {
	path = filepath.Join(dir, badgerdb.DamageName)
	b, err := os.ReadFile(path)
	if err != nil {
		return "", path
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1], path
}

// writable says whether this user can make a file in dir.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return os.Remove(f.Name()) == nil
}

func checkZone(cfg Config) check {
	now := time.Now().In(cfg.Zone)
	return check{"time zone", checkOK, fmt.Sprintf("%s, now %s; users who send none live there", cfg.Zone, now.Format("2006-01-02 15:04 -07:00")), ""}
}
