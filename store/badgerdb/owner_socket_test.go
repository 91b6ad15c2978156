package badgerdb

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnerSocket(t *testing.T) {
	for name, dir := range map[string]string{
		"short": must[string](t)(os.MkdirTemp("", "h")),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("d", 100)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", must[string](t)(os.MkdirTemp("", "run")))
			t.Cleanup(func() { _, _ = os.RemoveAll(dir), os.RemoveAll(os.Getenv("XDG_RUNTIME_DIR")) })
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := DialOwner(t.Context(), dir); err == nil {
				t.Fatal("somebody answers in an empty directory")
			}
			for range 2 { // the second time over what a killed owner left
				l := must[net.Listener](t)(ListenOwner(dir))
				path := l.Addr().String()
				if fi := must[os.FileInfo](t)(os.Stat(path)); fi.Mode().Perm() != 0o600 {
					t.Errorf("the socket has mode %o", fi.Mode().Perm())
				}
				if fi := must[os.FileInfo](t)(os.Stat(filepath.Dir(path))); fi.Mode().Perm() != 0o700 {
					t.Errorf("its directory has mode %o", fi.Mode().Perm())
				}
				l.(*ownerListener).Listener.(*net.UnixListener).SetUnlinkOnClose(false)
				go func() {
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						_, _ = c.Write([]byte("owner"))
						_ = c.Close()
					}
				}()
				c := must[net.Conn](t)(DialOwner(t.Context(), dir))
				if got := must[[]byte](t)(io.ReadAll(c)); string(got) != "owner" {
					t.Errorf("the owner says %q", got)
				}
				if _, err := ListenOwner(dir); err == nil {
					t.Error("two owners listen")
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
