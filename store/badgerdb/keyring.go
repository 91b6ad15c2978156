package badgerdb

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ScopeKeysName is the file of the data keys. It lies beside Badger's and not in
// it: what Badger has written once stays in old tables, logs and backups, but a
// slot of this file can be overwritten, and with it everything that its key has
// sealed is lost, wherever a copy lies.
const ScopeKeysName = "scopes.keys"

// The file is a head and slots of one size. A slot holds a scope's data key,
// sealed under the key of the key file with its own number as additional data:
// 12 bytes nonce, 32 key, 16 tag, 4 unused. Zeros: destroyed.
const (
	slotLen    = 64
	wrappedLen = 12 + dataKeyLen + 16
	dataKeyLen = 32
	ringMagic  = "hindsight keys 1"
)

// keysOpen is how many data keys are held ready.
const keysOpen = 4096

var (
	errKeyLength    = errors.New("holds neither 16 nor 24 nor 32 bytes")
	errKeyDestroyed = errors.New("its key was destroyed when the scope was erased")
	errOtherRing    = errors.New("written under another encryption key")
	errKeyUnread    = errors.New("read a scope's key")
)

// EncryptionKey reads a key file: 16, 24 or 32 bytes as they are, or with a
// newline behind them.
func EncryptionKey(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !keyLength(len(b)) && len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	if !keyLength(len(b)) {
		return nil, fmt.Errorf("%s %w", path, errKeyLength)
	}
	return b, nil
}

func keyLength(n int) bool { return n == 16 || n == 24 || n == 32 }

// keyPrint tells keys apart and nothing about them.
func keyPrint(key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("hindsight encryption key"))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// keyring keeps the data keys of scopes. Drawing and destroying need the
// store's write lock; reading doesn't.
type keyring struct {
	wrap cipher.AEAD
	file *os.File

	mu    sync.Mutex
	next  int64 // slot
	dirty bool  // slots that aren't on disk yet
	keys  map[place]cipher.AEAD
}

// openRing opens the keyring of a directory; fresh makes it. With old, a ring
// that was written under that key is first brought under the new one. The error
// is errOtherRing where neither key is the one.
func openRing(dir string, key, old []byte, fresh bool) (*keyring, error) {
	path := filepath.Join(dir, ScopeKeysName)
	if fresh {
		if err := makeRing(path, key); err != nil {
			return nil, err
		}
	}
	head, err := readHead(path)
	if err != nil {
		return nil, err
	}
	switch {
	case head == keyPrint(key):
	case old != nil && head == keyPrint(old):
		if err := rewrap(path, key, old); err != nil {
			return nil, fmt.Errorf("bring %s under the new key: %w", path, err)
		}
	default:
		return nil, errOtherRing
	}
	wrap, err := aead(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	n, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &keyring{wrap: wrap, file: f, next: (n + slotLen - 1) / slotLen, keys: map[place]cipher.AEAD{}}, nil
}

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func ringHead(key []byte) []byte {
	head := make([]byte, slotLen)
	copy(head, ringMagic)
	copy(head[len(ringMagic):], keyPrint(key))
	return head
}

func readHead(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, slotLen)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(ringMagic)]) != ringMagic {
		return "", fmt.Errorf("%s isn't a file of scope keys", path)
	}
	return string(head[len(ringMagic) : len(ringMagic)+16]), nil
}

// makeRing makes an empty ring; one that is there must be empty too.
func makeRing(path string, key []byte) error {
	if fi, err := os.Stat(path); err == nil && fi.Size() > slotLen {
		return fmt.Errorf("%s holds keys of other data: move it away", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replaceFile(path, ringHead(key))
}

// rewrap seals every data key anew. The new file takes the old one's place at
// once or not at all.
func rewrap(path string, key, old []byte) error {
	from, err := aead(old)
	if err != nil {
		return err
	}
	to, err := aead(key)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out := ringHead(key)
	for i := slotLen; i+wrappedLen <= len(b); i += slotLen {
		slot := make([]byte, slotLen)
		if sealed := b[i : i+wrappedLen]; !destroyed(sealed) {
			plain, err := from.Open(nil, nil, sealed, slotData(int64(i/slotLen)))
			if err != nil {
				return fmt.Errorf("slot %d: %w", i/slotLen, err)
			}
			to.Seal(slot[:0], nil, plain, slotData(int64(i/slotLen)))
		}
		out = append(out, slot...)
	}
	return replaceFile(path, out)
}

// slotData binds a data key to its slot. A scope's row names the slot, and what
// a wrong key opens fails by its tag.
func slotData(slot int64) []byte { return u64(uint64(slot)) }

func destroyed(slot []byte) bool {
	for _, b := range slot {
		if b != 0 {
			return false
		}
	}
	return true
}

// draw makes the data key of a place. It is on disk after the next sync.
func (k *keyring) draw() (slot int64, key cipher.AEAD, err error) {
	plain := make([]byte, dataKeyLen)
	if _, err := rand.Read(plain); err != nil {
		return 0, nil, err
	}
	if key, err = aead(plain); err != nil {
		return 0, nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	slot = k.next
	b := make([]byte, 0, slotLen)
	b = k.wrap.Seal(b, nil, plain, slotData(slot))
	if _, err := k.file.WriteAt(b[:slotLen], slot*slotLen); err != nil {
		return 0, nil, fmt.Errorf("write a scope's key: %w", err)
	}
	k.next++
	k.dirty = true
	return slot, key, nil
}

// sync brings drawn keys to the disk; before what they have sealed is committed.
func (k *keyring) sync() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dirty {
		return nil
	}
	if err := k.file.Sync(); err != nil {
		return fmt.Errorf("sync the scopes' keys: %w", err)
	}
	k.dirty = false
	return nil
}

// known is the key of a place if it is held ready.
func (k *keyring) known(at place) cipher.AEAD {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[at]
}

// keep holds a key ready.
func (k *keyring) keep(at place, key cipher.AEAD) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hold(at, key)
}

// hold is keep under the lock.
func (k *keyring) hold(at place, key cipher.AEAD) {
	if len(k.keys) >= keysOpen {
		for other := range k.keys { // any: a key is read again in microseconds
			delete(k.keys, other)
			break
		}
	}
	k.keys[at] = key
}

// drop makes the next reader of a place's key read its row again.
func (k *keyring) drop(at place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, at)
}

// read opens the key of a place from its slot and holds it ready. The error is
// errKeyDestroyed where the slot was overwritten.
func (k *keyring) read(at place, slot int64) (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := make([]byte, wrappedLen)
	if _, err := k.file.ReadAt(b, slot*slotLen); err != nil {
		return nil, fmt.Errorf("%w: %w", errKeyUnread, err)
	}
	if destroyed(b) {
		return nil, errKeyDestroyed
	}
	plain, err := k.wrap.Open(nil, nil, b, slotData(slot))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeyUnread, err)
	}
	key, err := aead(plain)
	if err != nil {
		return nil, err
	}
	k.hold(at, key)
	return key, nil
}

// isDestroyed says whether a slot was overwritten.
func (k *keyring) isDestroyed(slot int64) (bool, error) {
	b := make([]byte, wrappedLen)
	if _, err := k.file.ReadAt(b, slot*slotLen); err != nil {
		return false, fmt.Errorf("%w: %w", errKeyUnread, err)
	}
	return destroyed(b), nil
}

// destroy overwrites the key of a place, for good, on disk.
func (k *keyring) destroy(at place, slot int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, at)
	if _, err := k.file.WriteAt(make([]byte, slotLen), slot*slotLen); err != nil {
		return fmt.Errorf("destroy a scope's key: %w", err)
	}
	if err := k.file.Sync(); err != nil {
		return fmt.Errorf("destroy a scope's key: %w", err)
	}
	return nil
}

func (k *keyring) close() error { return k.file.Close() }

// replaceFile writes a file that only its owner may read, whole or not at all.
func replaceFile(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
