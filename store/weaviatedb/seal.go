package weaviatedb

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"hindsight/store"
)

// What is written to Weaviate of a scope's contents passes the functions of this
// file, and what is read comes back through them.

// plainly readable data begins with this; another character will stand before
// an encrypted one.
const plainForm = "0"

// seal gives the form in which the whole of something is written.
func seal(plain []byte) string { return plainForm + base64.RawStdEncoding.EncodeToString(plain) }

// open undoes seal.
func open(sealed string) ([]byte, error) {
	text, ok := strings.CutPrefix(sealed, plainForm)
	if !ok {
		return nil, fmt.Errorf("open sealed data: unknown form")
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("open sealed data: %w", err)
	}
	return b, nil
}

// readable is a text as it may lie in a property for people's eyes.
func readable(text string) string { return strings.ToValidUTF8(text, "�") }

// sealMemory and openMemory are the whole of a memory.
func sealMemory(m *store.Memory) (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("write memory %s: %w", m.ID, err)
	}
	return seal(b), nil
}

func openMemory(sealed string) (store.Memory, error) {
	b, err := open(sealed)
	if err != nil {
		return store.Memory{}, err
	}
	var m store.Memory
	if err := json.Unmarshal(b, &m); err != nil {
		return store.Memory{}, fmt.Errorf("read memory: %w", err)
	}
	return m, nil
}
