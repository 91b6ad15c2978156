package main

import (
	"reflect"

	"hindsight/proxy/admin"
)

// effective lists the settings as they are in force, in the order of the list.
// A secret's value stays out, and so do the hashes of the callers' keys; the
// twins that name a secret's file are said by where the secret comes from.
func (s *settings) effective() []admin.Setting {
	twins := map[*setting]bool{}
	for _, pair := range s.secrets() {
		twins[pair[1]] = true
	}
	t := reflect.TypeFor[settings]()
	var out []admin.Setting
	i := 0
	for e := range s.entries() {
		tag := t.Field(i).Tag
		i++
		if twins[e.value] {
			continue
		}
		shown := admin.Setting{
			Key: e.key, Group: tag.Get("group"), Help: tag.Get("help"), Value: e.value.raw, From: e.value.from,
			Secret: e.value.secret || e.value == &s.AuthKeys, Set: e.value.raw != "",
		}
		if shown.Secret {
			shown.Value = ""
		}
		out = append(out, shown)
	}
	return out
}
