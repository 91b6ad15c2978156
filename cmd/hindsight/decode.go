package main

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hindsight/store/badgerdb"
)

// decoder gives raw values their types. An empty value is one that was not
// given and has no default; it decodes to the zero value.
type decoder struct{ ps *problems }

func (d decoder) url(s setting) *url.URL {
	if s.raw == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(s.raw))
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		d.ps.add(s, "isn't a URL with scheme and host", "Write it like https://api.openai.com/v1.")
	case u.Scheme != "http" && u.Scheme != "https":
		d.ps.add(s, "has a scheme other than http and https", "Write it like https://api.openai.com/v1.")
	case u.User != nil:
		s.secret = true // the value holds a password
		d.ps.add(s, "holds a user or password", "Leave them out; the key goes into the key's own setting.")
	case u.RawQuery != "" || u.Fragment != "":
		d.ps.add(s, "holds a query or fragment", "Leave off everything from ? or # on.")
	default:
		return u
	}
	return nil
}

func (d decoder) address(s setting) string {
	if s.raw == "" {
		return ""
	}
	_, port, err := net.SplitHostPort(s.raw)
	if err != nil {
		d.ps.add(s, "isn't an address", "Write host and port, such as 127.0.0.1:8080 or [::1]:8080.")
		return ""
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		d.ps.add(s, "has no port from 0 to 65535", "Write host and port, such as 127.0.0.1:8080.")
		return ""
	}
	return s.raw
}

func (d decoder) word(s setting, words ...string) string {
	if !slices.Contains(words, s.raw) {
		d.ps.add(s, "isn't one of "+strings.Join(words, ", "), "Choose one of them.")
	}
	return s.raw
}

func (d decoder) bool(s setting) bool {
	b, err := strconv.ParseBool(s.raw)
	if err != nil {
		d.ps.add(s, "is neither true nor false", "Write true or false.")
	}
	return b
}

func (d decoder) number(s setting, low, high int) int {
	n, err := strconv.Atoi(s.raw)
	if err != nil || n < low || n > high {
		d.ps.add(s, fmt.Sprintf("isn't a whole number from %d to %d", low, high), fmt.Sprintf("Write a number such as %d.", max(low, min(high, 5))))
	}
	return n
}

// portion reads a part of something; more than all of it is possible.
func (d decoder) portion(s setting) float64 {
	f, err := strconv.ParseFloat(s.raw, 64)
	if err != nil || !(f >= 0 && f <= 100) {
		d.ps.add(s, "isn't a share from 0 to 100", "Write a number such as 0.1 for a tenth.")
	}
	return f
}

func (d decoder) duration(s setting, low, high time.Duration) time.Duration {
	t, err := time.ParseDuration(s.raw)
	if err != nil {
		d.ps.add(s, "isn't a duration", "Write a number with its unit, such as 150ms, 10s, 10m or 1h30m.")
	} else if t < low || t > high {
		d.ps.add(s, fmt.Sprintf("lies outside %v to %v", low, high), "Choose a value between them.")
	}
	return t
}

// size reads bytes with a binary or decimal unit.
func (d decoder) size(s setting) int64 {
	units := map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9}
	text := strings.ToLower(strings.TrimSpace(s.raw))
	digits := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r == ' ' })
	n, err := strconv.ParseFloat(digits, 64)
	unit, ok := units[strings.TrimSpace(text[len(digits):])]
	switch bytes := n * unit; {
	case err != nil || !ok || math.IsNaN(bytes):
		d.ps.add(s, "isn't a size", "Write a number with its unit, such as 64MiB.")
	case bytes < 1<<10 || bytes > 1<<40:
		d.ps.add(s, "lies outside 1KiB to 1TiB", "Choose a value between them.")
	default:
		return int64(bytes)
	}
	return 0
}

func (d decoder) zone(s setting, env environ) *time.Location {
	if s.raw == "" {
		return systemZone(env)
	}
	loc, err := time.LoadLocation(s.raw)
	if err != nil {
		d.ps.add(s, "isn't a time zone", "Write an IANA name, such as Europe/Berlin, Asia/Shanghai or UTC.")
		return time.Local
	}
	return loc
}

// systemZone is the machine's zone by its IANA name, which goes into records
// that another machine may read; "Local" would mean another zone there.
func systemZone(env environ) *time.Location {
	name := strings.TrimPrefix(env.get("TZ"), ":")
	if name == "" {
		target, err := os.Readlink("/etc/localtime")
		if err != nil {
			return time.UTC
		}
		_, name, _ = strings.Cut(target, "zoneinfo/")
	}
	if loc, err := time.LoadLocation(name); err == nil {
		return loc
	}
	return time.Local
}

func (d decoder) level(s setting) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(d.word(s, "debug", "info", "warn", "error"))); err != nil {
		return slog.LevelInfo
	}
	return l
}

// token checks a secret: one word of at least least characters. A line break in
// a header value would end up in somebody's request.
func (d decoder) token(s setting, least int) string {
	if s.raw == "" {
		return ""
	}
	v := strings.TrimSpace(s.raw)
	if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }) {
		d.ps.add(s, "holds spaces, line breaks or characters outside ASCII", "Give the secret alone, on one line.")
	} else if len(v) < least {
		d.ps.add(s, fmt.Sprintf("is shorter than %d characters", least), "Make a longer one, for example with: openssl rand -hex 32.")
	}
	return v
}

// maxName is the length of a tenant's or user's name in bytes.
const maxName = 200

// name checks a tenant or user.
func (d decoder) name(s setting) string {
	switch {
	case s.raw == "":
	case len(s.raw) > maxName:
		d.ps.add(s, fmt.Sprintf("is longer than %d bytes", maxName), "Choose a shorter name.")
	case strings.ContainsFunc(s.raw, unicode.IsControl) || strings.TrimSpace(s.raw) != s.raw:
		d.ps.add(s, "holds control characters or spaces at an end", "Choose a plain name.")
	case strings.Contains(s.raw, "{{") || strings.Contains(s.raw, "}}") || strings.Contains(s.raw, "${"):
		d.ps.add(s, "is a template that nobody filled in", "Write the name itself.")
	}
	return s.raw
}

// hosts checks the names that the management API may be called by.
func (d decoder) hosts(s setting) []string {
	hosts := d.strings(s)
	for i, h := range hosts {
		hosts[i] = strings.ToLower(h)
		if h == "" || strings.ContainsAny(h, "/ @*") {
			d.ps.add(s, fmt.Sprintf("holds %q, which isn't a host name", h), "Write names as they stand in a URL, without scheme and path: memory.example.com.")
		}
	}
	return hosts
}

// file checks that a file can be read.
func (d decoder) file(s setting) string {
	if s.raw == "" {
		return ""
	}
	f, err := os.Open(s.raw)
	if err != nil {
		d.ps.add(s, "can't be read ("+cause(err)+")", "Name a file that this user may read.")
		return ""
	}
	_ = f.Close() // nothing was read
	if st, err := os.Stat(s.raw); err == nil && st.IsDir() {
		d.ps.add(s, "is a directory", "Name a file.")
	}
	return s.raw
}

// encryptionKey is a file that holds a key of a length that fits.
func (d decoder) encryptionKey(s setting) string {
	path := d.file(s)
	if path == "" {
		return ""
	}
	if _, err := badgerdb.EncryptionKey(path); err != nil {
		d.ps.add(s, "doesn't hold 16, 24 or 32 bytes", "Make one with: openssl rand -out FILE 32.")
	}
	return path
}

// dataDir is where everything is kept: as configured, else the XDG place.
func dataDir(s setting, env environ) string {
	if rest, ok := strings.CutPrefix(s.raw, "~/"); ok && env.home != "" {
		return filepath.Join(env.home, rest)
	}
	if s.raw != "" {
		return filepath.Clean(s.raw)
	}
	if x := env.get("XDG_DATA_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "hindsight")
	}
	return filepath.Join(env.home, ".local", "share", "hindsight")
}
