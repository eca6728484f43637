# Sizewise: a tuner plugin for NCCL and its command line. `make help` lists the targets.

BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
CC       ?= cc
CFLAGS   ?= -O2 -g
WERROR   ?=
SANITIZE ?=
TESTS    ?=
V        ?= 0

LIBDIR  = $(PREFIX)/lib
BINDIR  = $(PREFIX)/bin
DATADIR = $(PREFIX)/share/sizewise

# Contraction off: every rank has to compute the same bits, whatever its compiler and processor.
flags = -std=c11 -D_GNU_SOURCE -Iinclude -Iplugin -Ibench -Itest $(CFLAGS) -fPIC -fvisibility=hidden \
        -ffp-contract=off -Wall -Wextra -Wpedantic $(WERROR) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
link  = $(LDFLAGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE))
say   = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2);)

core_sources    = $(wildcard plugin/*/*.c) plugin/cost.c plugin/promise.c plugin/say.c plugin/share.c plugin/steering.c
plugin_sources  = plugin/tuner.c plugin/abi.c
standin_sources = $(wildcard bench/standin/*.c)
bench_sources   = $(filter-out $(standin_sources),$(wildcard bench/*/*.c))
command_sources = $(wildcard bench/*.c)
unit_sources    = $(wildcard test/unit/*.c)
shipped         = $(sort $(wildcard profiles/*.yaml))
workloads       = $(wildcard profiles/workloads/*)

objects  = $(patsubst %.c,$(BUILD)/o/%.o,$(1))
core     = $(BUILD)/libsizewise.a
standin  = $(BUILD)/libstandin.a
bench    = $(BUILD)/libbench.a
plugin   = $(BUILD)/libnccl-tuner-sizewise.so
command  = $(BUILD)/sizewise
units    = $(patsubst test/unit/%.c,$(BUILD)/test/%,$(unit_sources))
all_sources = $(core_sources) $(plugin_sources) $(standin_sources) $(bench_sources) $(command_sources) $(unit_sources) \
              test/bench_decide.c test/reopen.c test/oracle/decide_at.c test/fuzz/profile.c test/gpu/fabric.c test/launch_ranks.c test/calibrate_truth.c

.PHONY: all demo check asan tsan check-gpu bench-decide fuzz lint format deps install uninstall clean help
.DELETE_ON_ERROR:
.SECONDARY:

all: $(plugin) $(command) ## build the plugin and the command line (default)

# `make deps check` has to install before it builds, also with -j: then every object waits for the packages.
ifneq (,$(filter deps,$(MAKECMDGOALS)))
wait = deps
endif

# --- build -----------------------------------------------------------------------------------------------------------

# Other flags, other objects: this file changes only when the flags do.
$(BUILD)/flags: FORCE | $(wait)
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(flags) $(DATADIR)' | cmp -s - $@ || printf '%s\n' '$(CC) $(flags) $(DATADIR)' > $@
FORCE:

$(BUILD)/o/%.o: %.c $(BUILD)/flags | $(wait)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(flags) -DSW_DATA_FOLDER='"$(DATADIR)"' -MMD -MP -c $< -o $@

# The shipped profiles, byte for byte, as C arrays.
$(BUILD)/shipped.c: $(shipped) Makefile | $(wait)
	$(call say,GEN,$@)mkdir -p $(@D); { \
	  echo '#include "select/shipped.h"'; \
	  n=0; for f in $(shipped); do n=$$((n+1)); \
	    echo "static const char text$$n[] = {"; od -An -v -td1 $$f | sed 's/[-0-9][0-9]*/&,/g'; echo '0};'; done; \
	  echo 'const struct sw_shipped sw_shipped_profiles[] = {'; \
	  n=0; for f in $(shipped); do n=$$((n+1)); \
	    echo "{\"$$(basename $$f .yaml)\", text$$n, sizeof text$$n - 1},"; done; \
	  echo '{0, 0, 0}};'; } > $@
$(BUILD)/o/shipped.o: $(BUILD)/shipped.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(flags) -c $< -o $@

$(core): $(call objects,$(core_sources)) $(BUILD)/o/shipped.o
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^
$(standin): $(call objects,$(standin_sources))
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^
$(bench): $(call objects,$(bench_sources))
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^

# libyaml goes in statically: at run time the plugin needs libc alone.
$(plugin): $(call objects,$(plugin_sources)) $(core) plugin/exports.map
	$(call say,LD,$@)$(CC) $(flags) $(link) -shared -Wl,-soname,$(@F) $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-z,text -Wl,-z,relro,-z,now \
	  -Wl,--version-script=plugin/exports.map -Wl,--gc-sections -o $@ $(filter %.o %.a,$^) -l:libyaml.a

$(command): $(call objects,$(command_sources)) $(bench) $(standin) $(core)
	$(call say,LD,$@)$(CC) $(flags) $(link) -o $@ $^ -l:libyaml.a -l:libjansson.a -lm

# --- tests -----------------------------------------------------------------------------------------------------------

$(BUILD)/test/%: $(BUILD)/o/test/unit/%.o $(bench) $(standin) $(core)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -rdynamic -o $@ $^ -l:libyaml.a -lcmocka -lm
$(BUILD)/test/bench_decide $(BUILD)/test/reopen: $(BUILD)/test/%: $(BUILD)/o/test/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -rdynamic -o $@ $^
$(BUILD)/test/decide_at: $(BUILD)/o/test/oracle/decide_at.o $(core)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -o $@ $^ -l:libyaml.a
$(BUILD)/test/launch_ranks $(BUILD)/test/calibrate_truth: $(BUILD)/test/%: $(BUILD)/o/test/%.o $(bench) $(standin) $(core)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -o $@ $^ -l:libyaml.a -lm
$(BUILD)/test/gpu_fabric: $(BUILD)/o/test/gpu/fabric.o $(bench) $(standin) $(core)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -o $@ $^ -l:libyaml.a -lm
$(BUILD)/o/test/fuzz/profile.o: flags += -DSW_FUZZ_MAIN
$(BUILD)/test/fuzz_profile: $(BUILD)/o/test/fuzz/profile.o $(bench) $(core)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(flags) $(link) -o $@ $^ -l:libyaml.a

# Small tuners that misbehave in one way each, to test the stand-in that our plugin is tested with.
fake_v2 = -DFAKE_V2
fake_v3 = -DFAKE_V3
fake_v4 = -DFAKE_V4
fake_v5 = -DFAKE_V5
fake_v6 = -DFAKE_V6
fake_v7 = -DFAKE_V7
fake_v2v6 = -DFAKE_V2 -DFAKE_V6
fake_all = -DFAKE_ALL
fake_none =
fake_lazy = -DFAKE_ALL -DFAKE_UNRESOLVED -Wl,-z,lazy
fake_initfail = -DFAKE_ALL -DFAKE_INIT_RESULT=2
fake_askfail = -DFAKE_ALL -DFAKE_ASK_RESULT=3
fake_negative = -DFAKE_ALL -DFAKE_AT=5 -DFAKE_COST=-1.0f
fake_zero = -DFAKE_ALL -DFAKE_AT=0 -DFAKE_COST=0.0f
fake_ch2 = -DFAKE_ALL -DFAKE_CHANNELS=2
fake_ch40 = -DFAKE_ALL -DFAKE_CHANNELS=40
fake_ch200 = -DFAKE_ALL -DFAKE_CHANNELS=200
fake_ch300 = -DFAKE_ALL -DFAKE_CHANNELS=300
fake_named = -DFAKE_V2 -DFAKE_AT=0
fake_half = -DFAKE_V2 -DFAKE_AT=0 -DFAKE_HALF
fake_badname = -DFAKE_V2 -DFAKE_AT=297
fake_careless = -DFAKE_ALL -DFAKE_CARELESS
fakes = $(addprefix $(BUILD)/test/libfake-,$(addsuffix .so,v2 v3 v4 v5 v6 v7 v2v6 all none lazy initfail askfail \
  negative zero ch2 ch40 ch200 ch300 named half badname careless)) \
  $(BUILD)/test/libnccl-tuner.so $(BUILD)/test/libnccl-tuner-fake.so
fake = mkdir -p $(@D); $(CC) $(flags) $(link) -shared -Wl,-Bsymbolic $(1) $< -o $@
$(BUILD)/test/libfake-%.so: test/host/fake_tuner.c test/host/fake_tuner.h $(BUILD)/flags | $(wait)
	$(call say,LD,$@)$(call fake,$(fake_$*))
$(BUILD)/test/libnccl-tuner.so: test/host/fake_tuner.c test/host/fake_tuner.h $(BUILD)/flags | $(wait)
	$(call say,LD,$@)$(call fake,$(fake_lazy))
$(BUILD)/test/libnccl-tuner-fake.so: test/host/fake_tuner.c test/host/fake_tuner.h $(BUILD)/flags | $(wait)
	$(call say,LD,$@)$(call fake,$(fake_all))

helpers  = $(fakes) $(addprefix $(BUILD)/test/,bench_decide reopen decide_at fuzz_profile gpu_fabric \
             launch_ranks calibrate_truth)
picked   = $(if $(TESTS),$(filter $(units),$(TESTS)),$(units))
test_environment = SW_TEST_SOURCE='$(CURDIR)' SW_TEST_BUILD='$(abspath $(BUILD))/test' SW_BUILD='$(abspath $(BUILD))' \
  SW_TEST_CC='$(CC)' SW_SANITIZE='$(SANITIZE)'

check: all $(helpers) $(picked) ## run all tests that need no GPU (TESTS=... picks some)
	@$(test_environment) test/run $(if $(TESTS),$(TESTS),$(sort $(wildcard test/*.py test/cli/*.sh test/tree/*.sh)) test/oracle/compare.py $(sort $(units)))

asan: ## run the tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS='-O1 -g -fno-sanitize-recover=all' check

tsan: ## run the tests under ThreadSanitizer
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread CFLAGS='-O1 -g' check

check-gpu: all $(BUILD)/test/gpu_fabric ## run the tests that need GPUs and NCCL (they say SKIP where there are none)
	@JOBS=1 $(test_environment) test/run $(filter-out test/gpu/shapes.sh,$(wildcard test/gpu/*.sh))

fuzz: $(BUILD)/test/fuzz_profile ## run the readers of profiles and workloads over their corpus, changed at random
	@$(BUILD)/test/fuzz_profile test/fixtures/profiles profiles

bench-decide: all $(BUILD)/test/bench_decide ## nanoseconds a getCollInfo call, by table size
	@$(BUILD)/test/bench_decide $(plugin)

demo: all ## what the plugin answers on published GB10 figures, then a calibration
	@$(command) demo
	@if [ "$$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')" -ge 2 ]; then \
	  echo; echo 'A short calibration of this machine:'; \
	  $(command) calibrate --budget 30s --sizes 12KiB,96KiB,1MiB,6MiB,96MiB -o $(BUILD)/demo.yaml; \
	else \
	  echo; echo 'A calibration of a simulated cluster with those figures (no GPU here; its times are not measured):'; \
	  $(command) calibrate --simulate gb10-roce-8x1 --seed 7 --sizes 12KiB,96KiB,1MiB,6MiB,96MiB -o $(BUILD)/demo.yaml; \
	fi

lint: ## clang-format and clang-tidy, without changing anything
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')
	@git ls-files 'plugin/*.c' 'bench/*.c' | xargs -P 2 -n 6 sh -c 'clang-tidy --quiet "$$@" -- -std=c11 -D_GNU_SOURCE \
	  -Iinclude -Iplugin -Ibench -Itest 2>/dev/null' --

format: ## let clang-format lay out all sources
	@clang-format -i $$(git ls-files '*.c' '*.h')

# --- packages, installation ------------------------------------------------------------------------------------------

packages = gcc libc6-dev libyaml-dev libxxhash-dev libjansson-dev libcmocka-dev valgrind python3 python3-yaml \
           python3-jsonschema

deps: ## install what is missing on Debian or Ubuntu (apt-get; needs root only then)
	@missing=; for p in $(packages); do \
	  dpkg-query -W -f '$${db:Status-Status} $${Architecture}\n' $$p 2>/dev/null | \
	    grep -qE "^installed ($$(dpkg --print-architecture)|all)$$" || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	echo "installing:$$missing"; \
	if ! command -v apt-get >/dev/null; then echo "no apt-get here: install the equivalents of$$missing" >&2; exit 1; fi; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing

install: all ## install below DESTDIR/PREFIX
	@mkdir -p '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(BINDIR)'
	@mkdir -p '$(DESTDIR)$(DATADIR)/profiles' '$(DESTDIR)$(DATADIR)/shipped' '$(DESTDIR)$(DATADIR)/workloads'
	install -m 755 $(plugin) '$(DESTDIR)$(LIBDIR)/'
	install -m 755 $(command) '$(DESTDIR)$(BINDIR)/'
	install -m 644 $(shipped) '$(DESTDIR)$(DATADIR)/shipped/'
	install -m 644 profiles/schema.json '$(DESTDIR)$(DATADIR)/'
	install -m 644 $(workloads) '$(DESTDIR)$(DATADIR)/workloads/'

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(LIBDIR)/$(notdir $(plugin))' '$(DESTDIR)$(BINDIR)/$(notdir $(command))' '$(DESTDIR)$(DATADIR)/schema.json'
	rm -f $(foreach f,$(notdir $(shipped)),'$(DESTDIR)$(DATADIR)/shipped/$(f)')
	rm -f $(foreach f,$(notdir $(workloads)),'$(DESTDIR)$(DATADIR)/workloads/$(f)')
	@for d in /workloads /shipped /profiles ''; do rmdir '$(DESTDIR)$(DATADIR)'$$d 2>/dev/null || true; done

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## this list
	@echo 'make [TARGET] [V=1] [CC=clang] [BUILD=folder] [PREFIX=/usr/local] [DESTDIR=]'; echo
	@sed -n 's/^\([a-z-]*\):[^#]*## /  \1\t/p' Makefile | expand -t 16

-include $(patsubst %.c,$(BUILD)/o/%.d,$(all_sources))
