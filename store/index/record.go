package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

// A value is written field by field, by its type: whoever adds a field to a memory
// need not come here, and a snapshot of other fields has another form (see form).
// Numbers are varints, lengths stand before what they measure, nil is length 0 and
// everything else is one more than its length.

// errRecord is the error of a part that can't be read.
var errRecord = errors.New("malformed snapshot")

var timeType = reflect.TypeFor[time.Time]()

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type() == timeType {
		t, _ := reflect.TypeAssert[time.Time](v)
		return appendTime(b, t), nil
	}
	switch v.Kind() {
	case reflect.String:
		return appendString(b, v.String()), nil
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int64, reflect.Int32:
		return binary.AppendVarint(b, v.Int()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.Struct:
		var err error
		for i := 0; i < v.NumField() && err == nil; i++ {
			b, err = appendValue(b, v.Field(i))
		}
		return b, err
	case reflect.Slice:
		var err error
		b = appendLength(b, v)
		for i := 0; i < v.Len() && err == nil; i++ {
			b, err = appendValue(b, v.Index(i))
		}
		return b, err
	case reflect.Map:
		b = appendLength(b, v)
		for it := v.MapRange(); it.Next(); {
			var err error
			if b, err = appendValue(b, it.Key()); err != nil {
				return b, err
			}
			if b, err = appendValue(b, it.Value()); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	return b, fmt.Errorf("a %s can't be kept", v.Type())
}

func appendLength(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(v.Len())+1)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendTime writes seconds, nanoseconds and the minutes east of UTC.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	_, east := t.Zone()
	b = append(b, 1)
	b = binary.AppendVarint(b, t.Unix())
	b = binary.AppendUvarint(b, uint64(t.Nanosecond()))
	return binary.AppendVarint(b, int64(east))
}

// reader reads what was written so. After the first mistake everything is zero and
// bad is set. Strings share memory with the text.
type reader struct {
	text string
	at   int
	bad  bool
}

func (r *reader) more() bool { return !r.bad && r.at < len(r.text) }

func (r *reader) take(n int) string {
	if r.bad || n < 0 || n > len(r.text)-r.at {
		r.bad = true
		return ""
	}
	r.at += n
	return r.text[r.at-n : r.at]
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	var x uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if r.at >= len(r.text) {
			break
		}
		c := r.text[r.at]
		r.at++
		x |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return x
		}
	}
	r.bad = true
	return 0
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	x := int64(u >> 1)
	if u&1 != 0 {
		x = ^x
	}
	return x
}

// length reads a number of things of at least one byte each.
func (r *reader) length() int {
	n := r.uvarint()
	if n > uint64(len(r.text)-r.at)+1 {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) string() string { return r.take(r.length()) }

func (r *reader) uint32() uint32 {
	s := r.take(4)
	if s == "" {
		return 0
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (r *reader) time() time.Time {
	if r.byte() == 0 {
		return time.Time{}
	}
	sec, nsec, east := r.varint(), r.uvarint(), r.varint()
	if nsec >= 1e9 || east < -86400 || east > 86400 {
		r.bad = true
		return time.Time{}
	}
	t := time.Unix(sec, int64(nsec)).UTC()
	if east != 0 {
		t = t.In(time.FixedZone("", int(east)))
	}
	return t
}

// value fills v, which can be set and is zero.
func (r *reader) value(v reflect.Value) {
	if v.Type() == timeType {
		if p, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*p = r.time()
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.string())
	case reflect.Bool:
		v.SetBool(r.byte() != 0)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(r.varint())
	case reflect.Float64:
		low, high := r.uint32(), r.uint32()
		v.SetFloat(math.Float64frombits(uint64(low) | uint64(high)<<32))
	case reflect.Struct:
		for i := 0; i < v.NumField() && !r.bad; i++ {
			r.value(v.Field(i))
		}
	case reflect.Slice:
		n := r.length()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		for i := 0; i < n-1 && !r.bad; i++ {
			r.value(v.Index(i))
		}
	case reflect.Map:
		n := r.length()
		if n == 0 {
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), n-1)
		for i := 0; i < n-1 && !r.bad; i++ {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.value(key)
			r.value(value)
			m.SetMapIndex(key, value)
		}
		v.Set(m)
	default:
		r.bad = true
	}
}

// shape describes a type as appendValue sees it.
func shape(t reflect.Type) string {
	switch {
	case t == timeType:
		return "time"
	case t.Kind() == reflect.Struct:
		s := "{"
		for i := range t.NumField() {
			s += t.Field(i).Name + " " + shape(t.Field(i).Type) + ";"
		}
		return s + "}"
	case t.Kind() == reflect.Slice:
		return "[]" + shape(t.Elem())
	case t.Kind() == reflect.Map:
		return "map[" + shape(t.Key()) + "]" + shape(t.Elem())
	}
	return t.Kind().String()
}
