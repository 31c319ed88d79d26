# SPDX-License-Identifier: GPL-2.0-or-later
# tests/fuzz: a fuzzer for each parser (make fuzz; clang)

# tests/fuzz/fuzz.h says how to add one.
FUZZ_SOURCES = \
	tests/fuzz/fuzz_clean.c \
	tests/fuzz/fuzz_config.c \
	tests/fuzz/fuzz_document.c \
	tests/fuzz/fuzz_gate_message.c \
	tests/fuzz/fuzz_gate_words.c \
	tests/fuzz/fuzz_elf.c \
	tests/fuzz/fuzz_hostlist.c \
	tests/fuzz/fuzz_import.c \
	tests/fuzz/fuzz_layout.c \
	tests/fuzz/fuzz_licenses.c \
	tests/fuzz/fuzz_lint.c \
	tests/fuzz/fuzz_note.c \
	tests/fuzz/fuzz_order.c \
	tests/fuzz/fuzz_own_files.c \
	tests/fuzz/fuzz_report.c \
	tests/fuzz/fuzz_rules.c \
	tests/fuzz/fuzz_kmsg.c \
	tests/fuzz/fuzz_slurm_conf.c \
	tests/fuzz/fuzz_slurm_unit.c \
	tests/fuzz/fuzz_spares.c \
	tests/fuzz/fuzz_pass.c \
	tests/fuzz/fuzz_saved.c \
	tests/fuzz/fuzz_shape.c \
	tests/fuzz/fuzz_thresholds.c \
	tests/fuzz/fuzz_valid.c \
	tests/fuzz/fuzz_topology_file.c \
	tests/fuzz/fuzz_topology_slurm.c \
	tests/fuzz/fuzz_user_env.c

FUZZED_FILES = $(libonespine_la_SOURCES) check/base/kmsg.c check/base/kmsg.h check/base/root.c check/base/root.h \
	check/runner/result.c check/runner/valid.c
FUZZ_LIBS = $(YAML_LIBS)
FUZZ_CPPFLAGS = $(AM_CPPFLAGS)
FUZZ_HOST =
FUZZ_SEAL =
FUZZ_LDADD = libcheck.la libonespine.la
if HAVE_EXPAT
if HAVE_HWLOC
FUZZ_SOURCES += tests/fuzz/fuzz_bind_child.c tests/fuzz/fuzz_nccl_topology.c
FUZZED_FILES += $(libbind_la_SOURCES)
FUZZ_LIBS += $(HWLOC_LIBS) $(EXPAT_LIBS)
FUZZ_CPPFLAGS += $(HWLOC_CFLAGS) $(EXPAT_CFLAGS)
FUZZ_LDADD += libbind.la $(HWLOC_LIBS)
endif
endif

if HAVE_CLOUD
FUZZ_SOURCES += tests/fuzz/fuzz_cloud.c
FUZZED_FILES += $(libcloud_la_SOURCES)
FUZZ_LIBS += $(EXPAT_LIBS)
FUZZ_CPPFLAGS += $(EXPAT_CFLAGS)
FUZZ_LDADD += libcloud.la
endif

if HAVE_SLURM
if HAVE_JANSSON
FUZZ_SOURCES += tests/fuzz/fuzz_check_report.c tests/fuzz/fuzz_extra.c tests/fuzz/fuzz_history.c tests/fuzz/fuzz_options.c \
	tests/fuzz/fuzz_state.c
FUZZED_FILES += host/files.c host/output.c host/record/check_report.c host/record/history_line.c host/slurm/extra_text.c \
	host/slurm/snapshot.c host/slurm/snapshot_json.c tools/command/commands.c tools/command/options.c tools/command/options_parse.c
FUZZ_LIBS += $(JANSSON_LIBS)
FUZZ_CPPFLAGS += $(JANSSON_CFLAGS)
FUZZ_LDADD += $(JANSSON_LIBS)
FUZZ_HOST += libcommand.la libhost.la
if HAVE_MUNGE
if HAVE_SODIUM
FUZZ_SOURCES += tests/fuzz/fuzz_seal.c
FUZZ_SEAL += host/seal/seal.c host/seal/seal.h
FUZZED_FILES += $(FUZZ_SEAL) host/record/secrets_file.c
FUZZ_LIBS += $(MUNGE_LIBS) $(SODIUM_LIBS)
FUZZ_CPPFLAGS += $(MUNGE_CFLAGS) $(SODIUM_CFLAGS)
FUZZ_LDADD += $(MUNGE_LIBS) $(SODIUM_LIBS)
endif
endif
endif
endif

# make check: every fuzzer over its corpus.
check_PROGRAMS += tests/fuzz/replay
TESTS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h $(FUZZ_SOURCES) $(FUZZ_SEAL)
tests_fuzz_replay_CPPFLAGS = $(FUZZ_CPPFLAGS) -DOSP_FUZZ_REPLAY
tests_fuzz_replay_LDADD = $(FUZZ_HOST) $(FUZZ_LDADD)
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/reach tests/fuzz/run tests/fuzz/nccl_topology.dict \
	tests/fuzz/topology_file.dict \
	tests/fuzz/topology_slurm.dict

FUZZ_SECONDS = 30
FUZZ_ROUNDS = 1
FUZZ_REACH =
FUZZ_CLANG = clang
.PHONY: fuzz
fuzz:
	top_srcdir='$(top_srcdir)' CLANG='$(FUZZ_CLANG)' FUZZ_SECONDS='$(FUZZ_SECONDS)' \
	FUZZ_ROUNDS='$(FUZZ_ROUNDS)' FUZZ_REACH='$(FUZZ_REACH)' \
	LIB_SOURCES='$(FUZZED_FILES)' FUZZ_LIBS='$(FUZZ_LIBS)' \
	FUZZ_CPPFLAGS='$(DEFS) $(DEFAULT_INCLUDES) $(FUZZ_CPPFLAGS)' \
	FUZZ_TABLE='$(FUZZ_TABLE)' $(SHELL) $(top_srcdir)/tests/fuzz/run $(FUZZ_SOURCES)

# tests/fuzz.md: how many inputs each parser has been given in all.
FUZZ_TABLE =
.PHONY: fuzz-count fuzz-reach
fuzz-count:
	$(AM_V_at)$(MAKE) fuzz FUZZ_TABLE=$(abs_top_srcdir)/tests/fuzz.md
# The same page: how much of its parser each fuzzer has reached so far.
fuzz-reach:
	$(AM_V_at)$(MAKE) fuzz FUZZ_REACH=1 FUZZ_TABLE=$(abs_top_srcdir)/tests/fuzz.md
EXTRA_DIST += tests/fuzz.md
