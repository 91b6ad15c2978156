package main

import "testing"

// A secret is taken out before it is recorded; what is left of its sentence
// teaches nothing, the sentence beside it does.
func TestASecretBesideAFact(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_REFLECT_MODEL=rules")
	r := w.conversation("Hindsight-User: ann").say("My password is hunter2-Blue-4411. I live in Bergen.")
	kept, dropped := w.close(r.session())
	if got := texts(kept); len(got) != 1 || got[0] != "I live in Bergen." {
		t.Errorf("kept %q", got)
	}
	if len(dropped) != 1 || dropped[0].Reason != "secret" {
		t.Errorf("dropped %+v", dropped)
	}
}
