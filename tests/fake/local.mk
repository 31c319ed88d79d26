# SPDX-License-Identifier: GPL-2.0-or-later
# tests/fake: libraries and a node that are not there, and what is tested with them

# A libnvidia-ml.so.1 without a GPU, and a library to preload; neither is installed.
check_LTLIBRARIES += tests/fake/libcuda.la tests/fake/libcublaslt.la tests/fake/libnccl.la \
	tests/fake/libnvml.la tests/fake/libsystem.la
tests_fake_libcublaslt_la_SOURCES = tests/fake/libcublaslt.c check/gpu/blas.c check/gpu/blas.h tests/fake/libcuda.h tests/fake/words.h
tests_fake_libcublaslt_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fake_libcublaslt_la_LIBADD = $(DL_LIBS)
tests_fake_libnccl_la_SOURCES = tests/fake/libnccl.c tests/fake/libcuda.h tests/fake/words.h
tests_fake_libnccl_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fake_libnccl_la_LIBADD = $(DL_LIBS)
FAKE_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
tests_fake_libcuda_la_SOURCES = tests/fake/cpu.c tests/fake/cpu.h tests/fake/device_cpu.h \
	tests/fake/libcuda.c tests/fake/libcuda.h tests/fake/words.h
# Its fibers jump between stacks of their own, which a fortified longjmp() takes for a fault.
tests_fake_libcuda_la_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE -O3 -fno-strict-aliasing
tests_fake_libcuda_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fake_libnvml_la_SOURCES = tests/fake/nvml.c tests/fake/words.h check/base/nvml.h
tests_fake_libnvml_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fake_libsystem_la_SOURCES = tests/fake/system.c
tests_fake_libsystem_la_LDFLAGS = $(FAKE_LDFLAGS)
if HAVE_SLURM
check_LTLIBRARIES += tests/fake/libcluster.la
tests_fake_libcluster_la_SOURCES = tests/fake/cluster.c
tests_fake_libcluster_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_fake_libcluster_la_LDFLAGS = $(FAKE_LDFLAGS)
endif
EXTRA_DIST += tests/fake/clustermgtd tests/fake/ec2
EXTRA_DIST += tests/check/faults tests/check/faults.table tests/check/faults.reports tests/check/healthy tests/check/healthy.table tests/check/node.bash tests/check/memory tests/fake/at_path.c tests/fake/knock.c tests/fake/lib.bash tests/fake/other_version.bash tests/fake/node \
	doc/checks.md

# doc/checks.md: the checks; tests/check/faults.reports: every fault injected, with its report.
.PHONY: faults
faults: onespine$(EXEEXT) $(check_LTLIBRARIES)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(top_srcdir)/tests/check/faults --write

# As root, for half an hour: breaks one thing after the other, and the tests on a real Slurm must see it.
# MUTANTS="NAME..." for some.
mutants:
	$(top_srcdir)/tests/check/mutants $(MUTANTS)
.PHONY: mutants
EXTRA_DIST += tests/check/mutants tests/check/mutants.table

# tests/slurm/gate_results.txt: what was done to the gate on a real Slurm, and what came of it.
.PHONY: gate-table
gate-table:
	$(AM_V_at)$(top_srcdir)/tests/slurm/gate_table

# On a machine with a GPU, as whoever may use it: everything passes, and is as fast as what else measures it.
check_PROGRAMS += tests/gpu/direct
tests_gpu_direct_LDADD = libcheck.la
.PHONY: check-gpu
check-gpu: onespine$(EXEEXT) tests/gpu/direct$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ONESPINE='$(abs_builddir)/onespine' DIRECT='$(abs_builddir)/tests/gpu/direct' $(top_srcdir)/tests/gpu/run
# The same for a machine with nothing but a driver.
GPU_LOAD =
if HAVE_NVCC
GPU_LOAD += tests/gpu/load
tests/gpu/load: $(top_srcdir)/tests/gpu/load.cu
	$(AM_V_GEN)$(NVCC) -std=c++17 -O2 -cudart static -gencode arch=compute_75,code=compute_75 -o $@ $(top_srcdir)/tests/gpu/load.cu
endif
CLEANFILES += tests/gpu/load
.PHONY: gpu-bundle
gpu-bundle: onespine$(EXEEXT) tests/gpu/direct$(EXEEXT) $(GPU_LOAD)
	$(AM_V_GEN)$(top_srcdir)/tests/gpu/bundle onespine-gpu.tar.gz
CLEANFILES += onespine-gpu.tar.gz
