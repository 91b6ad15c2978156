package rows

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Encode packs a flat table: lengths are the code lengths of each class,
// offsets where each row starts, data the rows. The result depends on nothing
// but the table.
func Encode(flat []byte) (lengths, offsets, data []byte, err error) {
	if len(flat)%Width != 0 {
		return nil, nil, nil, fmt.Errorf("encode rows: %d bytes aren't whole rows", len(flat))
	}
	n := len(flat) / Width
	var counts [Classes][Symbols]int
	for i := range n {
		for _, v := range flat[i*Width:][:Width] {
			if v >= Symbols {
				return nil, nil, nil, fmt.Errorf("encode rows: row %d holds %d, the limit is %d", i, v, Symbols-1)
			}
			counts[i%Classes][v]++
		}
	}
	var codes [Classes][]uint16
	for class := range Classes {
		own := codeLengths(counts[class])
		lengths = append(lengths, own...)
		if codes[class], err = canonical(own); err != nil {
			return nil, nil, nil, fmt.Errorf("encode rows: class %d: %w", class, err)
		}
	}
	for i := range n {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
		class := i % Classes
		var acc uint64
		var held uint
		for _, v := range flat[i*Width:][:Width] {
			l := uint(lengths[class*Symbols+int(v)])
			acc = acc<<l | uint64(codes[class][v])
			for held += l; held >= 8; held -= 8 {
				data = append(data, byte(acc>>(held-8)))
			}
		}
		if held > 0 {
			data = append(data, byte(acc<<(8-held)))
		}
	}
	offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
	return lengths, offsets, append(data, make([]byte, slack)...), nil
}

// codeLengths gives the Huffman code length of each symbol, 0 for one that
// doesn't occur. Where the longest would pass maxBits the counts are flattened
// and it starts again; that costs a fraction of a percent.
func codeLengths(counts [Symbols]int) []byte {
	for {
		lengths := huffman(counts)
		if slices.Max(lengths) <= maxBits {
			return lengths
		}
		for i, c := range counts {
			if c > 0 {
				counts[i] = c/2 + 1
			}
		}
	}
}

func huffman(counts [Symbols]int) []byte {
	type group struct {
		count   int
		members []int
	}
	lengths := make([]byte, Symbols)
	var groups []group
	for s, c := range counts {
		if c > 0 {
			groups = append(groups, group{c, []int{s}})
		}
	}
	if len(groups) == 1 {
		lengths[groups[0].members[0]] = 1
	}
	for len(groups) > 1 {
		slices.SortStableFunc(groups, func(a, b group) int {
			return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.members[0], b.members[0]))
		})
		both := slices.Concat(groups[0].members, groups[1].members)
		for _, s := range both {
			lengths[s]++
		}
		groups = append(groups[2:], group{groups[0].count + groups[1].count, both})
	}
	return lengths
}

// canonical numbers the codes: shorter ones first, equal ones by symbol.
func canonical(lengths []byte) ([]uint16, error) {
	codes := make([]uint16, len(lengths))
	next := 0
	for n := byte(1); n <= maxBits; n++ {
		next <<= 1
		for s, l := range lengths {
			if l > maxBits {
				return nil, fmt.Errorf("a code has %d bits, the limit is %d", l, maxBits)
			}
			if l == n {
				codes[s] = uint16(next)
				next++
			}
		}
		if next > 1<<n {
			return nil, errors.New("the code lengths fit no prefix code")
		}
	}
	return codes, nil
}
