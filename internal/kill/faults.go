package kill

import "hindsight/internal/mutant"

// Faults are changes that make the binary break a promise, by name. The harness
// must find each of them.
func Faults() map[string][]mutant.Edit {
	const (
		apply    = "store/badgerdb/apply.go"
		memories = "\t\tif err := s.applyMemories(t, &is, out); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif err := s.applyVerdicts"
		verdicts = "\t\tif err := s.applyVerdicts"
		end      = "\treturn j, wrap(\"apply reflection\", err)\n"
		later    = "\tif err == nil {\n\t\ttime.Sleep(3 * time.Second)\n" +
			"\t\terr = s.change(func(t *tx) error { is := j; return s.applyMemories(t, &is, out) })\n\t}\n"
	)
	return map[string][]mutant.Edit{
		// Group commit doesn't sync. A power loss shows it.
		"sync": {{File: "store/badgerdb/open.go", Old: "o.SyncWrites = true", New: "o.SyncWrites = false"}},
		// What a scope's new key has sealed is on disk before the key. A power loss of
		// an encrypted directory shows it.
		"keys": {{File: "store/badgerdb/tx.go", Old: "t.h.keys.sync()", New: "error(nil)"}},
		// The cursor is on disk seconds before what the reflection found.
		"cursor": {
			{File: apply, Old: memories, New: verdicts},
			{File: apply, Old: end, New: later + end},
		},
	}
}
