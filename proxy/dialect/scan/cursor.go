// Package scan walks a JSON text by byte offset, without building anything
// from it. A [Cursor] is pulled along by the caller, which names what it
// expects and skips the rest; whatever is skipped is still checked, so that
// after [Cursor.End] the whole text is known to be JSON of RFC 8259.
//
//	c := scan.New(body)
//	for c.Object(); c.Member(); {
//		switch string(c.Name()) {
//		case "model":
//			model = c.Text()
//		default:
//			c.Skip()
//		}
//	}
//	err := c.End()
//
// The first fault sticks: from then on every method does nothing and answers
// with its zero value, so loops end by themselves and only the end needs a
// look. It isn't a decoder: numbers keep their form, and strings are views of
// the text wherever they hold no escapes.
package scan

import "fmt"

// MaxDepth is how deep objects and arrays may nest. Real requests stay below
// 40; the bound keeps a hostile one from growing the stack.
const MaxDepth = 512

// Kind is the kind of a value.
type Kind byte

// The kinds. None stands at the end of the text and after a fault.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Cursor is a place in a JSON text. It is not safe for concurrent use. Slices
// that it returns point into the text.
type Cursor struct {
	data     []byte
	pos      int
	depth    int
	fresh    bool // just behind an opening bracket: no comma is due
	tolerant bool
	name     []byte
	fault    string
	at       int
}

// New starts a walk over data, in which strings must be valid UTF-8.
func New(data []byte) *Cursor { return &Cursor{data: data} }

// Tolerant is [New] for texts whose strings may hold any bytes: some servers
// cut a character into two strings of a stream.
func Tolerant(data []byte) *Cursor { return &Cursor{data: data, tolerant: true} }

// Fail records a fault of the caller's own, at the present place.
func (c *Cursor) Fail(what string) {
	if c.fault == "" {
		c.fault, c.at = what, c.pos
	}
}

// Err is the first fault, or nil. It names the fault and its offset in bytes,
// never the text.
func (c *Cursor) Err() error {
	if c.fault == "" {
		return nil
	}
	return fmt.Errorf("%s at byte %d", c.fault, c.at)
}

// End says whether the text was one whole value: call it after that value. It
// returns the first fault, trailing bytes included.
func (c *Cursor) End() error {
	c.space()
	if c.pos < len(c.data) {
		c.Fail("trailing bytes")
	}
	return c.Err()
}

// Peek tells the kind of the next value without taking it.
func (c *Cursor) Peek() Kind {
	c.space()
	if c.fault != "" || c.pos >= len(c.data) {
		return None
	}
	switch b := c.data[c.pos]; b {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	default:
		if b == '-' || b >= '0' && b <= '9' {
			return Number
		}
		return None
	}
}

// Object enters the next value, which must be an object.
func (c *Cursor) Object() { c.open(Object, "object expected") }

// Array enters the next value, which must be an array.
func (c *Cursor) Array() { c.open(Array, "array expected") }

func (c *Cursor) open(k Kind, fault string) {
	if c.Peek() != k {
		c.Fail(fault)
		return
	}
	if c.depth++; c.depth > MaxDepth {
		c.Fail("nesting too deep")
		return
	}
	c.pos++
	c.fresh = true
}

// Member moves to the next member of the object that was entered and takes its
// name; the caller takes its value before the next call. At the closing brace
// it leaves the object and returns false.
func (c *Cursor) Member() bool {
	if !c.next('}') {
		return false
	}
	if c.Peek() != String {
		c.Fail("member name expected")
		return false
	}
	lit := c.str()
	if c.space(); c.fault != "" || c.pos >= len(c.data) || c.data[c.pos] != ':' {
		c.Fail("colon expected")
		return false
	}
	c.pos++
	c.name = unquoted(lit)
	return true
}

// Name is the decoded name that [Cursor.Member] took, valid until the next
// call of it.
func (c *Cursor) Name() []byte { return c.name }

// Element moves to the next element of the array that was entered; the caller
// takes it before the next call. At the closing bracket it leaves the array
// and returns false.
func (c *Cursor) Element() bool { return c.next(']') }

// next takes the comma before another member or element, or the closing
// bracket.
func (c *Cursor) next(closing byte) bool {
	c.space()
	if c.fault != "" {
		return false
	}
	if c.pos >= len(c.data) {
		c.Fail("text ends early")
		return false
	}
	b := c.data[c.pos]
	if b == closing {
		c.pos++
		c.depth--
		c.fresh = false
		return false
	}
	if !c.fresh {
		if b != ',' {
			c.Fail("comma expected")
			return false
		}
		c.pos++
		c.space()
	}
	c.fresh = false
	return true
}

// Once faults when it is called twice for one bit of seen: a name that counts
// stands twice in one object, and readers differ in which of them they take.
func (c *Cursor) Once(seen *uint64, bit uint) {
	if *seen&(1<<bit) != 0 {
		c.Fail("duplicate key")
	}
	*seen |= 1 << bit
}

func (c *Cursor) space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\n', '\r', '\t':
			c.pos++
		default:
			return
		}
	}
}

// Pos is the offset of the next byte: behind the value that was taken last, or
// at the next value after [Cursor.Peek].
func (c *Cursor) Pos() int { return c.pos }
