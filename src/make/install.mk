# SPDX-License-Identifier: GPL-3.0-or-later
# What make install puts under PREFIX.
.PHONY: install install-files uninstall

# What a plug-in may include: one header a kind, and what these include, as the compiler finds it.
PLUGIN_KINDS = $(foreach k,$(KINDS),$(if $(call template,$k),$k))
KIND_HEADERS = $(foreach k,$(PLUGIN_KINDS),$(call folder,$k)/$(call kind,$k).h)
PUBLIC = $(sort $(filter %.h,$(shell $(CC) $(CPPFLAGS) -MM $(KIND_HEADERS))))

$B/nysbench.pc: FORCE
	@mkdir -p $B
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: nysbench' 'Version: $(VERSION)' 'Requires: gsl' \
	    'Description: strategies and other components for nysbench, in a shared object' \
	    'Cflags: -I$${prefix}/include/nysbench' >$@

$B/libnysbench.pc: FORCE
	@mkdir -p $B
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: libnysbench' 'Version: $(VERSION)' \
	    'Description: landmarks, their error and attention layers, for programs in any language' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/$(LIBDIR) -lnysbench' >$@

# What is installed, a line each: mode, source, place under PREFIX. The program's own folder lists what was put there.
SHARE := share/nysbench
COMPLETIONS := src/commands/completions
EXAMPLES := $(wildcard experiments/*.yaml experiments/data/*.* experiments/data/*/*.* experiments/models/*.* \
                       experiments/plugins/*.* experiments/suite/*.*)
define INSTALLED
755 $B/nysbench bin/nysbench
644 $B/$(SONAME) $(LIBDIR)/$(SONAME)
link $(SONAME) $(LIBDIR)/libnysbench.so
644 $B/nysbench.pc $(LIBDIR)/pkgconfig/nysbench.pc
644 $B/libnysbench.pc $(LIBDIR)/pkgconfig/libnysbench.pc
644 src/api/nysbench.h include/nysbench.h
644 $(COMPLETIONS)/nysbench.bash share/bash-completion/completions/nysbench
644 $(COMPLETIONS)/_nysbench share/zsh/site-functions/_nysbench
644 $(COMPLETIONS)/nysbench.fish share/fish/vendor_completions.d/nysbench.fish
$(foreach f,$(wildcard plots/*.gp docs/*.md),644 $f $(SHARE)/$f
)
$(foreach t,$(TEMPLATES),644 $(word 1,$(subst :, ,$t)) $(SHARE)/templates/$(word 2,$(subst :, ,$t))
)
$(foreach h,$(or $(PUBLIC),$(error the compiler finds no header of $(KIND_HEADERS))),\
644 $h include/nysbench/$(patsubst strategies/%,%,$(h:src/%=%))
)
$(foreach f,$(EXAMPLES),$(if $(filter %.sh %.pl,$f),755,644) $f $(SHARE)/$f
)
$(foreach f,$(wildcard $B/manual/*),644 $f $(SHARE)/$(f:$B/%=%)
)
$(foreach f,$(wildcard $B/man/man*/*),644 $f share/$(f:$B/%=%)
)
endef

TO = $(DESTDIR)$(PREFIX)
install: nysbench $B/nysbench.pc $B/libnysbench.pc
	@$(MAKE) --no-print-directory install-files

install-files: export FILES = $(INSTALLED)
install-files:
	@printf '%s\n' "$$FILES" | src/make/install.sh install "$(TO)" $(SHARE)/installed

uninstall:
	@src/make/install.sh uninstall "$(TO)" $(SHARE)/installed
