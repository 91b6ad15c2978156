package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/proxy/admin"
	"hindsight/store/badgerdb"
)

// useCommands goes through the commands on memories and tenants.
func useCommands(t *testing.T, s *shell) {
	t.Helper()
	if out := s.must("memories", "list"); !strings.Contains(out, "No memories") {
		t.Errorf("an empty list: %s", out)
	}
	s.must("memories", "add", "Lives in Oslo.", "--type", "user_fact", "--importance", "0.9")
	s.must("memories", "add", "平时喜欢喝乌龙茶", "--type", "preference", "--standing")
	var page struct {
		Memories []struct{ ID, Text string }
	}
	if err := json.Unmarshal([]byte(s.must("memories", "list", "--json")), &page); err != nil || len(page.Memories) != 2 {
		t.Fatalf("list: %v, %v", page, err)
	}
	oslo := page.Memories[1].ID
	if out := s.must("memories", "list"); !strings.Contains(out, oslo) || !strings.Contains(out, "平时喜欢喝乌龙茶") || strings.Contains(out, "\x1b") {
		t.Errorf("list: %s", out)
	}
	if out := s.must("memories", "list", "--limit", "1"); !strings.Contains(out, "--cursor") {
		t.Errorf("a first page doesn't say how to go on: %s", out)
	}
	if out := s.must("memories", "show", oslo); !strings.Contains(out, "0.90") || !strings.Contains(out, "user:local") {
		t.Errorf("show: %s", out)
	}
	if out := s.must("memories", "search", "Where is Oslo?"); !strings.Contains(out, oslo) || !strings.Contains(out, "importance 0.90") {
		t.Errorf("search: %s", out)
	}
	if out := s.must("memories", "search", "茶", "--type", "user_fact"); !strings.Contains(out, "Nothing found") || !strings.Contains(out, "1 preference") {
		t.Errorf("a search that is filtered: %s", out)
	}
	if out := s.must("tenants", "list"); !strings.Contains(out, "default") || !strings.Contains(out, "2 active") {
		t.Errorf("tenants: %s", out)
	}
	s.must("memories", "forget", oslo)
	if out := s.must("memories", "list"); strings.Contains(out, oslo) {
		t.Errorf("a forgotten memory is listed: %s", out)
	}
	s.must("memories", "restore", oslo)
	if out := s.must("memories", "history", oslo); !strings.Contains(out, "restore") || !strings.Contains(out, "forget") || !strings.Contains(out, "archived") {
		t.Errorf("history: %s", out)
	}
	if out := s.must("memories", "chain", oslo); !strings.Contains(out, "Lives in Oslo.") {
		t.Errorf("chain: %s", out)
	}
	if out := s.must("memories", "restore", oslo, "--revision", "1", "--json"); !strings.Contains(out, `"revision": 4`) {
		t.Errorf("restore a revision: %s", out)
	}
	s.fails(1, []string{"revision", "history"}, "memories", "restore", oslo, "--revision", "9")
	if out := s.must("memories", "stats"); !strings.Contains(out, "2 active") || !strings.Contains(out, "2 up to 1 d") {
		t.Errorf("stats: %s", out)
	}
	s.fails(1, []string{"grants"}, "memories", "promote", oslo, "--to", "shared")
	s.fails(2, []string{"--revision"}, "memories", "restore", oslo, page.Memories[0].ID, "--revision", "1")
	s.must("memories", "forget", page.Memories[0].ID, "--erase")
	s.fails(1, []string{"doesn't exist"}, "memories", "show", page.Memories[0].ID)
	s.must("memories", "forget", oslo)

	s.fails(1, []string{"type", "preference"}, "memories", "add", "x1", "--type", "noise")
	s.fails(1, []string{"importance"}, "memories", "add", "x1", "--type", "event", "--importance", "7")
	s.fails(2, []string{"empty"}, "memories", "forget", "")
	s.fails(2, []string{"empty"}, "memories", "forget", oslo, " ")
	s.fails(1, []string{"scope"}, "memories", "list", "--scope", "ann")
	s.fails(1, []string{"doesn't exist"}, "sessions", "show", "s0")
	s.fails(1, []string{"doesn't exist"}, "sessions", "close", "s0", "--wait", "1s")
	s.fails(1, []string{"same tenant"}, "tenants", "link", "default", "default")
	if out := s.must("sessions", "list"); !strings.Contains(out, "No sessions") {
		t.Errorf("sessions: %s", out)
	}
}

// TestOverTheNetwork has a server whose directory is elsewhere.
func TestOverTheNetwork(t *testing.T) {
	st, err := badgerdb.New(badgerdb.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	// The store isn't opened: the server's memory is off.
	token := filepath.Join(t.TempDir(), admin.TokenName)
	srv := httptest.NewServer(admin.New(admin.Config{Store: st, TokenFile: token, Ready: func() (bool, string, string) { return true, "off", "" }}).Handler())
	defer srv.Close()
	s := newShell(t)
	list := []string{"memories", "list"}
	s.env["HINDSIGHT_ADMIN_LISTEN"] = strings.TrimPrefix(srv.URL, "http://")
	s.fails(1, []string{"refuses the token", "HINDSIGHT_ADMIN_TOKEN"}, list...)
	s.fails(1, []string{"refuses the token"}, append(list, "--admin-token", "0123456789abcdef")...)
	s.fails(1, []string{"memory is off"}, append(list, "--admin-token-file", token)...)
	s.env["HINDSIGHT_ADMIN_TOKEN_FILE"] = token
	s.fails(1, []string{"memory is off"}, list...)
	delete(s.env, "HINDSIGHT_ADMIN_TOKEN_FILE")

	// The token in the data directory is found without being named.
	b, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir(), admin.TokenName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s.fails(1, []string{"memory is off"}, list...)
	s.fails(1, []string{"memory is off"}, append(list, "--admin", srv.URL)...)

	// The server stops: the command's own directory is there and nobody's.
	srv.Close()
	if out := s.must(list...); !strings.Contains(out, "No memories") {
		t.Errorf("after the server: %s", out)
	}
	s.env["HINDSIGHT_DATA_DIR"] = filepath.Join(s.dir(), "none")
	s.fails(1, []string{"can't be reached"}, list...)

	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	s.fails(1, []string{"isn't Hindsight's management API", "8081"}, append(list, "--admin", other.URL)...)
	other.Close()
	s.fails(1, []string{"can't be reached", "hindsight serve"}, append(list, "--admin", other.URL)...)
	s.fails(2, []string{"isn't an address"}, append(list, "--admin", "ftp://x")...)
	s.fails(2, []string{"isn't an address"}, append(list, "--admin", "http://")...)
}

func TestTableFitsTheTerminal(t *testing.T) {
	var out strings.Builder
	a := &app{out: &out, width: 60, color: true}
	rows := [][]string{
		{"m1", "上周三登录接口504超时，解决办法是把网关超时改成30秒，再重启服务。", "user:ann"},
		{"m2", "A sentence that is by far too long for the column that it has to fit into.\nSecond line \x1b[31m", "user:ann"},
	}
	if err := a.printTable([]string{"id", "text", "scope"}, 1, rows); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mID  TEXT                                            SCOPE\x1b[0m\n" +
		"m1  上周三登录接口504超时，解决办法是把网关超时改…  user:ann\n" +
		"m2  A sentence that is by far too long for the co…  user:ann\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}
