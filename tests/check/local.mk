# SPDX-License-Identifier: GPL-2.0-or-later
# tests/check: rules that the tree is held to

AM_TESTS_ENVIRONMENT = top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' \
	SLURM_PLUGINS='$(SLURM_PLUGINS)' NVCC='$(NVCC)' CC='$(CC)' HARDENING='$(osp_hardening)' HEADER_CPPFLAGS='$(HEADER_CPPFLAGS)'; \
	export top_srcdir top_builddir SLURM_PLUGINS NVCC CC HARDENING HEADER_CPPFLAGS;
HEADER_CPPFLAGS = $(DEFS) -I$(abs_top_builddir) $(YAML_CFLAGS) $(JANSSON_CFLAGS) $(SLURM_CPPFLAGS) $(HWLOC_CFLAGS) \
	$(EXPAT_CFLAGS) $(MUNGE_CFLAGS) $(SODIUM_CFLAGS)
TESTS += tests/check/glibc tests/check/gpu-run tests/check/hardening tests/check/layers tests/check/manuals tests/check/public-headers \
	tests/check/promises tests/check/ptx tests/check/sass tests/check/sbom \
	tests/check/scripts
EXTRA_DIST += tests/check/glibc tests/check/hardening tests/check/promises tests/check/ptx tests/check/sass tests/check/sass-by-number tests/check/sbom tests/check/headers.c tests/gpu/run tests/gpu/hostile tests/gpu/load.cu tests/gpu/results tests/gpu/bundle tests/check/gpu-run tests/check/layers tests/check/manuals \
	tests/check/public-headers tests/check/releases tests/check/scripts \
	tests/check/variants
if HAVE_SLURM
if HAVE_JANSSON
TESTS += tests/check/memory
endif
endif

# Every part that knows Slurm against each of its releases: make releases SLURM_SOURCES=/a/git/repository/of/slurm
.PHONY: releases
releases:
	$(AM_V_at)CC='$(CC)' $(top_srcdir)/tests/check/releases '$(SLURM_SOURCES)' $(RELEASES)

# As root, for half an hour: how much of what is mapped into slurmctld the unit tests and the core tests run.
# COVERAGE_OPTIONS="--missing" lists what did not; "--unit" goes without a Slurm.
coverage:
	$(top_srcdir)/tests/check/coverage $(COVERAGE_OPTIONS)
.PHONY: coverage
EXTRA_DIST += tests/check/coverage tests/check/coverage.py
