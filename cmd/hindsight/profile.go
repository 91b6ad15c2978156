package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

// The files of a profile.
const (
	profileTime = "cpu.pprof"
	profileHeap = "heap.pprof" // as it was when it was largest
	profileAll  = "allocs.pprof"
)

// profile writes into dir where this process spends its time and memory, until
// the returned function is called.
func profile(dir string) (stop func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for the profile: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, profileTime))
	if err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("begin the profile: %w", err), f.Close())
	}
	end := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watchHeap(filepath.Join(dir, profileHeap), end) })
	return func() error {
		pprof.StopCPUProfile()
		close(end)
		watching.Wait()
		return errors.Join(f.Close(), writeProfile("allocs", filepath.Join(dir, profileAll)))
	}, nil
}

// watchHeap writes the heap's profile each time that it has grown by a tenth.
func watchHeap(path string, end <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var most uint64
	for {
		select {
		case <-tick.C:
		case <-end:
			return
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapInuse < most+most/10 {
			continue
		}
		most = m.HeapInuse
		_ = writeProfile("heap", path) // one that is missing shows when it is read
	}
}

func writeProfile(name, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
}
