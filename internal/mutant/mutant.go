// Package mutant builds the binary from a source that differs in a few places:
// with a fault, so that a harness can be seen to find it, or with ears in a
// library. The source itself stays as it is.
package mutant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit is one change of the source.
type Edit struct {
	Module string // whose file it is; empty: ours
	File   string // its path inside the module
	Old    string // what stands there once; empty: the file is new
	New    string // what stands there then
}

// Build compiles the binary with the edits and writes it to out. It needs the Go
// toolchain, and is called somewhere inside the repository.
func Build(ctx context.Context, out string, edits ...Edit) error {
	return prepared(ctx, edits, func(b *builder) error {
		args, err := b.flags()
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", append(args, "-trimpath", "-o", out, "./cmd/hindsight")...)
		cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build a mutant: %w: %s", err, said)
		}
		return nil
	})
}

// Fit says whether the source is one that the edits can be made in; nothing is
// built.
func Fit(ctx context.Context, edits ...Edit) error {
	return prepared(ctx, edits, func(*builder) error { return nil })
}

// prepared makes the edits beside the source for as long as do runs.
func prepared(ctx context.Context, edits []Edit, do func(*builder) error) (err error) {
	work, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return fmt.Errorf("build a mutant: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	mod, err := ask(ctx, "env", "GOMOD")
	if err != nil {
		return err
	}
	b := builder{ctx: ctx, work: work, root: filepath.Dir(mod), ours: map[string]string{}, copies: map[string]string{}}
	for _, e := range edits {
		if err := b.edit(e); err != nil {
			return fmt.Errorf("edit %s %s: %w", e.Module, e.File, err)
		}
	}
	return do(&b)
}

type builder struct {
	ctx        context.Context //nolint:containedctx // one call's
	work, root string
	ours       map[string]string // our files, and what stands for them
	copies     map[string]string // other modules' copies, by module
}

func (b *builder) edit(e Edit) error {
	from, to, err := b.place(e)
	if err != nil {
		return err
	}
	text := e.New
	if e.Old != "" {
		raw, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if n := strings.Count(string(raw), e.Old); n != 1 {
			return fmt.Errorf("%q stands there %d times, not once", e.Old, n)
		}
		text = strings.Replace(string(raw), e.Old, e.New, 1)
	}
	return os.WriteFile(to, []byte(text), 0o600)
}

// place is where a file is read that is to be edited, and where it is written.
func (b *builder) place(e Edit) (from, to string, err error) {
	if e.Module != "" {
		dir, err := b.copied(e.Module)
		return filepath.Join(dir, e.File), filepath.Join(dir, e.File), err
	}
	path := filepath.Join(b.root, e.File)
	if to, again := b.ours[path]; again {
		return to, to, nil
	}
	b.ours[path] = filepath.Join(b.work, fmt.Sprintf("%d.go", len(b.ours)))
	return path, b.ours[path], nil
}

// copied is the copy of a module that may be edited.
func (b *builder) copied(module string) (string, error) {
	if dir, ok := b.copies[module]; ok {
		return dir, nil
	}
	from, err := ask(b.ctx, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.work, "modules", filepath.FromSlash(module))
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return "", err
	}
	b.copies[module] = dir
	// What lies in the module cache can't be written.
	return dir, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
}

// flags are those of a build that takes the edited files.
func (b *builder) flags() ([]string, error) {
	overlay, err := json.Marshal(map[string]any{"Replace": b.ours})
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(b.root, "go.mod"))
	if err != nil {
		return nil, err
	}
	for module, dir := range b.copies {
		mod = fmt.Appendf(mod, "\nreplace %s => %s\n", module, dir)
	}
	sum, err := os.ReadFile(filepath.Join(b.root, "go.sum"))
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"overlay.json": overlay, "go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(b.work, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"build", "-overlay", filepath.Join(b.work, "overlay.json"), "-modfile", filepath.Join(b.work, "go.mod")}, nil
}

// ask is what a go command says.
func ask(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
