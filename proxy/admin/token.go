package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// TokenName is the file's name in the data directory.
const TokenName = "admin-token"

// Token returns the token in a file. A file that isn't there, or is empty, is
// written with a new token: 64 hexadecimal digits and a line break, mode 0600,
// by rename, so that no reader sees half of it.
func Token(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the admin token: %w", err)
	}
	if t := strings.TrimSpace(string(b)); t != "" {
		return t, nil
	}
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("make an admin token: %w", err)
	}
	t := hex.EncodeToString(random[:])
	if err := writeToken(file, t); err != nil {
		return "", fmt.Errorf("write the admin token: %w", err)
	}
	return t, nil
}

func writeToken(file, token string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, TokenName+".*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after the rename
	_, err = tmp.WriteString(token + "\n")
	if err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// tokenSource holds the token, or the file where it is to be had.
type tokenSource struct {
	file string
	mu   sync.Mutex
	sum  *[sha256.Size]byte // nil until there is a token
}

func newTokenSource(token, file string) *tokenSource {
	s := &tokenSource{file: file}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		s.sum = &sum
	}
	return s
}

// get returns the token's hash; it tries the file again until it works.
func (s *tokenSource) get() (*[sha256.Size]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sum == nil {
		t, err := Token(s.file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(t))
		s.sum = &sum
	}
	return s.sum, nil
}

// matches compares in constant time; hashes hide the length too.
func matches(sum *[sha256.Size]byte, shown string) bool {
	got := sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(sum[:], got[:]) == 1
}
