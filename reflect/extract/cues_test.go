package extract

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

// What an expression finds has its cues: texts are made from the expressions.
func TestCuesStandWhereExpressionsFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := append([]calling{{Regexp: keyShapes, needs: []cues{keyCues}}, {Regexp: ssn, needs: []cues{ssnCues}}}, called...)
	for i, by := range all {
		tree, err := syntax.Parse(by.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for range 3000 {
			var b strings.Builder
			write(&b, tree.Simplify(), rng)
			text := "We said: " + b.String() + " and more."
			if !by.MatchString(text) {
				continue // what stands around it isn't made
			}
			found++
			if cues := secretCues.in(text); !cues.meetsAll(by.needs) {
				t.Fatalf("expression %d finds something without its cues: %q", i, text)
			}
		}
		if found < 500 {
			t.Errorf("expression %d: only %d texts", i, found)
		}
	}
}

// write makes a text that an expression may find.
func write(b *strings.Builder, re *syntax.Regexp, rng *rand.Rand) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && rng.IntN(2) == 0 {
			text = strings.ToUpper(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteRune(oneOf(re, rng))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + rng.IntN(26)))
	case syntax.OpAlternate:
		write(b, re.Sub[rng.IntN(len(re.Sub))], rng)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		n := rng.IntN(2)
		if re.Op == syntax.OpPlus {
			n = 1 + rng.IntN(20)
		}
		for range n {
			write(b, re.Sub[0], rng)
		}
	default:
		for _, sub := range re.Sub {
			write(b, sub, rng)
		}
	}
}

// oneOf is a character of a class, one of the first of a range.
func oneOf(re *syntax.Regexp, rng *rand.Rand) rune {
	i := 2 * rng.IntN(len(re.Rune)/2)
	lo, hi := re.Rune[i], re.Rune[i+1]
	return lo + rng.Int32N(min(hi-lo, 0x5f)+1)
}
