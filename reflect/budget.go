package hreflect

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"hindsight/store"
)

// budget is what reflection may spend: a share of the tokens that a tenant sent
// through us on a day, and a little in any case, without which a tenant of
// short conversations would have no reflection at all. What was spent is
// written before the next call; what was sent every few seconds, so that a
// process that is killed forgets the last of it and spends less, not more.
type budget struct {
	share *float64 // nil: no limit
	least int
	zone  *time.Location
	facts Facts

	// arrived is what was sent and isn't counted yet: its lock is never held
	// while something is read or written.
	arrivals sync.Mutex
	arrived  map[string]int64 // by tenant

	mu    sync.Mutex // taken before arrivals
	days  map[string]*spending
	dirty map[string]bool
}

// spending is one tenant's day, in tokens. Its JSON form is a fact.
type spending struct {
	Day   string `json:"day"`
	Sent  int64  `json:"sent"`
	Spent int64  `json:"spent"`
}

func newBudget(cfg Config, facts Facts) *budget {
	return &budget{
		share: cfg.Budget, least: cfg.BudgetLeast, zone: cfg.Zone, facts: facts,
		arrived: map[string]int64{}, days: map[string]*spending{}, dirty: map[string]bool{},
	}
}

func budgetFact(tenant string) string { return "reflection budget of " + tenant }

// today is a tenant's day with all that has arrived; it is read when it is
// first asked for. The caller holds mu.
func (b *budget) today(ctx context.Context, tenant string, now time.Time) (*spending, error) {
	is := b.days[tenant]
	if is == nil {
		value, _, err := b.facts.Fact(ctx, budgetFact(tenant))
		if err != nil {
			return nil, fmt.Errorf("read what reflection has spent: %w", err)
		}
		is = &spending{}
		if json.Unmarshal([]byte(value), is) != nil {
			*is = spending{} // never written
		}
		b.days[tenant] = is
	}
	if day := now.In(b.zone).Format(time.DateOnly); is.Day != day {
		*is = spending{Day: day}
	}
	b.arrivals.Lock()
	defer b.arrivals.Unlock()
	if n := b.arrived[tenant]; n > 0 {
		is.Sent += n
		delete(b.arrived, tenant)
		b.dirty[tenant] = true
	}
	return is, nil
}

// sent counts a request of a tenant. It is called for every one: no disk.
func (b *budget) sent(tenant string, tokens int) {
	b.arrivals.Lock()
	defer b.arrivals.Unlock()
	b.arrived[tenant] += int64(tokens)
}

// allows says whether a tenant may spend so many more tokens today.
func (b *budget) allows(ctx context.Context, tenant string, tokens int, now time.Time) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is, err := b.today(ctx, tenant, now)
	if err != nil || b.share == nil {
		return err == nil, err
	}
	may := max(float64(b.least), *b.share*float64(is.Sent))
	return float64(is.Spent)+float64(tokens) <= may, nil
}

// spend counts what a call cost, and writes it down.
func (b *budget) spend(ctx context.Context, tenant string, tokens int, now time.Time) error {
	b.mu.Lock()
	is, err := b.today(ctx, tenant, now)
	if err == nil {
		is.Spent += int64(tokens)
		b.dirty[tenant] = true
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return b.save(ctx, now)
}

// save writes the days that have changed.
func (b *budget) save(ctx context.Context, now time.Time) error {
	b.mu.Lock()
	b.arrivals.Lock()
	for tenant := range b.arrived {
		b.dirty[tenant] = true
	}
	b.arrivals.Unlock()
	values := map[string]string{}
	for tenant := range b.dirty {
		is, err := b.today(ctx, tenant, now)
		if err != nil {
			b.mu.Unlock()
			return err
		}
		v, _ := json.Marshal(is) // a date and two numbers
		values[tenant] = string(v)
	}
	clear(b.dirty)
	b.mu.Unlock()
	for tenant, v := range values {
		if err := b.facts.SetFact(ctx, budgetFact(tenant), v); err != nil {
			b.mu.Lock()
			for tenant := range values {
				b.dirty[tenant] = true
			}
			b.mu.Unlock()
			return fmt.Errorf("write what reflection has spent: %w", err)
		}
	}
	return nil
}

// Sent counts a request that a tenant sent through us, in tokens: what
// reflection may cost follows from it. It doesn't touch the disk.
func (r *Runner) Sent(x *store.Exchange) { r.budget.sent(x.Owner.Tenant, x.Sent) }
