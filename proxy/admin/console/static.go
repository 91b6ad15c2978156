package console

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

// static serves the style sheet, the script and the icon. Their addresses hold
// their hash, so that a browser may keep them for good.
type static struct {
	bodies map[string][]byte
	hashes map[string]string
}

func readStatic(files fs.FS) (*static, error) {
	s := &static{bodies: map[string][]byte{}, hashes: map[string]string{}}
	all, err := fs.Glob(files, "static/*")
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		b, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		s.bodies[path.Base(file)], s.hashes[path.Base(file)] = b, hex.EncodeToString(sum[:6])
	}
	return s, nil
}

func (s *static) address(name string) string {
	return home + "static/" + name + "?v=" + s.hashes[name]
}

func (s *static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	body, ok := s.bodies[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	if r.URL.Query().Get("v") == s.hashes[name] {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(body) // the browser is gone if this fails
}
