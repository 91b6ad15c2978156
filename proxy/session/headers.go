package session

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"hindsight/store"
)

// modeOf reads Hindsight-Memory. An unknown value is off: who wanted to limit
// memory and misspelt it must not get all of it.
func modeOf(h http.Header) Mode {
	switch v := strings.ToLower(strings.TrimSpace(h.Get("Hindsight-Memory"))); v {
	case "":
		return On
	case "on", "read", "write":
		return Mode(v)
	}
	return Off
}

// allowed narrows the mode to what a key may do with the owner's own scope.
func (key Key) allowed(m Mode, o store.Owner) Mode {
	may := func(scopes []store.Scope) bool {
		return len(scopes) == 0 || slices.Contains(scopes, o.Scope())
	}
	read, write := m.Injects() && may(key.Read), m.Records() && may(key.Write)
	switch {
	case read && write:
		return On
	case read:
		return Read
	case write:
		return Write
	}
	return Off
}

// zoneOf reads Hindsight-Timezone, else the configured zone.
func (k *Tracker) zoneOf(h http.Header) *time.Location {
	name := strings.TrimSpace(h.Get("Hindsight-Timezone"))
	if name == "" {
		return k.cfg.Zone
	}
	k.mu.Lock()
	zone, ok := k.zones.get(name)
	k.mu.Unlock()
	if !ok {
		if name != "Local" && len(name) <= 64 { // "Local" is ours, not theirs
			if z, err := time.LoadLocation(name); err == nil {
				zone = z
			}
		}
		k.mu.Lock()
		k.zones.put(strings.Clone(name), zone)
		k.mu.Unlock()
	}
	if zone == nil {
		k.m.zones.Inc()
		return k.cfg.Zone
	}
	return zone
}

// agentOf is the agent that scopes are made of: a key's, else Hindsight-Agent.
func (k *Tracker) agentOf(h http.Header, key Key) string {
	if key.Agent != "" {
		return key.Agent
	}
	v := h.Get("Hindsight-Agent")
	if v == "" {
		return ""
	}
	if isTemplate(v) || !validID(v) {
		k.refuse("hindsight-agent")
		return ""
	}
	return strings.Clone(v)
}
