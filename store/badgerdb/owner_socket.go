package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Whoever owns a data directory listens on a socket in it, so that every later
// command reaches the process that has the store open. What is spoken on it is
// for the caller to say.

// ownerSocket is the socket in the data directory; socketName names a file
// that holds its path where that would be too long for the system.
const (
	ownerSocket = "owner.sock"
	socketName  = "socket"
	longest     = 100 // bytes of a socket's path
)

// ListenOwner listens for other processes of the same user. Only the process
// that has the store open may call it. The error says that another one answers.
// Closing the listener removes the socket.
func ListenOwner(dir string) (net.Listener, error) {
	if c, err := DialOwner(context.Background(), dir); err == nil {
		return nil, errors.Join(fmt.Errorf("listen for other commands: another hindsight answers in %s", dir), c.Close())
	}
	path, err := placeSocket(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for other commands: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for other commands: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("close the owner's socket to others: %w", err), l.Close())
	}
	return &ownerListener{Listener: l}, nil
}

// placeSocket finds where the socket goes and removes one of an earlier life.
func placeSocket(dir string) (string, error) {
	path := filepath.Join(dir, ownerSocket)
	note := filepath.Join(dir, socketName)
	if len(path) <= longest {
		return path, errors.Join(gone(path), gone(note))
	}
	if old, err := os.ReadFile(note); err == nil {
		// A directory that we made holds nothing but the socket.
		if d := filepath.Dir(strings.TrimSpace(string(old))); strings.HasPrefix(filepath.Base(d), "hindsight-") {
			if err := errors.Join(gone(filepath.Join(d, ownerSocket)), gone(d)); err != nil {
				return "", err
			}
		}
	}
	base := os.Getenv("XDG_RUNTIME_DIR")
	if len(base) > longest-40 {
		base = ""
	}
	made, err := os.MkdirTemp(base, "hindsight-") // 0700
	if err != nil && base != "" {
		made, err = os.MkdirTemp("", "hindsight-")
	}
	if err != nil {
		return "", fmt.Errorf("place the owner's socket: %w", err)
	}
	path = filepath.Join(made, ownerSocket)
	if err := os.WriteFile(note, []byte(path+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("note the owner's socket: %w", err)
	}
	return path, nil
}

func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// DialOwner connects to the process that owns a data directory. The error says
// that none answers, or one of another user.
func DialOwner(ctx context.Context, dir string) (net.Conn, error) {
	path := filepath.Join(dir, ownerSocket)
	if len(path) > longest {
		b, err := os.ReadFile(filepath.Join(dir, socketName))
		if err != nil {
			return nil, fmt.Errorf("find the owner of %s: %w", dir, err)
		}
		path = strings.TrimSpace(string(b))
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("reach the owner of %s: %w", dir, err)
	}
	if err := samePeer(c); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the owner of %s: %w", dir, err), c.Close())
	}
	return c, nil
}

// ownerListener lets in only processes of the same user.
type ownerListener struct{ net.Listener }

func (l *ownerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if samePeer(c) == nil {
			return c, nil
		}
		_ = c.Close() // a stranger gets no answer
	}
}

var errStranger = errors.New("the other side is another user's process")
