package scan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// check walks a whole text.
func check(text string) error {
	c := New([]byte(text))
	c.Skip()
	return c.End()
}

func TestSkipAcceptsJSONAlone(t *testing.T) {
	good := []string{
		`null`, ` true `, "\t\r\nfalse", `0`, `-0`, `1.0`, `1e400`, `9007199254740993`, `-12.50E+3`, `""`,
		`"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, `"\ud800"`, `"héllo 你好 😀"`, `[]`, `[ ]`, `{}`, `[1,[2,{"a":[]}]]`,
		`{"a":1,"a":2}`, "\"\x7f\u2028\"", `{"":{"":""}}`, strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
		`"` + strings.Repeat("x", 63) + `\\"`, `[1 , 2]`, `{ "a" : 1 }`,
	}
	for _, text := range good {
		if err := check(text); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	bad := map[string]string{
		"":                              "value expected at byte 0",
		" ":                             "value expected at byte 1",
		"\ufeff{}":                      "value expected at byte 0",
		"{}{}":                          "trailing bytes at byte 2",
		"{} x":                          "trailing bytes at byte 3",
		"{,}":                           "member name expected at byte 1",
		`{"a"}`:                         "colon expected at byte 4",
		`{"a":}`:                        "value expected at byte 5",
		`{"a":1,}`:                      "member name expected at byte 7",
		`{"a":1 "b":2}`:                 "comma expected at byte 7",
		`{a:1}`:                         "member name expected at byte 1",
		`{"a":1`:                        "text ends early at byte 6",
		`[1,]`:                          "value expected at byte 3",
		`[,1]`:                          "value expected at byte 1",
		`[1`:                            "text ends early at byte 2",
		`[1}`:                           "comma expected at byte 2",
		`"abc`:                          "string ends early at byte 4",
		`"abc\`:                         "invalid escape at byte 4",
		`"\x"`:                          "invalid escape at byte 1",
		`"\u12g4"`:                      "invalid escape at byte 1",
		`"\u123"`:                       "invalid escape at byte 1",
		"\"a\nb\"":                      "control character in a string at byte 2",
		"\"12345678\x00\"":              "control character in a string at byte 9",
		"\"12345678abc\xff\"":           "invalid UTF-8 at byte 14",
		"\"\xe4\xbd\"":                  "invalid UTF-8 at byte 4",
		`01`:                            "trailing bytes at byte 1",
		`1.`:                            "digit expected at byte 2",
		`.5`:                            "value expected at byte 0",
		`+1`:                            "value expected at byte 0",
		`-`:                             "digit expected at byte 1",
		`1e`:                            "digit expected at byte 2",
		`NaN`:                           "value expected at byte 0",
		`nul`:                           "value expected at byte 0",
		`tru`:                           "value expected at byte 0",
		`'a'`:                           "value expected at byte 0",
		`{"a":1}//`:                     "trailing bytes at byte 7",
		`[` + "\v" + `1]`:               "value expected at byte 1",
		strings.Repeat("[", MaxDepth+1): "nesting too deep at byte 512",
	}
	for text, want := range bad {
		err := check(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}

// Eight bytes are looked at together: no place among them may hide a byte that
// ends or spoils a string.
func TestEveryByteAtEveryPlace(t *testing.T) {
	for at := range 24 {
		for b := range 256 {
			text := []byte(`"` + strings.Repeat("é", 12) + `"`)
			text = append(text[:1+at:1+at], append([]byte{byte(b)}, strings.Repeat("x", 24)+`"`...)...)
			if got, want := check(string(text)) == nil, json.Valid(text) && utf8.Valid(text); got != want {
				t.Fatalf("%q: taken for valid: %v", text, got)
			}
		}
	}
}

func TestTolerantLetsBytesPass(t *testing.T) {
	c := Tolerant([]byte("\"half \xe4\xbd\""))
	if got := c.Text(); got != "half \xe4\xbd" || c.End() != nil {
		t.Errorf("got %q, %v", got, c.End())
	}
}

func TestWalk(t *testing.T) {
	text := `{"\u0061":"x\ty","n":12,"f":1.5e1,"big":1e400,"t":true,"l":[1,"two",null],"o":{"k":"v"},"z":null}`
	c := New([]byte(text))
	got := map[string]any{}
	for c.Object(); c.Member(); {
		name := string(c.Name())
		switch name {
		case "a", "z":
			got[name] = c.Text()
		case "n", "f", "big":
			if n, ok := c.Int(); ok {
				got[name] = n
			}
		case "t":
			got[name] = c.True()
		case "l":
			n := 0
			for c.Array(); c.Element(); n++ {
				c.Skip()
			}
			got[name] = n
		default:
			start, end := c.Skip()
			got[name] = text[start:end]
		}
	}
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": "x\ty", "n": 12, "f": 15, "t": true, "l": 3, "o": `{"k":"v"}`, "z": ""}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: got %v, want %v", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

func TestIntTakesWholeNumbersThatFit(t *testing.T) {
	for text, want := range map[string]int{
		"7": 7, "-1": -1, "7.0": 7, "7e2": 700, "9007199254740993": 9007199254740993,
		"7.5": math.MinInt, "1e400": math.MinInt, "99999999999999999999": math.MinInt, `"7"`: math.MinInt, "null": math.MinInt,
	} {
		got, ok := New([]byte(text)).Int()
		if !ok {
			got = math.MinInt
		}
		if got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

func TestOnceSeesThroughEscapes(t *testing.T) {
	c := New([]byte(`{"role":1,"x":2,"x":3,"\u0072ole":4}`))
	var seen uint64
	for c.Object(); c.Member(); c.Skip() {
		if string(c.Name()) == "role" {
			c.Once(&seen, 3)
		}
	}
	if err := c.Err(); err == nil || !strings.HasPrefix(err.Error(), "duplicate key") {
		t.Errorf("got %v", err)
	}
}

func TestEscaping(t *testing.T) {
	for _, s := range []string{"", "plain", "a\"b\\c/d", "\x00\x01\x1f\b\f\n\r\t\x7f", "你好 😀 \u2028", strings.Repeat("\n", 9)} {
		got := AppendEscaped(nil, s)
		if len(got) != EscapedLen(s) {
			t.Errorf("%q: length %d, announced %d", s, len(got), EscapedLen(s))
		}
		var back string
		if err := json.Unmarshal(AppendQuoted(nil, s), &back); err != nil || back != s {
			t.Errorf("%q: read back as %q, %v", s, back, err)
		}
	}
	if got := string(AppendQuoted(nil, "a\xffb")); got != "\"a\uFFFDb\"" {
		t.Errorf("invalid UTF-8 became %q", got)
	}
}

// FuzzSkip holds the walk against encoding/json: the same texts are JSON, and
// every string literal reads the same.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\ud800\udc00\ud800x"]}`, `"\udc00\ud800"`, `"\ud800\n"`, `[1,]`,
		"\"\x1f\"", `{"a":1}x`, "\"\xff\"", `"\\\\\\\""`, `-`, `0x`, `"12345678\"`, "[\"\u2028\",\"\x7f\"]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := check(string(data))
		if err != nil && strings.HasPrefix(err.Error(), "nesting") {
			return
		}
		// A byte that isn't UTF-8 is valid JSON nowhere, but encoding/json
		// takes it in strings.
		if want := json.Valid(data) && utf8.Valid(data); (err == nil) != want {
			t.Fatalf("got %v, encoding/json says valid: %v", err, want)
		}
		if err != nil {
			return
		}
		if c := New(data); c.Peek() == String {
			var want string
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if got := c.Text(); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
			if got := AppendQuoted(nil, want); json.Unmarshal(got, &want) != nil || string(AppendQuoted(nil, want)) != string(got) {
				t.Fatalf("quoting %q gave %q", want, got)
			}
		}
	})
}
