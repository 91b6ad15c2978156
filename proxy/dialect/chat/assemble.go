package chat

import (
	"bytes"
	"strings"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// calls puts the tool calls of an answer together.
type calls struct {
	all     []call
	current int // the one that was added to last
}

type call struct {
	index    int
	id, name string
	args     []byte
}

// add takes the next piece of a call, or a complete one.
func (cs *calls) add(d callDelta, complete bool) {
	i := -1
	if !complete {
		i = cs.find(d)
	}
	if i < 0 {
		i = len(cs.all)
		cs.all = append(cs.all, call{index: d.index})
	}
	k := &cs.all[i]
	if k.id == "" {
		k.id = strings.Clone(d.id)
	}
	if k.name == "" {
		k.name = strings.Clone(d.name)
	}
	k.args = d.appendArguments(k.args)
	cs.current = i
}

// find is the call that a piece belongs to, -1 if it begins one. By the
// standard index says it. Where servers leave that out the id does, and where
// they leave out both it goes on with the last one; some give every call the
// index 0, so that a piece with a name may be a new call all the same.
func (cs *calls) find(d callDelta) int {
	if len(cs.all) == 0 {
		return -1
	}
	for i := len(cs.all) - 1; i >= 0; i-- {
		k := cs.all[i]
		if d.index >= 0 && k.index == d.index && !k.over(d) || d.index < 0 && d.id != "" && k.id == d.id {
			return i
		}
	}
	if d.index < 0 && d.id == "" && !cs.all[cs.current].over(d) {
		return cs.current
	}
	return -1
}

// over says that a piece, which could go on with k, begins another call: it
// names a function, and k is under another id, another name or whole.
func (k call) over(d callDelta) bool {
	if d.name == "" || k.name == "" {
		return false
	}
	if d.id != "" && k.id != "" {
		return d.id != k.id
	}
	if d.name != k.name {
		return true
	}
	// The look at the last byte spares most pieces the walk over all so far.
	if len(d.args) <= len(`""`) || !bytes.HasSuffix(k.args, []byte("}")) {
		return false
	}
	c := scan.Tolerant(k.args)
	c.Skip()
	return c.End() == nil
}

func (cs *calls) result() []dialect.Call {
	var all []dialect.Call
	for _, k := range cs.all {
		all = append(all, dialect.Call{ID: k.id, Name: k.name, Arguments: whole(k.args)})
	}
	return all
}
