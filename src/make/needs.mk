# SPDX-License-Identifier: GPL-3.0-or-later
.PHONY: deps deps-test deps-develop can-build can-test

# What is needed, in three lists: to build and run, to test, to develop. CHECK=PACKAGE is a Debian package that is not
# asked for where CHECK holds: a module of pkg-config, in whatever prefix, a program (bin/NAME) or a header
# (header/NAME). The rest are packages.
TO_BUILD := bin/gnuplot=gnuplot-nox bin/pkg-config=pkg-config openblas=libopenblas-dev lapacke=liblapacke-dev \
            gsl=libgsl-dev sqlite3=libsqlite3-dev yaml-0.1=libyaml-dev jansson=libjansson-dev popt=libpopt-dev \
            nettle=nettle-dev libcmark-gfm=libcmark-gfm-dev \
            header/cmark-gfm-core-extensions.h=libcmark-gfm-extensions-dev
TO_TEST := cmocka=libcmocka-dev bin/bats=bats bin/pdftotext=poppler-utils bin/g++=g++ python3-numpy python3-scipy \
           python3-sklearn python3-matplotlib python3-mpmath python3-pip python3-venv
TO_LINT := bin/clang-format=clang-format bin/clang-tidy=clang-tidy bin/pyflakes3=pyflakes3
TO_FUZZ := bin/clang=clang libclang-rt-dev llvm
TO_PACK := bin/git=git bin/xz=xz-utils
TO_PACK_DEB := debhelper dh-python dpkg-dev fakeroot
TO_DEVELOP := $(TO_LINT) bin/mypy=mypy $(TO_FUZZ) $(TO_PACK) $(TO_PACK_DEB) lintian bin/debootstrap=debootstrap \
              libsimde-dev slurm-wlm munge bin/parallel=parallel bin/strace=strace bin/zsh=zsh bin/fish=fish \
              bin/mandoc=mandoc groff-base man-db chromium chromium-driver python3-selenium

# missing LIST: in the shell, the packages of the list that are not here. Without dpkg, what has no CHECK is taken to be
# here.
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

# Says what it installs and how large that is, and installs it. Without apt-get it only names what is missing.
install = @missing="$(call missing,$1)"; [ -z "$$missing" ] && exit 0; \
    command -v apt-get >/dev/null || { echo "missing: $$missing" >&2; \
        echo "There is no apt-get here. README.md has the names for conda and Fedora." >&2; exit 2; }; \
    set -e; sudo=; [ $$(id -u) = 0 ] || sudo=sudo; $$sudo apt-get update -qq; \
    echo "installing $$missing"; \
    LC_ALL=C apt-get install --assume-no --no-install-recommends $$missing | \
        grep -E 'newly installed|^Need to|^After' || true; \
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
