package main

import (
	"iter"
	"reflect"
	"strings"
)

// settings is the one list of what can be configured. The tags say everything
// about a key: its flag (name), its place in the file (key), an environment
// variable besides HINDSIGHT_<KEY> (also), its default (def) and whether it is
// a secret. A secret's twin ends in File and holds a path instead.
type settings struct {
	LLMAPIBase          setting `name:"llm-api-base" key:"llm.api_base" also:"LLM_API_BASE" group:"upstream" placeholder:"URL" help:"The model API to forward to."`
	LLMAPIBaseAnthropic setting `name:"llm-api-base-anthropic" key:"llm.api_base_anthropic" also:"LLM_API_BASE_ANTHROPIC" group:"upstream" placeholder:"URL" help:"The upstream of Anthropic's message format; the same as --llm-api-base where left out."`
	LLMAPIKey           setting `name:"llm-api-key" key:"llm.api_key" also:"LLM_API_KEY" secret:"true" group:"upstream" placeholder:"KEY" help:"The upstream's key, for reflection and for callers with a Hindsight key."`
	LLMAPIKeyFile       setting `name:"llm-api-key-file" key:"llm.api_key_file" also:"LLM_API_KEY_FILE" group:"upstream" placeholder:"PATH" help:"A file with it."`
	WireWebsocket       setting `name:"wire-websocket" key:"wire.websocket" def:"fallback" group:"upstream" placeholder:"WORD" help:"WebSockets on the responses route: fallback (to HTTP, with memory) or tunnel."`
	MaxBody             setting `name:"max-body" key:"max_body" def:"64MiB" group:"upstream" placeholder:"SIZE" help:"Largest request body."`
	MaxInFlight         setting `name:"max-in-flight" key:"max_in_flight" def:"512MiB" group:"upstream" placeholder:"SIZE" help:"Bytes of all request bodies and copies of answers that are held at a time; above it requests pass without memory."`
	HeaderTimeout       setting `name:"header-timeout" key:"header_timeout" def:"10s" group:"upstream" placeholder:"TIME" help:"How long a client may take to send its headers."`
	FirstByteTimeout    setting `name:"upstream-first-byte-timeout" key:"upstream.first_byte_timeout" def:"0s" group:"upstream" placeholder:"TIME" help:"How long the upstream may take to begin its answer; 0s: as long as it likes."`

	Listen        setting `name:"listen" key:"listen" def:"127.0.0.1:8080" group:"listeners" placeholder:"ADDRESS" help:"The proxy."`
	AdminListen   setting `name:"admin-listen" key:"admin.listen" def:"127.0.0.1:8081" group:"listeners" placeholder:"ADDRESS" help:"The management API."`
	AdminToken    setting `name:"admin-token" key:"admin.token" secret:"true" group:"listeners" placeholder:"TOKEN" help:"Bearer token of the management API; made in the data directory where left out."`
	AdminTokFile  setting `name:"admin-token-file" key:"admin.token_file" group:"listeners" placeholder:"PATH" help:"A file with it."`
	AdminHosts    setting `name:"admin-hosts" key:"admin.hosts" group:"listeners" placeholder:"NAMES" help:"Further Host values that the management API answers to."`
	AdminTLSCert  setting `name:"admin-tls-cert-file" key:"admin.tls_cert_file" group:"listeners" placeholder:"PATH" help:"The management API listens with TLS, with this certificate (PEM, its chain included); commands trust it."`
	AdminTLSKey   setting `name:"admin-tls-key-file" key:"admin.tls_key_file" group:"listeners" placeholder:"PATH" help:"The certificate's key (PEM)."`
	MetricsListen setting `name:"metrics-listen" key:"metrics.listen" group:"listeners" placeholder:"ADDRESS" help:"A listener for /metrics alone, without a token."`
	DrainGrace    setting `name:"drain-grace" key:"drain.grace" def:"10m" group:"listeners" placeholder:"TIME" help:"How long streams may go on after SIGTERM."`
	TLSCertFile   setting `name:"tls-cert-file" key:"tls.cert_file" group:"listeners" placeholder:"PATH" help:"The proxy listens with TLS, with this certificate (PEM, its chain included)."`
	TLSKeyFile    setting `name:"tls-key-file" key:"tls.key_file" group:"listeners" placeholder:"PATH" help:"The certificate's key (PEM)."`

	Tenant          setting `name:"tenant" key:"tenant" group:"identity" placeholder:"NAME" help:"The tenant of callers without a key binding; where left out one for each credential, and on a machine of your own the first one's is default."`
	DefaultUser     setting `name:"default-user" key:"default_user" group:"identity" placeholder:"NAME" help:"The user of requests that name none; where left out they get no memory, and on a machine of your own they are local's."`
	IdentityKeyFile setting `name:"identity-key-file" key:"identity.key_file" group:"identity" placeholder:"PATH" help:"Keys the hashes of names and credentials; made in the data directory where left out."`
	TrustHeaders    toggle  `name:"identity-trust-headers" key:"identity.trust_headers" def:"true" group:"identity" placeholder:"BOOL" help:"Read the user from the headers of known clients; false: Hindsight-User alone."`
	UserHeaders     setting `name:"identity-user-headers" key:"identity.user_headers" group:"identity" placeholder:"JSON" help:"Further headers that name the user."`
	Origins         setting `name:"identity-origins" key:"identity.origins" group:"identity" placeholder:"NAMES" help:"Hosts of web pages whose requests have memory, beside pages of this machine."`
	SessionHeaders  setting `name:"identity-session-headers" key:"identity.session_headers" group:"identity" placeholder:"JSON" help:"Further headers that name the conversation."`
	WebUISecret     setting `name:"identity-openwebui-jwt-secret" key:"identity.openwebui_jwt_secret" secret:"true" group:"identity" placeholder:"SECRET" help:"Verifies Open WebUI's signed user headers."`
	WebUISecretFile setting `name:"identity-openwebui-jwt-secret-file" key:"identity.openwebui_jwt_secret_file" group:"identity" placeholder:"PATH" help:"A file with it."`
	AuthMode        setting `name:"auth-mode" key:"auth.mode" def:"passthrough" group:"identity" placeholder:"WORD" help:"passthrough, or keys: callers show a Hindsight key."`
	AuthKeys        setting `name:"auth-keys" key:"auth.keys" group:"identity" placeholder:"JSON" help:"The Hindsight keys, by hash."`
	Grants          setting `name:"grants" key:"grants" group:"identity" placeholder:"JSON" help:"Scopes that others than their owner read."`
	SideCalls       setting `name:"clients-side-calls" key:"clients.side_calls" group:"identity" placeholder:"JSON" help:"Further rules for requests that no person made."`
	Wrappers        setting `name:"clients-wrappers" key:"clients.wrappers" group:"identity" placeholder:"JSON" help:"Further wrappers around a person's words."`

	DataDir              setting `name:"data-dir" key:"data_dir" group:"store" placeholder:"PATH" help:"Where everything is kept; ~/.local/share/hindsight where left out."`
	EncryptionKeyFile    setting `name:"encryption-key-file" key:"encryption.key_file" group:"store" placeholder:"PATH" help:"16, 24 or 32 bytes: encryption at rest."`
	OldEncryptionKeyFile setting `name:"encryption-old-key-file" key:"encryption.old_key_file" group:"store" placeholder:"PATH" help:"The key file before, to rotate: the directory is brought under the new one."`
	VectorDBURL          setting `name:"vector-db-url" key:"vector_db_url" also:"VECTOR_DB_URL" group:"store" placeholder:"URL" help:"A Weaviate to keep the memories in; embedded where left out."`
	WeaviateAPIKey       setting `name:"weaviate-api-key" key:"weaviate.api_key" also:"WEAVIATE_API_KEY" secret:"true" group:"store" placeholder:"KEY" help:"Its key."`
	WeaviateKeyFile      setting `name:"weaviate-api-key-file" key:"weaviate.api_key_file" also:"WEAVIATE_API_KEY_FILE" group:"store" placeholder:"PATH" help:"A file with it."`
	MemoryCollection     setting `name:"memory-collection" key:"memory_collection" also:"MEMORY_COLLECTION" def:"AgentMemory" group:"store" placeholder:"NAME" help:"Its collection."`
	WeaviateGRPC         setting `name:"weaviate-grpc" key:"weaviate.grpc" group:"store" placeholder:"ADDRESS" help:"Its gRPC address; the URL's host and port 50051 (https: 443) where left out."`
	StoreLayout          setting `name:"store-layout" key:"store.layout" def:"shared" group:"store" placeholder:"WORD" help:"shared: a Weaviate tenant for each tenant; isolated: one for each scope."`
	StoreIndex           setting `name:"store-vector-index" key:"store.vector_index" def:"flat" group:"store" placeholder:"WORD" help:"Weaviate's index: flat, hnsw or dynamic."`
	StoreCache           setting `name:"store-cache" key:"store.cache" def:"1GiB" group:"store" placeholder:"SIZE" help:"Most that is copied from Weaviate into the data directory."`
	Strict               toggle  `name:"strict" key:"strict" def:"false" group:"store" placeholder:"BOOL" help:"Stop where the local store can't be used, instead of forwarding without memory."`

	SessionIdle    setting `name:"session-idle" key:"session.idle" def:"10m" group:"reflection" placeholder:"TIME" help:"A session is over after this much silence."`
	SessionPerHour setting `name:"session-per-hour" key:"session.per_hour" def:"200" group:"reflection" placeholder:"N" help:"Most sessions that a user's scope may gain in an hour; further ones get no memory until fewer come. 0: any number."`
	ReflectModel   setting `name:"reflect-model" key:"reflect.model" group:"reflection" placeholder:"MODEL" help:"Model for reflection; the session's own where left out, rules for none."`
	ReflectAPIBase setting `name:"reflect-api-base" key:"reflect.api_base" group:"reflection" placeholder:"URL" help:"Another endpoint for reflection."`
	ReflectAPIKey  setting `name:"reflect-api-key" key:"reflect.api_key" secret:"true" group:"reflection" placeholder:"KEY" help:"Its key."`
	ReflectKeyFile setting `name:"reflect-api-key-file" key:"reflect.api_key_file" group:"reflection" placeholder:"PATH" help:"A file with it."`
	Strategy       setting `name:"reflect-strategy" key:"reflect.strategy" def:"classify" group:"reflection" placeholder:"WORD" help:"How a conversation is judged: classify, score or contrast."`
	Instructions   setting `name:"reflect-instructions" key:"reflect.instructions" group:"reflection" placeholder:"TEXT" help:"What else reflection should know or leave alone."`
	Budget         setting `name:"reflect-budget" key:"reflect.budget" def:"0.1" group:"reflection" placeholder:"SHARE" help:"What reflection may spend of the tokens that a tenant sends through Hindsight in a day."`
	BudgetLeast    setting `name:"reflect-budget-least" key:"reflect.budget_least" def:"250000" group:"reflection" placeholder:"N" help:"Tokens a day that it may spend in any case; 0 for none."`
	AdoptHistory   toggle  `name:"reflect-adopt-history" key:"reflect.adopt_history" def:"false" group:"reflection" placeholder:"BOOL" help:"Reflect on turns from before Hindsight was there."`

	ForgetMode        setting `name:"forget-mode" key:"forget.mode" def:"archive" group:"forgetting" placeholder:"WORD" help:"What the daily sweep does with old memories: archive, downweight (their importance falls) or off."`
	ForgetAfter       setting `name:"forget-after" key:"forget.after" def:"2160h" group:"forgetting" placeholder:"TIME" help:"Age from which an episodic memory of little importance goes; 0s: none does."`
	ForgetImportance  setting `name:"forget-importance" key:"forget.importance" def:"0.5" group:"forgetting" placeholder:"SHARE" help:"Importance below which it does."`
	ForgetMax         setting `name:"forget-max-memories" key:"forget.max_memories" def:"10000" group:"forgetting" placeholder:"N" help:"Most memories of a type in a scope; above it the lowest tenth goes. 0: no bound."`
	ForgetDeleteAfter setting `name:"forget-delete-after" key:"forget.delete_after" def:"8760h" group:"forgetting" placeholder:"TIME" help:"Time in the archive after which a memory is deleted; 0s: never."`

	TopK             setting `name:"top-k" key:"top_k" def:"5" group:"injection" placeholder:"N" help:"Most memories a turn."`
	InjectTokens     setting `name:"inject-tokens" key:"inject.tokens" def:"800" group:"injection" placeholder:"N" help:"Most tokens a turn."`
	RecallDeadline   setting `name:"recall-deadline" key:"recall.deadline" def:"150ms" group:"injection" placeholder:"TIME" help:"A turn waits no longer for its memories."`
	Ranking          setting `name:"ranking" key:"ranking" def:"bounded" group:"injection" placeholder:"WORD" help:"bounded or additive."`
	Embedder         setting `name:"embedder" key:"embedder" def:"builtin" group:"injection" placeholder:"NAME" help:"What finds memories by meaning: builtin, a model served at the embedding API, or none: words alone."`
	EmbeddingBase    setting `name:"embedding-api-base" key:"embedding.api_base" group:"injection" placeholder:"URL" help:"Where an embedding model is served, in OpenAI's form."`
	EmbeddingKey     setting `name:"embedding-api-key" key:"embedding.api_key" secret:"true" group:"injection" placeholder:"KEY" help:"Its key."`
	EmbeddingKeyFile setting `name:"embedding-api-key-file" key:"embedding.api_key_file" group:"injection" placeholder:"PATH" help:"A file with it."`
	Position         setting `name:"inject-position" key:"inject.position" def:"user_head" group:"injection" placeholder:"WORD" help:"user_head or user_tail."`
	Array            setting `name:"inject-array" key:"inject.array" def:"part" group:"injection" placeholder:"WORD" help:"part or inline: how a block joins a list of parts."`
	Stateful         toggle  `name:"inject-stateful" key:"inject.stateful" def:"true" group:"injection" placeholder:"BOOL" help:"Inject where the upstream keeps the conversation."`
	Cite             toggle  `name:"inject-cite" key:"inject.cite" def:"false" group:"injection" placeholder:"BOOL" help:"Ask the model to name the notes that it used."`
	Holdout          setting `name:"inject-holdout" key:"inject.holdout" def:"0" group:"injection" placeholder:"SHARE" help:"Share of the sessions that get no memories, so that memories stats can compare; 0: none."`
	Profiles         setting `name:"inject-profiles" key:"inject.profiles" group:"injection" placeholder:"JSON" help:"Other bounds for certain models, by a pattern over their names."`

	MCPNames  setting `name:"mcp-names" key:"mcp.names" def:"memory" group:"other" placeholder:"WORD" help:"Names of the MCP tools: memory (memory_write …), store (store_memory …) or both."`
	TZ        setting `name:"tz" key:"tz" group:"other" placeholder:"ZONE" help:"Time zone of users who send none; the system's where left out."`
	LogLevel  setting `name:"log-level" key:"log.level" def:"info" group:"other" placeholder:"WORD" help:"debug, info, warn or error."`
	Traces    setting `name:"traces" key:"traces" def:"off" group:"other" placeholder:"WORD" help:"OpenTelemetry traces: off, or otlp: to OTEL_EXPORTER_OTLP_ENDPOINT."`
	LogFormat setting `name:"log-format" key:"log.format" def:"text" group:"other" placeholder:"WORD" help:"text or json."`
}

// entry is one row of the list: the value and what its tags say.
type entry struct {
	value *setting
	key   string
	also  string
	def   string
}

// id is the name that all spellings of a key share: inject.top_k, --inject-top-k
// and HINDSIGHT_INJECT_TOP_K are inject_top_k.
func (e entry) id() string { return strings.ReplaceAll(e.key, ".", "_") }

// env lists the environment variables of the key, the first wins.
func (e entry) env() []string {
	names := []string{envPrefix + strings.ToUpper(e.id())}
	if e.also != "" {
		names = append(names, e.also)
	}
	return names
}

const envPrefix = "HINDSIGHT_"

// entries walks the list in its order.
func (s *settings) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		v := reflect.ValueOf(s).Elem()
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			e := entry{key: tag.Get("key"), also: tag.Get("also"), def: tag.Get("def")}
			switch field := v.Field(i).Addr().Interface().(type) {
			case *setting:
				e.value = field
			case *toggle:
				e.value = &field.setting
			}
			e.value.key, e.value.secret = e.key, tag.Get("secret") != ""
			if !yield(e) {
				return
			}
		}
	}
}

// secrets pairs each secret with the twin that names a file.
func (s *settings) secrets() [][2]*setting {
	return [][2]*setting{
		{&s.LLMAPIKey, &s.LLMAPIKeyFile},
		{&s.AdminToken, &s.AdminTokFile},
		{&s.WebUISecret, &s.WebUISecretFile},
		{&s.WeaviateAPIKey, &s.WeaviateKeyFile},
		{&s.ReflectAPIKey, &s.ReflectKeyFile},
		{&s.EmbeddingKey, &s.EmbeddingKeyFile},
	}
}
