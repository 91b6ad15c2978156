//go:build disk

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/freeport"
)

// smallDisk is the directory that `.ci/run disk` has mounted a small file system on.
const smallDisk = "HINDSIGHT_TEST_DISK"

// onDisk is one `hindsight serve` on that file system, in a process of its own.
type onDisk struct {
	t              *testing.T
	env            []string
	proxy, adminAt string
	cmd            *exec.Cmd
	ended          chan struct{}
	mu             sync.Mutex
	kept           []string // sessions that were answered while memory was on
	n              int      // requests of always
	longest        time.Duration
}

func newOnDisk(t *testing.T, dir, upstream string) *onDisk {
	t.Helper()
	d := &onDisk{t: t}
	for _, a := range []*string{&d.proxy, &d.adminAt} {
		var err error
		if *a, err = freeport.Address(); err != nil {
			t.Fatal(err)
		}
	}
	d.env = append(os.Environ(), "LLM_API_BASE="+upstream, "HINDSIGHT_DATA_DIR="+dir, "HINDSIGHT_LISTEN="+d.proxy, "HINDSIGHT_ADMIN_LISTEN="+d.adminAt,
		"HINDSIGHT_REFLECT_MODEL=rules", "HINDSIGHT_EMBEDDER=none", "HINDSIGHT_TENANT=acme", "HINDSIGHT_SESSION_PER_HOUR=0", "HINDSIGHT_LOG_LEVEL=error", "HINDSIGHT_ADMIN_TOKEN="+worldToken)
	t.Cleanup(func() { d.kill() })
	return d
}

// start starts it and says how long it took to forward.
func (d *onDisk) start() time.Duration {
	d.t.Helper()
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	d.cmd = exec.Command(self, "serve")
	d.cmd.Args[0] = "hindsight" // what the test binary is then
	d.cmd.Env, d.cmd.Stderr = d.env, os.Stderr
	began := time.Now()
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	cmd, ended := d.cmd, make(chan struct{})
	d.ended = ended
	go func() { _ = cmd.Wait(); close(ended) }()
	for {
		if status, err := d.ask("Hello there.", "first"); err == nil && status == http.StatusOK {
			return time.Since(began)
		}
		if time.Since(began) > 20*time.Second {
			d.t.Fatal("nothing is forwarded after 20 s")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// kill is the kernel's -9.
func (d *onDisk) kill() {
	if d.cmd != nil {
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
}

func (d *onDisk) alive() {
	d.t.Helper()
	select {
	case <-d.ended:
		d.t.Fatalf("the process has ended: %s", d.cmd.ProcessState)
	default:
	}
}

// ask sends one request of a conversation of its own.
func (d *onDisk) ask(words, session string) (status int, err error) {
	body, _ := json.Marshal(map[string]any{"model": "m", "user": "ann", "messages": []map[string]string{{"role": "user", "content": words}}})
	req, err := http.NewRequest(http.MethodPost, "http://"+d.proxy+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Hindsight-Session", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// admin reads a path of the management API.
func (d *onDisk) admin(method, path, body string) (int, string) {
	req, err := http.NewRequest(method, "http://"+d.adminAt+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // a body that breaks off lacks what is looked for
	return resp.StatusCode, string(b)
}

func (d *onDisk) until(what string, done func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		d.alive()
		if time.Now().After(deadline) {
			_, is := d.admin(http.MethodGet, "/readyz", "")
			d.t.Fatalf("not after a minute: %s: %s", what, is)
		}
	}
}

// says waits until readiness has these words.
func (d *onDisk) says(words string) {
	d.t.Helper()
	d.until(words, func() bool { _, is := d.admin(http.MethodGet, "/readyz", ""); return strings.Contains(is, words) })
}

// always asks every few milliseconds until the context ends: each request must be
// answered 200.
func (d *onDisk) always(ctx context.Context, phase string) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			status, err := d.ask("Hello again.", fmt.Sprintf("%s-%d", phase, i))
			took := time.Since(began)
			if status != http.StatusOK || err != nil {
				d.t.Errorf("%s: request %d: %d, %v", phase, i, status, err)
				return
			}
			d.mu.Lock()
			d.n++
			d.longest = max(d.longest, took)
			d.mu.Unlock()
			time.Sleep(3 * time.Millisecond)
		}
	}()
	return func() { <-done }
}

// atLength holds long conversations that don't compress, one after the other.
func (d *onDisk) atLength(ctx context.Context, seed byte) {
	rng := rand.NewChaCha8([32]byte{seed})
	random := make([]byte, 512<<10)
	for i := 0; ctx.Err() == nil; i++ {
		_, _ = rng.Read(random)
		_, _ = d.ask(asWords(random), fmt.Sprintf("length-%d-%d", seed, i)) // always sees what fails
	}
}

// tells holds sessions and memories that are acknowledged.
func (d *onDisk) tells(from, n int) {
	d.t.Helper()
	for i := from; i < from+n; i++ {
		session := fmt.Sprintf("told-%d", i)
		if status, err := d.ask(fmt.Sprintf("My number is %d.", i), session); status != http.StatusOK || err != nil {
			d.t.Fatalf("%d, %v", status, err)
		}
		d.kept = append(d.kept, session)
	}
	if status, is := d.admin(http.MethodPost, "/api/v1/memories", fmt.Sprintf(`{"scope":"user:ann","type":"user_fact","text":"The user's number is %d."}`, from)); status/100 != 2 {
		d.t.Fatalf("a memory: %d %s", status, is)
	}
	time.Sleep(400 * time.Millisecond) // a group commit is due within 250 ms
}

// hasAll checks that what was acknowledged is there.
func (d *onDisk) hasAll(memories int) {
	d.t.Helper()
	lost := 0
	for _, session := range d.kept {
		if status, is := d.admin(http.MethodGet, "/api/v1/sessions/"+session, ""); status != http.StatusOK || !strings.Contains(is, "My number is") {
			lost++
		}
	}
	_, is := d.admin(http.MethodGet, "/api/v1/memories?scope=user:ann&limit=100", "")
	if n := strings.Count(is, "The user's number is"); lost > 0 || n != memories {
		d.t.Errorf("%d of %d sessions are lost, %d memories are there, want %d", lost, len(d.kept), n, memories)
	}
}

// fill leaves nothing of the disk: another process does it, as fast as it can.
func fill(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("dd", "if=/dev/zero", "of="+path, "bs=1M").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "No space left") {
		t.Fatalf("dd: %v: %s", err, out)
	}
}

// A real file system runs full, by another process and by ourselves: every request
// is answered meanwhile, after a kill too, and with room everything is there and
// recording goes on.
func TestDiskRunsFull(t *testing.T) {
	disk := os.Getenv(smallDisk)
	if disk == "" {
		t.Fatalf("%s isn't set: `.ci/run disk` mounts a file system for this test", smallDisk)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Noted."}}]}`)
	}))
	defer up.Close()
	filler := filepath.Join(disk, "filler")

	// A first start on a disk without a byte left.
	fill(t, filler)
	fresh := newOnDisk(t, filepath.Join(disk, "fresh"), up.URL+"/v1")
	t.Logf("a first start on a full disk forwards after %s", fresh.within2s())
	fresh.says("make room")
	fresh.kill()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}

	d := newOnDisk(t, filepath.Join(disk, "data"), up.URL+"/v1")
	d.start()
	d.says(`"memory":"on"`)
	d.tells(0, 20)

	// Another process takes all there is, under load.
	ctx, stop := context.WithCancel(t.Context())
	wait := d.always(ctx, "taken")
	for n := range 2 { // so that the store writes all the time
		go d.atLength(ctx, byte(n))
	}
	time.Sleep(700 * time.Millisecond)
	fill(t, filler)
	d.says("nothing is recorded")
	time.Sleep(2 * time.Second)
	stop()
	wait()
	d.alive()
	t.Logf("filled by another process: %d requests, all answered 200, the longest took %s", d.n, d.longest)
	d.hasAll(1)
	d.kill()
	t.Logf("killed on the full disk: forwards again after %s", d.within2s())
	d.says("make room")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	d.says(`"memory":"on"`)
	t.Logf("memory is on %s after there is room", time.Since(began).Round(time.Millisecond))
	d.hasAll(1)
	d.tells(20, 20)
	d.hasAll(2)

	// We take what there is ourselves: long conversations that don't compress.
	d.n, d.longest = 0, 0
	ctx, stop = context.WithCancel(t.Context())
	wait = d.always(ctx, "taking")
	rng := rand.NewChaCha8([32]byte{1})
	random := make([]byte, 512<<10)
	began = time.Now()
	sent := 0
	for recording := true; recording; sent++ {
		if time.Since(began) > 3*time.Minute {
			t.Fatal("the disk doesn't run full")
		}
		time.Sleep(50 * time.Millisecond) // as fast as it is looked through for secrets: what comes faster is dropped
		_, _ = rng.Read(random)
		if status, err := d.ask(asWords(random), fmt.Sprintf("long-%d", sent)); status != http.StatusOK || err != nil {
			t.Fatalf("long conversation %d: %d, %v", sent, status, err)
		}
		_, is := d.admin(http.MethodGet, "/readyz", "")
		recording = !strings.Contains(is, "nothing is recorded")
	}
	for i := range 50 { // and on
		if status, err := d.ask(asWords(random), fmt.Sprintf("more-%d", i)); status != http.StatusOK || err != nil {
			t.Fatalf("long conversation: %d, %v", status, err)
		}
	}
	stop()
	wait()
	d.alive()
	t.Logf("filled by %d long conversations: %d small requests beside them, all answered 200, the longest took %s", sent, d.n, d.longest)
	d.hasAll(2)
	d.kill()
	t.Logf("killed on that disk: forwards again after %s", d.within2s())
	if out, err := exec.Command("mount", "-o", "remount,size=900m", disk).CombinedOutput(); err != nil {
		t.Fatalf("make the disk larger: %v: %s", err, out)
	}
	d.says(`"memory":"on"`)
	d.tells(40, 20)
	d.hasAll(3)
}

// asWords makes words of random bytes: a long run of them would be taken for a key,
// and not be recorded.
func asWords(random []byte) string {
	text := make([]byte, len(random))
	for i, b := range random {
		text[i] = 'a' + b%26
		if i%6 == 5 {
			text[i] = ' '
		}
	}
	return string(text)
}

// within2s starts it and holds it to forwarding within two seconds.
func (d *onDisk) within2s() time.Duration {
	d.t.Helper()
	took := d.start()
	if took > 2*time.Second {
		d.t.Errorf("it forwards %s after the start", took)
	}
	return took.Round(time.Millisecond)
}
