package badgerdb

import (
	"log/slog"
	"strings"
	"testing"

	"hindsight/store"
)

// lines hands out what is logged.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default: // nobody waits for so many
	}
	return len(b), nil
}

// What is erased while somebody reads isn't said to have left the files before it
// has: a merge keeps it for the reader.
func TestErasedWordsThatSomebodyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logged := make(lines, 100)
	s := open(t, Config{Dir: dir, Log: slog.New(slog.NewTextHandler(logged, nil))})
	m := put(t, s.Store, written("The user is a "+word+"."))
	state := func() store.ErasureState {
		return must[store.Receipt](t)(s.Erasure(t.Context(), m.Tenant, m.Scope, m.ID)).State
	}
	err := s.view(func(view) error {
		must[store.Receipt](t)(s.EraseMemory(t.Context(), m.ID))
		until(t, "a squeeze was tried", func() bool {
			select {
			case line := <-logged:
				return strings.Contains(line, errStillRead.Error())
			default:
				return false
			}
		})
		if s.cfg.EncryptionKeyFile == "" { // not at once: another squeeze may put one file in another's place meanwhile
			until(t, "the words stand in a file", func() bool { return fileWith(t, dir) != "" })
		}
		if state() == store.ErasureDone {
			t.Error("done beside a reader")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.squeezeSoon()
	until(t, "its bytes have left the files", func() bool { return state() == store.ErasureDone })
	if in := fileWith(t, dir); in != "" {
		t.Errorf("done, and the words stand in %s", in)
	}
}
