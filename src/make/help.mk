# SPDX-License-Identifier: GPL-3.0-or-later
.PHONY: help

define HELP
make            build ./nysbench; installs nothing, names what is missing
make demo       install what building and running need, build, run ./nysbench
                demo: a verdict, and the figure in README.md
make test       install what tests need too, build, run the tests but for the
                long ones; the last line sums them up
make test-long  the long tests, in parts; tests/long.sh --help says what is in
                them; PART="races held" for some; DOWNLOADS=0: nothing from
                PyPI; FUZZ_SECONDS=60: a minute of fuzzing for each parser
                (default: ten)
make asan       build everything with the address and undefined-behaviour
                sanitizers, in build/asan/
make tsan       build the tests of threads with the thread sanitizer, in
                build/tsan/; make test-long runs them
make avx512     build the tests of the code for AVX-512, emulated by SIMDe
                (libsimde-dev), in build/avx512/; make test-long runs them
make format     lay out the C sources as .clang-format says
make lint       look for mistakes in the sources: clang-format, clang-tidy,
                gcc -fanalyzer, pyflakes, ruff and mypy; PART=format, lines,
                python, ruff, types, wording, analyzer, tidy or words
make words      sentences of the manual that readers stumble over
make coverage   the share of lines that the tests run, by folder; in
                build/coverage/
make fuzz       any bytes as config, spec, .npy and .safetensors,
                $(FUZZ_SECONDS) s each; FUZZ_SECONDS=, HARNESS=npy for one
make bench      time what users wait for, rank the strategies; PART=engine,
                memory, peer, forward, sweep, strategies, profile, serve,
                workers or python for one of ten
make docs       write docs/columns.md and docs/components.md, which come from
                the program
make claims     run the experiments that have claims, write docs/claims.md
                with their verdicts; ten minutes
make publish    make the files of results/published, which README.md and
                docs/results.md cite; goes on where it was stopped, takes
                hours; FILE=NAME for one
make install    the program, the library, headers, templates, the heads of the
                demo, man pages and completions, into PREFIX=$(PREFIX) (and
                DESTDIR)
make uninstall  remove from PREFIX (and DESTDIR) what make install has put
                there
make dist       build/nysbench-$(VERSION).tar.xz: the committed sources, which
                build without git
make deb        Debian packages, in build/deb/; DEBFULLNAME= and DEBEMAIL=
                name their maintainer
make wheel      dist/nysbench-$(VERSION)-py3-none-manylinux_2_$(GLIBC_MINOR)_x86_64.whl:
                a wheel with all that it needs, for pip
make deps       install the Debian packages that building and running need;
                make deps-test: and tests; make deps-develop: and test-long,
                lint, fuzz, deb
make clean      remove what was built
endef

help:
	$(info $(HELP))@:
