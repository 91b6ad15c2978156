//go:build weaviate

package main

import "testing"

// The same where two sidecars share the memory, and each request may meet the
// other one.
func TestFleetNoByteOfAnother(t *testing.T) {
	all := people()
	crew := newCrew(t, 2, "HINDSIGHT_AUTH_MODE=keys", "HINDSIGHT_AUTH_KEYS="+crowdKeys(all), "HINDSIGHT_REFLECT_MODEL=rules")
	newCrowd(t, all, crew.members...).play(envNumber("HINDSIGHT_ISOLATION_STEPS", 120))
}
