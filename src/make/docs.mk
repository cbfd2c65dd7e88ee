# SPDX-License-Identifier: GPL-3.0-or-later
# What the manual and the published results have from the program.
.PHONY: docs claims publish

docs: nysbench
	@for part in columns components; do \
	    ./nysbench describe --markdown $$part >docs/$$part.md.new && mv docs/$$part.md.new docs/$$part.md || exit 1; done

# Takes ten minutes. Experiments on models that have to be brought before are left out.
CLAIMED = $(basename $(notdir $(shell grep -L 'live_model\|build/long' $$(grep -l '^claims:' experiments/*.yaml))))
claims: nysbench
	@src/make/claims.sh $(CLAIMED)

# What results/published holds, as its LIST says; goes on where it was stopped. FILE=NAME for one of its files.
publish: can-test nysbench
	@python3 tests/published/publish.py $(FILE)

# Pages for man(1), with the date of the last commit, or of the sources of a tarball.
SOURCE_DATE_EPOCH ?= $(shell { [ ! -f .build-id ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y CHANGELOG.md)
$B/man: $B/nysbench $(wildcard docs/*.md)
	@rm -rf $@
	$Qenv SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $B/nysbench help --man-pages $@
