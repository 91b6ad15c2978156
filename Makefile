# Everything that a developer runs. `make help` lists it.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# golangci-lint is built once into bin/, by the version named here.
LINT_VERSION := v2.15.0

# The Weaviate that `.ci/run weaviate` builds and tests against.
WEAVIATE_VERSION := v1.35.2

.DEFAULT_GOAL := help
.PHONY: help demo test race fleet kills power soak lint fuzz bench bench-proxy build release clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the one binary, bin/hindsight
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/hindsight ./cmd/hindsight

demo: build ## play two conversations against a scripted model and show what is remembered
	bin/hindsight demo

test: ## run every test; needs nothing but Go
	CGO_ENABLED=0 $(GO) test ./...

race: ## run every test under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -short ./...
	CGO_ENABLED=1 $(GO) test -race -run '^(TestManyAborts|TestManyWritersLeaveWhatOneWould)$$' ./proxy ./reflect

fleet: ## run the long tests of several sidecars; HINDSIGHT_TEST_WEAVIATE names Weaviate's server
	HINDSIGHT_FLEET_LONG=1 CGO_ENABLED=0 $(GO) test -tags weaviate -count=1 -timeout 60m -v -run '^TestFleet' ./cmd/hindsight

# ROUNDS is how often, SEED the number that an earlier run printed.
ROUNDS ?= 200
kills: build ## kill the binary ROUNDS times (200) under load and compare; HINDSIGHT_TEST_WEAVIATE adds the outbox
	$(GO) run ./internal/kill/killer -rounds $(ROUNDS) $(if $(SEED),-seed $(SEED))

power: ## the same with power that fails, 20 times plain and 20 encrypted; then with faults that must be found
	$(GO) run ./internal/kill/killer -power -rounds 20
	$(GO) run ./internal/kill/killer -power -encrypted -rounds 20
	$(GO) run ./internal/kill/killer -power -fault sync -rounds 4
	$(GO) run ./internal/kill/killer -power -encrypted -fault keys -rounds 4
	$(GO) run ./internal/kill/killer -fault cursor -rounds 8

# SOAK is how long.
SOAK ?= 20m
soak: build ## run for 20 minutes with clients that leave and upstreams that fail; HINDSIGHT_TEST_WEAVIATE adds one that goes and comes
	$(GO) run ./internal/soak/soaker -for $(SOAK)

# LINT is the linter's binary; the default is built once by the version above.
LINT ?= bin/golangci-lint
lint: $(LINT) ## vet, for Windows too, gofmt and golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -l . ; echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags browser,weaviate,disk,fixtures ./...
	GOOS=windows CGO_ENABLED=0 $(GO) vet ./...
	$(LINT) run ./...

bin/golangci-lint:
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# FUZZTIME is for each target.
FUZZTIME ?= 20s
fuzz: ## run every fuzz target for FUZZTIME (20s)
	@set -e; $(GO) list -f '{{.Dir}}' ./... | while read -r dir; do \
	  grep -ho 'func Fuzz[A-Za-z0-9]*' "$$dir"/*_test.go 2>/dev/null | sed 's/func //' | while read -r f; do \
	    echo "== $$dir $$f"; (cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) .); \
	  done; done

bench: build ## compare small requests with direct calls, httputil.ReverseProxy and nginx
	bin/hindsight bench proxy

bench-proxy: build ## the whole comparison (10 minutes), written into docs/performance.md; JSON beside the profiles
	mkdir -p bench-profiles
	bin/hindsight bench proxy --full --for 1500ms --profile bench-profiles --into docs/performance.md --json > bench-profiles/proxy.json
	bin/hindsight bench reflect --into docs/performance.md --json > bench-profiles/reflect.json

release: ## build the archives of VERSION (v1.2.3) for every system into dist/VERSION
	deploy/release.sh $(VERSION)

clean: ## remove what was built
	rm -rf bin
