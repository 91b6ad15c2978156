package inject

import (
	"time"

	"hindsight/store"
)

// An important memory that nobody has confirmed for checkAfter is shown with the
// words "please check", once in checkEvery, whichever conversation it is: the user
// hears of it, and what he says confirms or replaces it.
const (
	checkImportance = 0.7
	checkAfter      = 180 * 24 * time.Hour
	checkEvery      = 30 * 24 * time.Hour
)

// unconfirmed says whether a memory is to be shown so now.
func (e *Engine) unconfirmed(m *store.Memory, now time.Time) bool {
	confirmed := m.CreatedAt
	if m.LastVerified.After(confirmed) {
		confirmed = m.LastVerified
	}
	return m.Importance >= checkImportance && now.Sub(confirmed) >= checkAfter &&
		now.Sub(e.ledger.store.Offered(m.ID)) >= checkEvery
}
