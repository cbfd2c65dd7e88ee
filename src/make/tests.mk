# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests need, and the targets that test.
.PHONY: unit test test-long asan tsan avx512 fuzz fuzzers format lint words coverage bench

ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ := $(patsubst tests/fuzz/%.c,$B/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
ORACLE := $(patsubst tests/oracle/%.c,$B/tests/oracle_%,$(wildcard tests/oracle/*.c))
UNIT := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c)) $B/tests/test_conformance \
        $(FUZZ) $(ORACLE)

# The same with forward passes in double precision (linalg/scalar.h), for tests against what others compute in double:
# the folders of passes, which also use scalars by members of a layer, and what names them elsewhere.
SCALARS := src/layers/%.c src/attentions/%.c src/studies/forward/%.c src/studies/effect/%.c
DOUBLE := $(sort $(filter $(SCALARS),$(SRC)) $(shell grep -li nb_scalar $(SRC)))
$B/double/%.o: %.c
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) -DNB_DOUBLE_SCALAR $(CFLAGS) -MMD -MP -c $< -o $@

$B/double/nysbench: $B/src/main.o $(filter-out $(DOUBLE:%.c=$B/%.o),$(OBJ)) $(DOUBLE:%.c=$B/double/%.o)
	$(call say,link $@)
	$Q$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# The recipe of a program from one file of tests and the library: $(call link_test,FLAGS,LIBRARIES).
define link_test
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) $1 -MMD -MP $(LDFLAGS) $< $B/libnysbench.a $(LDLIBS) $2 -o $@
endef

# Tests of figures find the plot scripts as the program does, beside themselves.
$B/tests/%: tests/unit/%.c $B/libnysbench.a
	@mkdir -p $(@D); ln -sfn $$(realpath --relative-to=$(@D) plots) $(@D)/plots
	$(call link_test,-Itests/support,-lcmocka)

# Moves the clock, and counts calls: the linker leads them through the test.
$B/tests/test_prediction: LDFLAGS += -Wl,--wrap=clock_gettime
$B/tests/test_sweep: LDFLAGS += -Wl,--wrap=nb_gemm,--wrap=nb_multiply_by_upper,--wrap=nb_svd,--wrap=nb_scene_pass
# Lets the system refuse shared memory.
$B/tests/test_workers: LDFLAGS += -Wl,--wrap=mmap
# Lets LAPACK fail.
$B/tests/test_convergence: LDFLAGS += $(foreach f,gesdd gesvd syevd syev syevr,-Wl,--wrap=LAPACKE_d$f_work)

$B/tests/test_conformance: tests/conformance/test_conformance.c $B/libnysbench.a
	$(call link_test,-Itests/support,-lcmocka)

# A harness of tests/fuzz with libFuzzer, or with a main that reads the files that it is given.
FUZZER := tests/fuzz/replay.c
$B/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.h tests/fuzz/replay.c $B/libnysbench.a
	@mkdir -p $(@D)
	$(call say_cc,$<)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) -Itests/fuzz $(LDFLAGS) $< $(FUZZER) $B/libnysbench.a $(LDLIBS) -o $@

# The sources with code for AVX-512, which is emulated and taken first, and the tests of these; nothing else is
# sanitized.
AVX512 := $(shell grep -l '<immintrin.h>' $(SRC))
AVX512_TESTS := $(addprefix $B/avx512/tests/,test_linalg test_kmeans test_stripe test_attentions)
AVX512_FLAGS := -isystem tests/avx512 -mavx2 -mfma -Wno-psabi '-D__builtin_cpu_supports(feature)=1'
$B/avx512/%: private OPT := -O1 -g
$B/avx512/%: private SANITIZE := $(ASAN)
$B/avx512/%.o: %.c
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) $(AVX512_FLAGS) -MMD -MP -c $< -o $@

$(AVX512_TESTS): $B/avx512/tests/%: tests/unit/%.c $(AVX512:%.c=$B/avx512/%.o) $B/libnysbench.a
	@mkdir -p $(@D)
	$Q$(CC) $(PLACE) $(CPPFLAGS) $(CFLAGS) $(AVX512_FLAGS) -Itests/support -MMD -MP $(LDFLAGS) $(filter-out %.h,$^) \
	    $(LDLIBS) -lcmocka -o $@

# What an oracle asks where that is not the program, benchmarks, and what a long test asks.
$B/tests/oracle_%: tests/oracle/%.c $B/libnysbench.a
	$(call link_test,-Itests/support)
$B/bench/%: tests/bench/%.c $B/libnysbench.a
	$(call link_test)
$B/long/%: tests/long/%.c $B/libnysbench.a
	$(call link_test,-Itests/support)

unit: can-test
	@$(MAKE) --no-print-directory $(JOBS) $(UNIT)

# What tests/run.sh runs, and what that needs: binaries,BUILD,PART...
binaries = $$(tests/run.sh --list $2 | grep -oE ' $1/tests/(test|fuzz)_[a-z_]+' | sort -u)
SANITIZED := B=build/asan OPT="-O1 -g1" SANITIZE="$(ASAN) -fno-omit-frame-pointer"

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
	    SANITIZE="-fsanitize=fuzzer-no-link $(ASAN) -fno-omit-frame-pointer" fuzzers
	@tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(HARNESS)

fuzzers: $(FUZZ)

format:
	$(call needs,format,bin/clang-format=clang-format,deps-develop)
	@find src strategies tests -name '*.[ch]' -print0 | xargs -0 clang-format --style=file -i

# No finding is let pass, but for hard sentences. PART=lines runs that part alone; tests/checks/lint.sh names the parts.
lint: can-build $B/build.h
	$(call needs,lint,$(TO_LINT),deps-develop)
	@tests/checks/lint.sh $(PART)

# Sentences of the manual that readers stumble over.
words:
	@tests/checks/words.py

# Lines of src/ and strategies/ that the unit, conformance and a few command-line tests run.
coverage: can-test
	@$(MAKE) --no-print-directory $(JOBS) B=build/coverage OPT="-O1 -g -Wno-maybe-uninitialized" COVERAGE=1 \
	    build/coverage/nysbench unit
	@tests/coverage/coverage.py build/coverage

bench: can-test nysbench
	@$(MAKE) --no-print-directory $(JOBS) $B/bench/engine $B/bench/forward
	@tests/bench/bench.sh $(PART)
