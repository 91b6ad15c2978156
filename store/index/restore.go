package index

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"

	"hindsight/store"
)

// restorer makes a scope of the parts of a snapshot.
type restorer struct {
	s        *scope
	vectors  bool // they are wanted
	began    bool
	docs     int // expected
	embedded int
	have     int // vectors so far
	values   []float32
}

// take takes the next part. The error says that the snapshot is of no use.
func (r *restorer) take(part []byte) error {
	if len(part) > 0 && part[0] == partVectors && !r.vectors {
		return nil
	}
	kind, in, err := openPart(part)
	if err != nil {
		return err
	}
	switch {
	case kind == partHead && !r.began:
		r.head(in)
	case kind == partDocs && r.began:
		r.memories(in)
	case kind == partTerms && r.began:
		r.terms(in)
	case kind == partVectors && r.began:
		r.embed(in)
	default:
		in.bad = true
	}
	if in.bad {
		return fmt.Errorf("%w: part %q", errRecord, kind)
	}
	return nil
}

// done returns the scope; the error is of a snapshot that lacks something.
func (r *restorer) done() (*scope, error) {
	if !r.began || len(r.s.docs) != r.docs || r.vectors && r.have != r.embedded {
		return nil, fmt.Errorf("%w: incomplete", errRecord)
	}
	r.s.countVectors()
	return r.s, nil
}

// mostDocs bounds what a head may promise: what is made for it at once.
const mostDocs = 1 << 24

func (r *restorer) head(in *reader) {
	f := form()
	if in.take(sha256.Size) != string(f[:]) {
		in.bad = true
		return
	}
	docs, embedded := in.uvarint(), in.uvarint()
	if docs > mostDocs || embedded > docs {
		in.bad = true
		return
	}
	r.s = emptyScope(int(docs))
	r.docs, r.embedded, r.began = int(docs), int(embedded), true
}

func (r *restorer) memories(in *reader) {
	var room []store.Memory // one allocation for many
	for in.more() && len(r.s.docs) < r.docs {
		if len(room) == 0 {
			room = make([]store.Memory, min(64, r.docs-len(r.s.docs)))
		}
		m := &room[0]
		room = room[1:]
		d := doc{group: none, sess: none, vector: none}
		for f := range d.len {
			d.len[f] = uint16(in.uvarint())
		}
		in.value(reflect.ValueOf(m).Elem())
		if _, twice := r.s.byID[m.ID]; twice || in.bad {
			in.bad = true
			return
		}
		r.s.join(&d, m)
	}
	in.bad = in.bad || in.at < len(in.text)
}

func (r *restorer) terms(in *reader) {
	var all []posting // of the whole part: lists are cut of it
	type cut struct {
		term     uint32
		from, to int
	}
	var cuts []cut
	for in.more() {
		t := r.s.term(in.string())
		n := in.length()
		from, last := len(all), uint64(0)
		for range n {
			step := in.uvarint()
			last += step >> 2
			if last >= uint64(len(r.s.docs)) || in.bad {
				in.bad = true
				return
			}
			p := posting{doc: uint32(last)}
			if field := step & 3; field < fields {
				p.tf[field] = 1
			} else {
				copy(p.tf[:], in.take(fields))
			}
			all = append(all, p)
		}
		cuts = append(cuts, cut{t, from, len(all)})
	}
	exact := make([]posting, len(all))
	copy(exact, all)
	for _, c := range cuts {
		if l := r.s.lists[c.term]; len(l) > 0 {
			r.s.lists[c.term] = append(l, exact[c.from:c.to]...)
		} else {
			r.s.lists[c.term] = exact[c.from:c.to:c.to]
		}
		r.s.bytes += 8 * (c.to - c.from)
	}
}

func (r *restorer) embed(in *reader) {
	dim := in.length()
	if cap(r.values) < dim {
		r.values = make([]float32, dim)
	}
	values := r.values[:dim]
	for in.more() {
		n, unit := in.uint32(), math.Float32frombits(in.uint32())
		codes := in.take(2 * dim)
		if in.bad || dim == 0 || int(n) >= len(r.s.docs) || r.s.docs[n].vector != none {
			in.bad = true
			return
		}
		for i := range values {
			values[i] = float32(int16(uint16(codes[2*i])|uint16(codes[2*i+1])<<8)) * unit
		}
		if r.s.docs[n].vector = r.s.vectors.put(n, values); r.s.docs[n].vector == none {
			in.bad = true
			return
		}
		r.have++
	}
}
