package lifecycle

import (
	"context"
	"slices"
	"strings"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// maxAlike bounds how many memories one is compared with: those of its type that
// hold the same numbers, the newest of them.
const maxAlike = 500

// Shared is the same lesson, taught to two users. A is of the memories asked for.
type Shared struct{ A, B store.Memory }

// Taught finds which of mine another user of the tenant was taught too, each in a
// conversation: of the same type, in the same or nearly the same words, with the same
// claims, and without either's name in it. It ends with ctx, with what it has found.
func Taught(ctx context.Context, mine, all []store.Memory) []Shared {
	byNumbers := map[string][]store.Memory{}
	for _, m := range slices.SortedFunc(slices.Values(all), func(a, b store.Memory) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
		if k := numbersKey(m); m.Type.Shareable() && len(byNumbers[k]) < maxAlike {
			byNumbers[k] = append(byNumbers[k], m)
		}
	}
	var out []Shared
	seen := map[[2]string]bool{}
	for _, a := range mine {
		if ctx.Err() != nil {
			return out
		}
		if !a.Type.Shareable() {
			continue
		}
		for _, b := range byNumbers[numbersKey(a)] {
			if !seen[[2]string{b.ID, a.ID}] && sameLesson(a, b) {
				seen[[2]string{a.ID, b.ID}] = true
				out = append(out, Shared{a, b})
			}
		}
	}
	return out
}

func numbersKey(m store.Memory) string {
	return string(m.Type) + "\x00" + strings.Join(wording.Numbers(m.Text), "\x00")
}

func sameLesson(a, b store.Memory) bool {
	one, ok := a.Scope.UserOf()
	other, also := b.Scope.UserOf()
	if !ok || !also || one == other || a.Tenant != b.Tenant || a.Type != b.Type || a.State != store.Active || b.State != store.Active {
		return false
	}
	if !heard(a) || !heard(b) {
		return false
	}
	if store.Fold(a.Text) != store.Fold(b.Text) &&
		(!alike(len(a.Text), len(b.Text)) || wording.Near(a.Text, b.Text) <= Near || !wording.SameClaims(a.Text, b.Text) ||
			wording.Inverted(a.Text, b.Text) || turned(a.Text, b.Text)) {
		return false
	}
	return !names(a.Text, one) && !names(a.Text, other) && !names(b.Text, one) && !names(b.Text, other)
}

// heard says whether a memory rests on a conversation. What agents write doesn't:
// those of two users may have read the same page.
func heard(m store.Memory) bool {
	return slices.ContainsFunc(m.Evidence, func(e store.Evidence) bool { return e.Session != "" })
}

// names says whether a text names a user by id: then it isn't for others.
func names(text, user string) bool {
	user = store.Fold(user)
	return user != "" && strings.Contains(" "+store.Fold(text)+" ", " "+user+" ")
}

// Target is the narrowest of the scopes that a tenant's grants open to which a
// pair may go: the agent's where both were taught by it, else the shared one.
func Target(p Shared, granted []store.Scope) (store.Scope, bool) {
	_, a, _ := strings.Cut(string(p.A.Scope), "/")
	_, b, _ := strings.Cut(string(p.B.Scope), "/")
	if agent := store.Scope(a); a != "" && a == b && slices.Contains(granted, agent) {
		return agent, true
	}
	return store.Shared, slices.Contains(granted, store.Shared)
}
