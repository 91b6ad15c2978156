package main

import (
	"context"
	"fmt"
	"strings"

	"hindsight/store/weaviatedb"
)

// manyDescriptors is from how many descriptors on a server's limit is asked about:
// 1,024 is a shell's usual one, and a service's often not much more.
const manyDescriptors = 500

// checkWeaviate looks at the shared memory's server and changes nothing there.
func checkWeaviate(ctx context.Context, c *SharedConfig) (out []check) {
	const name = "weaviate"
	db, err := weaviatedb.New(weaviateOf(c, nil, nil))
	if err != nil {
		return []check{{name, checkFail, err.Error(), "Correct the configuration."}}
	}
	defer func() { _ = db.Close() }() // nothing is under way
	f, err := db.Look(ctx)
	if err != nil {
		return []check{{name, checkFail, err.Error(), weaviateNext(err)}}
	}
	found := fmt.Sprintf("Weaviate %s is ready; collection %s, layout %s, index %s, identity key %s", f.Version, c.Collection, c.Layout, c.Index, db.Fingerprint())
	if f.Missing {
		found += "; the collections will be made at the first start"
	}
	out = append(out, check{name, checkOK, found, ""})
	if need := f.Open * weaviatedb.OpenCosts; need > manyDescriptors {
		out = append(out, check{
			"descriptors", checkWarn, fmt.Sprintf("%d of %d tenants are open and need about %d descriptors there", f.Open, f.Tenants, need),
			fmt.Sprintf("See that the server's limit (ulimit -n, LimitNOFILE) is above %d, or use store.layout: shared.", 2*need),
		})
	}
	return out
}

func weaviateNext(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "SSL_CERT_FILE"):
		return "Set SSL_CERT_FILE to a file with the certificate of the authority, in PEM form."
	case strings.Contains(text, "can't be reached"), strings.Contains(text, "isn't ready"):
		return "Check VECTOR_DB_URL and the network; requests are forwarded meanwhile, with what the local copy has."
	case strings.Contains(text, "WEAVIATE_API_KEY"):
		return "Set WEAVIATE_API_KEY or WEAVIATE_API_KEY_FILE to a key that Weaviate knows and that may read and change both collections."
	case strings.Contains(text, "gRPC"):
		return "Check HINDSIGHT_WEAVIATE_GRPC: searches go over gRPC, by default to port 50051."
	}
	return "The shared memory is off until this is mended; docs/weaviate.md says more."
}
