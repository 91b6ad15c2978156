package harm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/store"
	"hindsight/store/index"
)

// The memories of the trials that are the same for all prompts, by language.
var (
	irrelevant = map[string]string{
		"en": "User's bicycle has a hub dynamo and a squeaking front brake.",
		"zh": "用户的自行车前刹有异响，装了花鼓发电机。",
	}
	standing = map[string]string{
		"en": "User wants temperatures in Celsius and distances in kilometres from now on.",
		"zh": "用户以后都希望温度用摄氏度、距离用公里。",
	}
)

// request is the body of one trial, and the block in it.
func request(ctx context.Context, model string, p Prompt, t trial) (body []byte, block string, err error) {
	body, err = json.Marshal(map[string]any{
		"model": model, "temperature": 0, "max_tokens": 400,
		"messages": []map[string]string{{"role": "user", "content": p.Text}},
	})
	if err != nil {
		return nil, "", fmt.Errorf("write the request: %w", err)
	}
	if t.block == "none" {
		return body, "", nil
	}
	if block, err = makeBlock(ctx, p, t); err != nil {
		return nil, "", err
	}
	req, err := chat.Dialect{}.Scan(body)
	if err != nil {
		return nil, "", fmt.Errorf("read the request: %w", err)
	}
	in, err := chat.Dialect{}.Inserts(req, []dialect.Block{{Message: 0, Text: block}}, dialect.SpliceOptions{Tail: t.position == "tail"})
	if err != nil {
		return nil, "", fmt.Errorf("put the block in: %w", err)
	}
	return bytes.Join(dialect.Splice(body, in), nil), block, nil
}

// makeBlock is the block that a conversation gets whose memory holds one thing.
// It goes through the always-set, which asks no gate.
func makeBlock(ctx context.Context, p Prompt, t trial) (string, error) {
	m := store.Memory{Type: store.UserFact, Text: p.Relevant}
	switch t.block {
	case "irrelevant":
		m.Text = irrelevant[p.Lang]
	case "standing":
		m.Type, m.Text = store.Preference, standing[p.Lang]
	}
	o := store.Owner{Tenant: "eval", User: "harm"}
	m.Tenant, m.Scope, m.Standing, m.State = o.Tenant, o.Scope(), true, store.Active
	m.ID = store.MemoryID(m.Tenant, m.Scope, "", 0, 0, "", store.Fold(m.Text))
	m.CreatedAt = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	s := shelf{&m}
	x := index.New(index.Config{}, s)
	defer x.Close()
	e, err := inject.New(inject.Config{Deadline: time.Minute}, x, s, s, nil, nil)
	if err != nil {
		return "", fmt.Errorf("make a block: %w", err)
	}
	plan := e.Plan(ctx, inject.Conversation{
		Owner: o, Session: p.ID, Places: []inject.Place{{}}, Words: p.Text, Recall: true, Now: m.CreatedAt.AddDate(0, 1, 0), Zone: time.UTC,
	})
	if len(plan.Blocks) == 0 {
		return "", fmt.Errorf("make a block: the plan has none (%s %s)", plan.Status, plan.Reason)
	}
	return plan.Blocks[0].Text, nil
}

// shelf is a store that holds one memory.
type shelf struct{ only *store.Memory }

func (shelf) ScopeVersion(string, store.Scope) uint64 { return 1 }

func (s shelf) ScopeMemories(context.Context, string, store.Scope) ([]store.Memory, uint64, error) {
	return []store.Memory{*s.only}, 1, nil
}

func (shelf) ScopeChanges(string, store.Scope, uint64) ([]store.Memory, uint64, bool) {
	return nil, 1, true
}

func (shelf) LoadLedger(context.Context, store.Owner, string) ([]store.LedgerEntry, error) {
	return nil, nil
}
func (shelf) SaveLedger([]store.LedgerEntry) {}
func (shelf) Gone(string) bool               { return false }
func (shelf) Offered(string) time.Time       { return time.Time{} }
func (shelf) SaveWhy(store.Why)              {}
