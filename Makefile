# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench: `make help` lists the targets.

VERSION := $(shell sed -n 's/^\#define NB_VERSION "\(.*\)"$$/\1/p' src/base/version.h)
PREFIX ?= /usr/local
LIBDIR ?= lib

.DEFAULT_GOAL := all
include src/make/needs.mk

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
NUMERIC := -fopenmp-simd -ffp-contract=off \
           $(shell $(CC) $(NO_PEELING) -Werror -S -o - -x c /dev/null >/dev/null 2>&1 && echo $(NO_PEELING))
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
# A library outside of the system's folders is found again when a program runs. GSL's own BLAS is not wanted. What
# renders the manual is for the build alone.
MODULES := $(foreach need,$(filter-out bin/% header/%,$(TO_BUILD)),$(firstword $(subst =, ,$(need))))
CPPFLAGS += $(shell pkg-config --cflags $(MODULES) 2>/dev/null)
RENDERS := libcmark-gfm
LDLIBS := $(filter-out -lgslcblas,$(shell pkg-config --libs $(filter-out $(RENDERS),$(MODULES)) 2>/dev/null)) -lm
# LAPACKE comes from its archive where there is one: Debian's shared one loads another BLAS and LAPACK, which nothing
# uses, with each start of the program.
LAPACKE := $(wildcard $(shell pkg-config --variable=libdir lapacke 2>/dev/null)/liblapacke.a)
LDLIBS := $(if $(LAPACKE),$(LDLIBS:-llapacke=$(LAPACKE)),$(LDLIBS))
found_again = $(patsubst -L%,-Wl$(comma)-rpath$(comma)%,$(filter-out -L/usr/lib/%,$(filter -L%,$1)))
LDFLAGS += $(call found_again,$(LDLIBS))

# The steps that compile use all CPUs, unless make was told -j itself.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# make V=1 shows the commands. Else what is compiled is counted: in one line on a terminal, elsewhere in a line for each
# 50. A recipe is expanded as it begins, and with it its number; how many there will be is known where all are missing.
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

# KIND:PLURAL:FOLDER. A file in one of these folders registers itself (src/make/registry.sh).
KINDS := problem:problems:src/problems kernel:kernels:src/kernels strategy:strategies:strategies core:cores:src/cores \
         partition:partitions:src/partitions attention:attentions:src/attentions study:studies:src/studies
kind = $(word 1,$(subst :, ,$1))
folder = $(word 3,$(subst :, ,$1))
template = $(wildcard $(call folder,$1)/TEMPLATE.c)
# What is made of rows likewise: in a folder of each study.
OUTPUTS := figure:figures:src/studies/*/figures table:tables:src/studies/*/tables
SQL := $(wildcard src/studies/*/*/*.sql src/*/*.sql src/studies/*/*.sql)

SRC := $(filter-out src/main.c src/make/% %/TEMPLATE.c, \
         $(wildcard src/*/*.c src/studies/*/*.c src/studies/*/*/*.c strategies/*.c))
OBJ := $(SRC:%.c=$B/%.o) $B/registry.o $B/commands.o $B/assets.o $B/sql.o
ifdef COVERAGE
SANITIZE := --coverage -fprofile-update=atomic
LDFLAGS += -Wl,--wrap=_exit
OBJ += $B/tests/coverage/exit.o
endif
missing_objects := $(words $(filter-out $(wildcard $B/src/main.o $(OBJ)),$B/src/main.o $(OBJ)))

.DELETE_ON_ERROR:
.PHONY: all nysbench demo clean FORCE

all: nysbench

nysbench: can-build
	@$(MAKE) --no-print-directory $(JOBS) $B/nysbench $B/libnysbench.so
	@ln -sf $B/nysbench nysbench

# $(call renew,COMMAND): the target is what COMMAND writes, and is as old as its last change.
renew = @mkdir -p $(@D); $1 >$@.$$$$.new || { rm -f $@.$$$$.new; exit 1; }; \
    if cmp -s $@.$$$$.new $@; then rm $@.$$$$.new; else mv $@.$$$$.new $@; fi

$B/registry.c: FORCE
	$(call renew,src/make/registry.sh $(foreach k,$(KINDS) -- $(OUTPUTS),'$k'))

$B/commands.c: FORCE
	$(call renew,src/make/commands.sh src/commands)

# Files that a page has within itself, byte by byte.
ASSETS := $(wildcard src/show/*.css src/show/*.js)
$B/assets.c: $(ASSETS) src/make/assets.sh
	@mkdir -p $B
	@src/make/assets.sh $(ASSETS) >$@.new && mv $@.new $@

# Files of SQL: each a text; one of a table also its record.
$B/sql.c: $(SQL) src/make/sql.awk Makefile
	@mkdir -p $B
	@awk -f src/make/sql.awk $(SQL) >$@.new && mv $@.new $@

$B/build.h: export FLAGS = $(strip $(CPPFLAGS) $(CFLAGS))
$B/build.h: FORCE
	$(call renew,src/make/build.sh '$(BUILD_ID)')

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

# What `nysbench new` begins with, FILE:NAME.
TEMPLATES := experiments/templates/experiment.yaml:experiment.yaml \
             $(foreach k,$(KINDS),$(if $(call template,$k),$(call template,$k):$(call kind,$k).c))

# The program looks for the plot scripts, documents, experiments with their heads, the manual and templates beside
# itself, or in ../share/nysbench where it is installed. It does not start where a component has not its file's name,
# which ends the build.
BESIDE := $(addprefix $B/,plots docs experiments)
$(BESIDE):
	@mkdir -p $B; ln -sfn $$(realpath --relative-to=$B $(@F)) $@

$B/nysbench: $B/src/main.o $(OBJ) | $(BESIDE) $B/manual
	@rm -rf $B/templates; mkdir $B/templates; $(foreach k,$(TEMPLATES),\
	    ln -s $$(realpath --relative-to=$B/templates $(word 1,$(subst :, ,$k))) $B/templates/$(word 2,$(subst :, ,$k));)
	$(call say,link $@)
	$Q$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@.new && ASAN_OPTIONS=detect_leaks=0 $@.new --version >/dev/null && mv $@.new $@

demo: deps
	@$(MAKE) --no-print-directory nysbench
	./nysbench demo

clean:
	rm -rf build dist nysbench

include src/make/tests.mk src/make/docs.mk src/make/install.mk src/make/packages.mk src/make/help.mk

# Of this build alone, not of those in folders of it.
OTHER_BUILDS := $(foreach d,asan coverage deb fuzz models tsan,-path $B/$d -prune -o)
-include $(shell find $B $(OTHER_BUILDS) -name '*.d' -type f -print 2>/dev/null)
