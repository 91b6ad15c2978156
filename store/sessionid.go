package store

import (
	"crypto/rand"
	"math"
	"strings"
	"time"
)

// drawnLen is the length of a session id that was drawn: `s`, 13 characters of
// the time and 13 random ones.
const drawnLen = 1 + 13 + 13

// idDigits are 32, in the order of their bytes.
const idDigits = "234567abcdefghijklmnopqrstuvwxyz"

// DrawSession makes the id of a session that nobody has named. When it began
// stands in it, so that what is kept of it lies in order of time and is found
// without an index; 65 random bits tell the sessions of one moment apart.
func DrawSession(now time.Time) string {
	var at [13]byte
	n := uint64(now.UnixNano())
	for i := range at {
		at[len(at)-1-i] = idDigits[n&31]
		n >>= 5
	}
	return "s" + string(at[:]) + strings.ToLower(rand.Text()[:13])
}

// DrawnAt returns when a session began whose id was drawn, and false for every
// other id.
func DrawnAt(session string) (time.Time, bool) {
	if len(session) != drawnLen || session[0] != 's' {
		return time.Time{}, false
	}
	n := uint64(0)
	for i := 1; i <= 13; i++ {
		digit := strings.IndexByte(idDigits, session[i])
		if digit < 0 {
			return time.Time{}, false
		}
		n = n<<5 | uint64(digit)
	}
	if n == 0 || n > math.MaxInt64 {
		return time.Time{}, false
	}
	return time.Unix(0, int64(n)).UTC(), true
}
