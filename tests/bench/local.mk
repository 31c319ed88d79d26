# SPDX-License-Identifier: GPL-2.0-or-later
# tests/bench: figures (run by hand)

check_PROGRAMS += tests/bench/bench_place tests/bench/bench_topology tests/bench/simulate_place tests/bench/bench_layout tests/bench/bench_note
tests_bench_bench_note_SOURCES = tests/bench/bench_note.c tests/fabric.c tests/fabric.h
tests_bench_bench_note_LDADD = libonespine.la
tests_bench_bench_topology_LDADD = libonespine.la
tests_bench_bench_layout_LDADD = libonespine.la -lm
tests_bench_bench_place_SOURCES = tests/bench/bench_place.c tests/fabric.c tests/fabric.h
tests_bench_bench_place_LDADD = libonespine.la
tests_bench_simulate_place_SOURCES = tests/bench/simulate_place.c tests/fabric.c tests/fabric.h
tests_bench_simulate_place_LDADD = libonespine.la -lm
if HAVE_SHADOW
check_PROGRAMS += tests/bench/bench_exchange tests/bench/bench_components tests/bench/bench_extra
tests_bench_bench_extra_SOURCES = tests/bench/bench_extra.c tests/unit/late_clock.h tests/unit/shadow_calls.h
tests_bench_bench_extra_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_bench_bench_extra_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM),--wrap=time
tests_bench_bench_extra_LDADD = $(SHADOW_TEST_LIBS)
tests_bench_bench_components_SOURCES = tests/bench/bench_components.c tests/unit/shadow_calls.h
tests_bench_bench_components_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_bench_bench_components_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_bench_bench_components_LDADD = $(SHADOW_TEST_LIBS)
tests_bench_bench_exchange_SOURCES = tests/bench/bench_exchange.c
tests_bench_bench_exchange_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_bench_bench_exchange_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_bench_bench_exchange_LDADD = $(SHADOW_TEST_LIBS)
endif
if HAVE_HWLOC
check_PROGRAMS += tests/bench/bench_node tests/bench/bench_step
tests_bench_bench_node_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_bench_bench_step_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_bench_bench_step_LDFLAGS = $(AM_LDFLAGS) -export-dynamic -Wl,--no-as-needed
tests_bench_bench_step_LDADD = libonespine.la $(HWLOC_LIBS)
tests_bench_bench_node_LDADD = libbind.la libonespine.la $(HWLOC_LIBS)
check_LTLIBRARIES += tests/bench/empty.la
tests_bench_empty_la_SOURCES = tests/bench/empty.c
tests_bench_empty_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_bench_empty_la_LDFLAGS = $(FAKE_LDFLAGS)
endif
EXTRA_DIST += tests/bench/bench tests/bench/check tests/bench/layouts tests/bench/gate tests/bench/srun tests/bench/lib/fabric.sh tests/bench/lib/judge.awk \
	tests/bench/lib/measure.sh tests/bench/lib/report.sh tests/bench/lib/systems.sh tests/bench/lib/timer.sh tests/bench/rounds.h tests/bench/timer.c \
	doc/performance-raw.txt

# As root, for an hour: the tables of whole and of shared nodes in doc/performance.md, 22.05 and 25.11 among them.
# BENCH_NODES=1024 or 65536 for others; BENCH_OPTIONS for one of them alone.
bench:
	$(top_srcdir)/tests/bench/bench $(BENCH_OPTIONS)
	test -n "$(BENCH_OPTIONS)" || for options in --shared \
		"--shared --nodes 65536 --times 8 --jobs 900 --cycles 4,3 --systems 22.05-onespine" \
		"--shared --nodes 65536 --times 8 --jobs 900 --cycles 4,3 --systems 25.11-onespine --table nodes-65536-shared-25.11" \
		"--plain 3" "--plain 3 --systems 25.11-tree,25.11-onespine-tree --table plain-25.11"; do \
		$(top_srcdir)/tests/bench/bench $$options || exit 1; done
# What environment and binding cost the start of a step; as root, a minute or two.
bench-srun:
	$(top_srcdir)/tests/bench/srun $(BENCH_OPTIONS)
# What the gate adds to the start of a job; as root, a few minutes.
bench-gate:
	$(top_srcdir)/tests/bench/gate $(BENCH_OPTIONS)
.PHONY: bench bench-gate bench-srun

# As root, after tools/test: what takes longer than it may; SOAK_OPTIONS='--only fuzz --fuzz-seconds 60' for a part.
soak:
	$(top_srcdir)/tests/soak . $(SOAK_OPTIONS)
.PHONY: soak
EXTRA_DIST += tests/soak tests/updates/run tests/updates/updates.bats \
	tests/updates/replay tests/updates/update_helpers.bash
