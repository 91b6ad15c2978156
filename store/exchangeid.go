package store

import "strings"

// ExchangeID makes the id of an exchange from its session's and a few random
// characters: who has the id can find the session, so that no index of
// exchanges is needed.
func ExchangeID(session, own string) string {
	return "x" + strings.TrimPrefix(session, "s") + "." + own
}

// OwnExchange returns the characters that an exchange's id has more than its
// session's, and false for an id that [ExchangeID] didn't make of that session.
func OwnExchange(id, session string) (own string, ok bool) {
	in, own, ok := cutExchange(id)
	if !ok || len(session) < 2 || session[0] != 's' || session[1:] != in {
		return "", false
	}
	return own, true
}

// SessionOf returns the session of an exchange by its id, and false for an id
// that [ExchangeID] didn't make.
func SessionOf(exchange string) (session string, ok bool) {
	in, _, ok := cutExchange(exchange)
	if !ok {
		return "", false
	}
	return "s" + in, true
}

func cutExchange(id string) (in, own string, ok bool) {
	i := strings.LastIndexByte(id, '.')
	if i < 2 || id[0] != 'x' || i == len(id)-1 {
		return "", "", false
	}
	return id[1:i], id[i+1:], true
}
