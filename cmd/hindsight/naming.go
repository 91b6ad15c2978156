package main

import (
	"encoding/json"

	"hindsight/inject"
	"hindsight/proxy/admin"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
	"hindsight/proxy/session/clients"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// naming gives conversations that are reported to the management API the names
// that the proxy would give them.
type naming struct {
	store *badgerdb.Store
	rules *clients.Rules
}

var _ admin.Naming = naming{}

// SessionID implements admin.Naming.
func (n naming) SessionID(o store.Owner, external string) (string, error) {
	key, err := n.store.Key()
	if err != nil {
		return "", err
	}
	return session.ExplicitID(key, o, external), nil
}

// PlaceKey implements admin.Naming.
func (n naming) PlaceKey(o store.Owner, parts ...string) (store.Hash, error) {
	key, err := n.store.Key()
	if err != nil {
		return store.Hash{}, err
	}
	return session.ReportedKey(key, o, parts...), nil
}

// Words implements admin.Naming: what clients put around a person's words is
// the same wherever it is recorded.
func (n naming) Words(message string) (words, thirdParty string) {
	literal, err := json.Marshal(message)
	if err != nil {
		return message, ""
	}
	part := dialect.NewTextPart(dialect.TextPart, "text", literal, 0, len(literal))
	return n.rules.Words(dialect.Message{Role: dialect.User, Parts: []dialect.Part{part}}, "")
}

// clientRules are the tables of clients, shipped and configured.
func clientRules(cfg Config) (*clients.Rules, error) {
	rules, err := clients.New(clients.Default().Append(cfg.Clients), clients.WithStrip(inject.Strip))
	if err != nil {
		return nil, &failure{wrong: err.Error(), next: "Correct the entry in the configuration.", code: exitUsage}
	}
	return rules, nil
}
