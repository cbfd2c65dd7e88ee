# SPDX-License-Identifier: GPL-3.0-or-later
# What the manual and the published results have from the program.
.PHONY: docs claims publish

docs: nysbench
	@for part in columns components; do \
	    ./nysbench describe --markdown $$part >docs/$$part.md.new && mv docs/$$part.md.new docs/$$part.md || exit 1; done

# Takes ten minutes. Experiments on models that have to be brought before are left out.
CLAIMED = $(basename $(notdir $(shell grep -L 'live_model\|build/' $$(grep -l '^claims:' experiments/*.yaml))))
claims: nysbench
	@src/make/claims.sh $(CLAIMED)

# What results/published holds, as its LIST says; goes on where it was stopped. FILE=NAME for one of its files.
publish: can-test nysbench
	@python3 tests/published/publish.py $(FILE)

# The manual: the pages that the program shows, in $B/manual, and those for man(1), in $B/man, with the date of the last
# commit, or of the sources of a tarball. What writes them has the commands' tables of options from the library.
SOURCE_DATE_EPOCH ?= $(shell { [ ! -f .build-id ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y CHANGELOG.md)
RENDERS_LDLIBS = $(shell pkg-config --libs $(RENDERS)) -lcmark-gfm-extensions
$B/make_manual: $B/src/make/manual.o $B/libnysbench.a
	$(call say,link $@)
	$Q$(CC) $(LDFLAGS) $(call found_again,$(RENDERS_LDLIBS)) $^ $(RENDERS_LDLIBS) $(LDLIBS) -o $@

$B/manual: $B/make_manual $(wildcard docs/*.md) | $B/docs
	@rm -rf $@ $B/man
	$Qenv SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) ASAN_OPTIONS=detect_leaks=0 $< $B || { rm -rf $@; exit 1; }
