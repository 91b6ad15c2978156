package badgerdb

import "fmt"

// plainForm is the first byte of a value that lies there as it is. Another
// byte will stand before an encrypted one, so that both can lie in one store.
const plainForm = 0

// seal gives the form in which a value of a scope is written. at is the place
// of the value, by which a key of its own can be chosen.
// It is appended to out.
func (h *handle) seal(out []byte, at place, plain []byte) ([]byte, error) { //nolint:unparam // a scope's own key is chosen by its place
	return append(append(out, plainForm), plain...), nil
}

// sealing is by how much a sealed value is longer.
const sealing = 1

// open undoes seal. The result may share memory with sealed.
func (h *handle) open(at place, sealed []byte) ([]byte, error) { //nolint:unparam // as seal
	if len(sealed) == 0 || sealed[0] != plainForm {
		return nil, fmt.Errorf("open a sealed value: unknown form")
	}
	return sealed[1:], nil
}
