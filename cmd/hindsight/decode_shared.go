package main

import (
	"net"
	"regexp"

	"hindsight/store/badgerdb"
)

// collectionName is what Weaviate takes as a collection's name.
var collectionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,99}$`)

// shared decodes where the memory is that sidecars share; nil: they don't.
func (d decoder) shared(s *settings) *SharedConfig {
	c := &SharedConfig{
		URL:        d.url(s.VectorDBURL),
		GRPC:       s.WeaviateGRPC.raw,
		Key:        d.token(s.WeaviateAPIKey, 1),
		Collection: s.MemoryCollection.raw,
		Layout:     d.word(s.StoreLayout, "shared", "isolated"),
		Index:      d.word(s.StoreIndex, "flat", "hnsw", "dynamic"),
		Cache:      d.size(s.StoreCache),
	}
	if s.VectorDBURL.raw == "" {
		return nil
	}
	if u := c.URL; u != nil && u.Path != "" && u.Path != "/" {
		d.ps.add(s.VectorDBURL, "has a path", "Write scheme, host and port alone, such as http://weaviate:8080.")
	}
	if c.GRPC != "" {
		if _, _, err := net.SplitHostPort(c.GRPC); err != nil {
			d.ps.add(s.WeaviateGRPC, "isn't an address", "Write host and port, such as weaviate:50051.")
		}
	}
	if !collectionName.MatchString(c.Collection) {
		d.ps.add(s.MemoryCollection, "isn't a collection's name", "Write letters, digits and underscores, a letter first, such as AgentMemory.")
	}
	if s.IdentityKeyFile.raw == "" {
		*d.ps = append(*d.ps, problem{
			Field: "HINDSIGHT_IDENTITY_KEY_FILE", Wrong: "isn't set, and with " + s.VectorDBURL.label() + " every sidecar must have the same identity key",
			Next: "Make one with `openssl rand -hex 32 > identity.key && chmod 600 identity.key`, give it to every sidecar, and name it here.",
		})
		return c
	}
	var err error
	if c.Identity, err = badgerdb.ReadKey(s.IdentityKeyFile.raw); err != nil && d.file(s.IdentityKeyFile) != "" {
		d.ps.add(s.IdentityKeyFile, "doesn't hold an identity key: 32 bytes, raw or as 64 hexadecimal digits", "Make one with: openssl rand -hex 32 > FILE.")
	}
	return c
}
