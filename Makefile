# Wakecall. `make` alone prints what there is.

MODULES := . standalone examples e2e bench bench/peers deploy/helm
BIN     := $(CURDIR)/bin

# Tools, pinned. Each is built once into bin/ from the Go module proxy.
GOLANGCI_VERSION      := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0
TEMPORAL_VERSION      := v1.5.1
CRANE_VERSION         := v0.22.1
ACTIONLINT_VERSION    := v1.7.12
CYCLONEDX_VERSION     := v1.10.0
GOLANGCI      := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
WORKFLOWCHECK := $(BIN)/workflowcheck-$(WORKFLOWCHECK_VERSION)
TEMPORAL_CLI  := $(BIN)/temporal-$(TEMPORAL_VERSION)
TCTL          := $(BIN)/tctl
CRANE         := $(BIN)/crane-$(CRANE_VERSION)
ACTIONLINT    := $(BIN)/actionlint-$(ACTIONLINT_VERSION)
CYCLONEDX     := $(BIN)/cyclonedx-gomod-$(CYCLONEDX_VERSION)

# What the binaries and the image say they are; without git, Go's own record.
export WAKECALL_VERSION := $(or $(WAKECALL_VERSION),$(shell git describe --tags --always --dirty 2>/dev/null))

export WAKECALL_BIN            := $(BIN)/wakecall
export WAKECALL_STANDALONE_BIN := $(BIN)/wakecall-standalone
export WAKECALL_BENCH_PEERS    := $(BIN)/wakecall-bench-peers
export TEMPORAL_CLI TCTL CRANE

# A binary is static, as in the images: nothing to link with, and names are resolved by Go,
# which needs no thread for each question that a silent name server leaves open. It keeps its
# symbols, by which the tests find its clock and scanners the functions that are called.
# The profile is of a running one: the compiler inlines what is called most, and a timer
# takes a tenth less (docs/decisions/0077). It is not called default.pgo, or tests and
# linters would compile the whole of Temporal by it as well. With the same flags for all,
# what two binaries share is compiled once (docs/decisions/0077).
GO_BUILD := CGO_ENABLED=0 go build $(VERBOSE) -trimpath -pgo=$(CURDIR)/standalone/profile.pgo -ldflags "-w -X main.version=$(WAKECALL_VERSION)"

# The same for what takes no flags of a build: what it needs is there already.
AS_BUILT := CGO_ENABLED=0 GOFLAGS="-trimpath -pgo=$(CURDIR)/standalone/profile.pgo"

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## build and start everything in one process: Temporal, Web UI, and a node (gateway and worker)
	@WHAT="Wakecall, and the Temporal that it brings along" SECONDS_OF_CPU=$(FIRST_BUILD) \
		standalone/progress.sh $(MAKE) --silent --no-print-directory -C $(CURDIR) build VERBOSE=-v
	@exec $(WAKECALL_STANDALONE_BIN)

# The processor time of a first build, in seconds (docs/decisions/0077).
FIRST_BUILD := 340

.PHONY: receiver
receiver: ## run a receiver of callbacks to try things with, on 127.0.0.1:9000
	@cd examples && go run ./receiver

.PHONY: receiver-node
receiver-node: client-typescript ## the same on Node, with the TypeScript client
	@cd examples/node && npm install --silent --no-package-lock --no-audit --no-fund && npm start --silent

.PHONY: receiver-python
receiver-python: ## the same in Python
	@exec python3 examples/python/receiver.py

.PHONY: use-case
use-case: ## play NAME=order-close, debit, coupon, idle-shop, …, or all; needs make run in another terminal
	@cd examples && go run ./usecases $(or $(NAME),all)

.PHONY: example
example: ## send 20,000 callbacks at one flat rate, with a progress bar; needs make run in another terminal
	@cd examples && go run ./dispatch $(EXAMPLE)

# Without the tables of a debugger a test is linked in two thirds of the time, and without the
# path of the checkout what is compiled in one serves another. Vet is the linters'. The profile of
# the programs would have all dependencies compiled once more for each package of tests.
GO_TEST := go test -trimpath -vet=off -ldflags=-w

# SQLite is C memory behind Go code: the race detector sees nothing in it, and
# makes it ten times slower. Temporal's server cannot be left out as well: its atomics
# would go unseen, and what they order be taken for races.
RACE := -race '-gcflags=modernc.org/...=-race=false -d=checkptr=0'
export GORACE ?= atexit_sleep_ms=100

# Linkers, and Temporals in a test's process, live for minutes at most: to collect their garbage a third as
# often takes a tenth of all processor time away. The programs that tests start collect it as shipped.
test-units test-modules test-deployments test-smoke: export GOGC ?= 400

# What `make test` has built, and the targets below it do not build once more.
BUILT := -o build -o standalone -o compiled

# Unit tests compute, and deployments wait. So what else computes runs beside the deployments, at a
# low priority, and the linters, at the lowest one, beside all. What they say is printed at the end: of the
# linters only if they found something.
.PHONY: test
test: deps compiled cli $(GOLANGCI) $(WORKFLOWCHECK) $(ACTIONLINT) $(CRANE) ## everything: linters, unit tests, and the whole of Wakecall on a real Temporal
	@nice -n 19 $(MAKE) --no-print-directory lint >$(BIN)/lint.log 2>&1 & lint=$$!; beside=; \
	trap 'kill $$lint $$beside; exit 1' INT TERM; status=0; \
	$(MAKE) --no-print-directory test-units || status=1; \
	nice -n 10 $(MAKE) --no-print-directory $(BUILT) -k -j 2 --output-sync=target test-modules test-clients test-browser test-smoke >$(BIN)/beside.log 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory $(BUILT) test-deployments || status=1; \
	wait $$beside || status=1; cat $(BIN)/beside.log; \
	wait $$lint || { status=1; cat $(BIN)/lint.log; }; exit $$status

.PHONY: test-short
test-short: ## for the inner loop: unit tests and workflows in workflow time, no race detector, no server
	go test -short ./...
	cd examples && go test -short ./...

# What has no goroutines has no races: a test of internal/arch holds the core to that.
PURE := /(core|internal/arch)(/|$$)

# Some of their tests run without the race detector only (internal/detector). A test of internal/arch
# holds that all such packages are named.
SWEEPS := ./api ./console ./workflows ./activities/dispatch

# Some packages wait, so three run at once.
.PHONY: test-units
test-units:
	$(GO_TEST) -p 3 $$(go list ./... | grep -E '$(PURE)') $(SWEEPS)
	$(GO_TEST) -p 3 $(RACE) $$(go list ./... | grep -vE '$(PURE)')

# These packages of the benchmark run whole systems, most of them not ours: that is for the night.
WHOLE := /bench(/(counts|run|systems))?$$

.PHONY: test-modules
test-modules: compiled
	cd standalone && $(GO_TEST) ./...
	cd examples && $(GO_TEST) ./...
	cd bench && $(GO_TEST) $(RACE) $$(go list ./... | grep -vE '$(WHOLE)')
	cd bench/peers && $(GO_TEST) ./...
	cd deploy/helm && $(AS_BUILT) go test ./...

.PHONY: test-e2e
test-e2e: test-deployments test-smoke test-pace ## the tests on whole deployments

# What our binaries are compiled from, without their version. Go keeps the result of a test for as
# long as the variables that it read are the same, and does not see which programs it started.
COMPILED := $(BIN)/compiled
test-modules test-deployments test-smoke test-pace test-race: export WAKECALL_COMPILED = $(shell cat $(COMPILED) 2>/dev/null)

.PHONY: compiled
compiled: build
	@for module in . standalone bench/peers; do (cd $$module && $(AS_BUILT) go list -deps -export -f '{{.BuildID}}' .); done | sha256sum >$(COMPILED).$$$$ && mv $(COMPILED).$$$$ $(COMPILED)

# Most of these tests wait, so some run at once. What a worker's silence means must still be told from what a
# starved machine does, so not more. The packages that take longest begin.
.PHONY: test-deployments
test-deployments: compiled cli $(CRANE)
	cd e2e && $(GO_TEST) -p 2 -parallel 4 -timeout 25m ./failover ./deliveries ./programs ./fault ./deploy ./front ./operations ./timers $$(go list ./... | grep -v /pace)

.PHONY: test-pace
test-pace: compiled cli ## how even a rate is, and whether a limit is used up: it needs the machine for itself
	cd e2e && $(GO_TEST) ./pace

# Our own packages run under the race detector in the unit tests, and together in these.
# `make test-race` runs all of the tests under it.
SMOKE := ^Test(BookedAndRung|Moves|CancelInFlight|Redeliver|PausedAndResumed)$$

.PHONY: test-smoke
test-smoke: compiled
	cd e2e && $(GO_TEST) $(RACE) -run '$(SMOKE)' ./timers

.PHONY: test-race
test-race: compiled cli peers $(CRANE) ## the tests on whole deployments under the race detector; half an hour
	cd e2e && $(GO_TEST) $(RACE) -p 1 -parallel 4 -timeout 60m ./...
	cd bench && $(GO_TEST) $(RACE) $$(go list ./... | grep -E '$(WHOLE)')

# What npm installs is there already where the lock file is the one that was installed.
TYPESCRIPT         := clients/typescript
TYPESCRIPT_MODULES := $(TYPESCRIPT)/node_modules/.package-lock.json

$(TYPESCRIPT_MODULES): $(TYPESCRIPT)/package-lock.json
	cd $(TYPESCRIPT) && npm ci --silent --prefer-offline
	@touch $@

.PHONY: client-typescript
client-typescript: $(TYPESCRIPT_MODULES) ## build the TypeScript client
	cd $(TYPESCRIPT) && npm run --silent build

# The types of the client are made of the document, and kept beside it.
.PHONY: client-types
client-types: $(TYPESCRIPT_MODULES) ## write the types of the TypeScript client anew from api/openapi.yaml
	cd $(TYPESCRIPT) && npm run --silent generate

.PHONY: test-clients
test-clients: build $(TYPESCRIPT_MODULES) ## the TypeScript client: its types, linters, and tests on a running Wakecall
	cd $(TYPESCRIPT) && npm run --silent lint && npm test --silent

.PHONY: console-assets
console-assets: ## fetch the scripts that pages load from npm, by version and integrity, into console/assets/files
	@console/assets/vendor.sh

BROWSER         := console/browser
BROWSER_MODULES := $(BROWSER)/node_modules/.package-lock.json

$(BROWSER_MODULES): $(BROWSER)/package-lock.json
	cd $(BROWSER) && npm ci --silent --prefer-offline
	@touch $@

.PHONY: test-browser
test-browser: build $(BROWSER_MODULES) ## the console in Chromium, on a running Wakecall
	cd $(BROWSER) && npm test --silent

.PHONY: test-browser-long
test-browser-long: deps build $(BROWSER_MODULES) ## the same with every page in every look, 5,000 timers, 100 loads; WAKECALL_RECORD=1 stores how pages look
	cd $(BROWSER) && WAKECALL_FAULT=long npm test --silent

.PHONY: lint
lint: $(GOLANGCI) $(WORKFLOWCHECK) $(ACTIONLINT) ## formatting, linters, import rules, determinism of workflows
	@for module in $(MODULES); do \
		echo "lint $$module"; \
		(cd $$module && go mod tidy -diff && $(AS_BUILT) $(GOLANGCI) run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done
	$(WORKFLOWCHECK) -test=false ./workflows/... # tests play the server
	$(ACTIONLINT)

.PHONY: build
build: standalone ## build the binaries into bin/
	$(GO_BUILD) -o $(WAKECALL_BIN) .

.PHONY: standalone
standalone:
	cd standalone && $(GO_BUILD) -o $(WAKECALL_STANDALONE_BIN) .

# What is released. Whoever builds the same commit gets the same files: no path, no time and
# nothing of the checkout is in them.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
RELEASE   := $(BIN)/release

.PHONY: release
release: $(CYCLONEDX) ## build what is released into bin/release: static programs, their SBOMs and checksums
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@set -e; for platform in $(PLATFORMS); do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		for program in wakecall wakecall-standalone; do \
			file=$(RELEASE)/$$program-$$GOOS-$$GOARCH; echo "build $$file"; \
			(cd $$(test $$program = wakecall && echo . || echo standalone) && $(GO_BUILD) -buildvcs=false -o $$file .); \
			$(CYCLONEDX) bin -json -noserial -notimestamp -version "$(WAKECALL_VERSION)" -output $$file.cdx.json $$file; \
		done; \
	done
	@cd $(RELEASE) && $$(command -v sha256sum || echo shasum -a 256) * >../SHA256SUMS && mv ../SHA256SUMS .

.PHONY: policies
policies: ## apply the policies in FILE to the Wakecall at WAKECALL_URL; DRY_RUN=1 only shows the differences
	@test -n "$(FILE)" || { echo "say FILE=policies.yaml" >&2; exit 2; }
	@$(GO_BUILD) -o $(WAKECALL_BIN) .
	@$(WAKECALL_BIN) policies apply "$(FILE)" $(if $(DRY_RUN),--dry-run)

# BENCH=quick takes twenty minutes. BENCH takes flags as well:
# make bench BENCH="-subjects asynq/redis -scenarios herd".
.PHONY: bench
bench: deps bench-build ## measure Wakecall beside bare Temporal, River, Asynq, DBOS and NATS; BENCH=quick takes twenty minutes
	@exec $(BIN)/wakecall-bench -out $(CURDIR)/data/bench $(if $(filter quick,$(BENCH)),-quick) $(filter-out quick,$(BENCH))

.PHONY: bench-check
bench-check: deps bench-build ## count what a timer costs, and fail if it is more than in bench/baseline.json
	@exec $(BIN)/wakecall-bench check -baseline bench/baseline.json $(CHECK)

.PHONY: bench-build
bench-build: build peers $(TEMPORAL_CLI)
	cd bench && $(GO_BUILD) -trimpath=false -pgo=off -o $(BIN)/wakecall-bench .

# What the benchmark compares with, in a process of its own.
.PHONY: peers
peers:
	cd bench/peers && $(GO_BUILD) -pgo=off -o $(WAKECALL_BENCH_PEERS) .

.PHONY: fuzz
fuzz: ## fuzz everything that parses, 30 s each (FUZZTIME to change)
	@for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -h -o '^func Fuzz[A-Za-z0-9]*' $$package/*_test.go | cut -c6-); do \
			echo "fuzz $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $${FUZZTIME:-30s} $$package || exit 1; \
		done; \
	done

.PHONY: fault
fault: deps build cli ## break everything under load, two hours long
	cd e2e && WAKECALL_FAULT=long WAKECALL_FAULT_TABLE=$(BIN)/fault.md \
		go test -v -count=1 -p 1 -parallel 2 -timeout 4h ./fault ./programs

.PHONY: test-release
test-release: build $(CYCLONEDX) ## build a release twice, and compare
	cd e2e && WAKECALL_FAULT=long $(GO_TEST) -v -count=1 -run '^TestReleases' ./deploy

.PHONY: test-chart
test-chart: build ## render the Helm chart with every combination of values
	cd deploy/helm && WAKECALL_FAULT=long $(AS_BUILT) go test -count=1 -run EveryCombination ./...

.PHONY: night
night: ## what takes too long for the gate: all faults, every look of the console, deployments under the race detector, a release; three hours
	@status=0; for target in test-chart test-release test-browser-long test-pace test-race fault; do $(MAKE) --no-print-directory $$target || status=1; done; exit $$status

.PHONY: isolation
isolation: build ## measure what a type that floods, fails or hangs does to another one; ten minutes
	cd e2e && go test -v -run '^$$' -bench Isolation -benchtime 1x -timeout 30m ./isolation

.PHONY: dispatch
dispatch: build ## measure how flat, how fast and how sturdy dispatches are; twenty minutes
	cd e2e && WAKECALL_CURVES=1 go test -v -run '^$$' -bench . -benchtime 1x -timeout 60m ./dispatch

.PHONY: punctual
punctual: ## kill a RabbitMQ under load: no timer later than the policy's fallback.after and 2 s
	cd e2e && WAKECALL_PUNCTUAL=1 go test -v -count=1 -run TestTimersCallIntoRabbitMQ ./deliveries

.PHONY: histories
histories: ## record the histories of new behaviours into workflows/testdata; existing ones are never replaced
	cd e2e && WAKECALL_RECORD=1 go test -count=1 -run TestRecordHistories ./timers ./deliveries ./operations ./dispatches

.PHONY: up
up: .env ## start the production form with Docker Compose
	@deploy/env.sh .env # what a newer version asks for as well
	docker compose up --build --detach --wait

.PHONY: down
down: ## stop it; the data stays
	docker compose down

.env:
	deploy/env.sh $@

.PHONY: backup
backup: ## copy the database of the production form, as it is at one instant, into backups/
	docker compose run --rm backup

.PHONY: pin
pin: $(CRANE) ## write the digests of the images into docker-compose.yml and the Dockerfile; asks the registries
	@deploy/pin.sh

.PHONY: tools
tools: cli ## build Temporal's command lines, temporal and tctl, and say where they are
	@ln -sf $(notdir $(TEMPORAL_CLI)) $(BIN)/temporal
	@echo "temporal  $(BIN)/temporal"
	@echo "tctl      $(TCTL)"
	@echo "To call them by name here:  export PATH=\"$(BIN):\$$PATH\""

.PHONY: cli
cli: $(TEMPORAL_CLI) $(TCTL)

# The tests start PostgreSQL, Redis and receivers of other makes themselves, from
# Debian's packages.
.PHONY: deps
deps:
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 && \
		(for program in /usr/lib/rabbitmq/bin/rabbitmq-server redis-server nginx promtool node npm php chromium /usr/bin/python3 /usr/bin/gunicorn; do command -v $$program >/dev/null || exit 1; done) || { \
		echo "installing what the tests start"; apt-get update -q && apt-get install -y -q --no-install-recommends \
			postgresql redis-server rabbitmq-server nginx-light prometheus php-cli chromium fonts-noto-cjk python3 gunicorn python3-flask \
			$$(command -v node >/dev/null || echo nodejs) $$(command -v npm >/dev/null || echo npm); }

$(GOLANGCI):
	GOBIN=$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-lint $@

$(WORKFLOWCHECK):
	GOBIN=$(BIN) go install go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION)
	mv $(BIN)/workflowcheck $@

$(TEMPORAL_CLI):
	GOBIN=$(BIN) go install github.com/temporalio/cli/cmd/temporal@$(TEMPORAL_VERSION)
	mv $(BIN)/temporal $@

$(CRANE):
	GOBIN=$(BIN) go install github.com/google/go-containerregistry/cmd/crane@$(CRANE_VERSION)
	mv $(BIN)/crane $@

$(ACTIONLINT):
	GOBIN=$(BIN) go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv $(BIN)/actionlint $@

$(CYCLONEDX):
	GOBIN=$(BIN) go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)
	mv $(BIN)/cyclonedx-gomod $@

$(TCTL): e2e/tools/tctl/go.mod
	cd e2e/tools/tctl && go build -mod=mod -o $@ github.com/temporalio/tctl/cmd/tctl

.PHONY: clean
clean: ## remove what was built; data stays
	rm -rf $(BIN)
