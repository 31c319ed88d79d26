# SPDX-License-Identifier: GPL-2.0-or-later
# check/: the node checks, their limits and the kernels that they embed

# Node checks. NVML is loaded at run time, so nothing of NVIDIA's is needed here.
noinst_LTLIBRARIES += libcheck.la
libcheck_la_SOURCES = \
	check/gpu/active.h \
	check/runner/awake.c check/runner/awake.h \
	check/check.h check/base/child.h \
	check/base/counters.c check/base/counters.h \
	check/gpu/cuda.c check/gpu/cuda.h \
	check/gpu/gang_reduce.c check/gpu/gang_reduce.h \
	check/gpu/gpu.c check/gpu/gpu.h check/gpu/gpu_image.c check/gpu/gpu_image.h \
	check/gpu/gpu_bandwidth.c check/gpu/gpu_host_copy.c check/gpu/gpu_memory.c check/gpu/gpu_nccl.c \
	check/gpu/gpu_peer.c check/gpu/gpu_reduce.c check/gpu/gpu_reduce.h check/gpu/gpu_sm.c check/gpu/gpu_start.c \
	check/gpu/blas.c check/gpu/blas.h check/gpu/gpu_tensor.c check/gpu/gpu_tflops.c \
	check/gpu/gpu_mps.c check/gpu/gpu_mps.h \
	check/gpu/gpu_unit.c check/gpu/gpu_unit.h \
	check/base/gpu_starts.c check/base/gpu_starts.h \
	check/base/container.c check/base/container.h check/base/gpus.c check/base/gpus.h \
	check/base/process.c check/base/process.h \
	check/base/guard.c check/base/hang_watch.c check/base/hang_watch.h \
	check/base/kmsg.c check/base/kmsg.h \
	check/runner/list.c \
	check/gpu/nccl.c check/gpu/nccl.h \
	check/base/node_state.c check/base/node_state.h check/base/node_type.c check/base/node_type.h \
	check/base/nvml.c check/base/nvml.h \
	check/base/own_place.c check/base/own_place.h \
	check/base/pass_store.c check/base/pass_store.h \
	check/passive/passive.h check/passive/passive_accelerator.c check/passive/passive_gpu.c check/passive/passive_host.c \
	check/passive/passive_disk.c check/passive/passive_power.c check/passive/passive_versions.c \
	check/passive/passive_fabric.c check/passive/passive_imex.c check/passive/passive_link.c check/passive/passive_memory.c check/passive/passive_mounts.c check/passive/passive_network.c check/passive/passive_pcie.c \
	check/passive/passive_state.c check/passive/passive_xid.c \
	check/runner/outcome.c \
	check/base/root.c check/base/root.h \
	check/base/site_group.c check/base/site_group.h check/base/site_program.c check/base/site_program.h \
	check/runner/run_alike.c check/runner/run_lanes.c check/runner/run_later.c check/runner/run_start.c check/runner/run_pairs.c check/runner/run_pardon.c check/runner/run_private.h check/runner/run_speed.c \
	check/runner/runner.c check/runner/site_checks.c check/runner/site_checks.h \
	check/base/uvm.c check/base/uvm.h check/runner/result.c check/runner/valid.c
nodist_libcheck_la_SOURCES = check/thresholds_builtin.c
libcheck_la_LIBADD = libonespine.la $(DL_LIBS) -lm
CLEANFILES += check/thresholds_builtin.c
EXTRA_DIST += etc/thresholds.yaml

# The shipped limits, so that the command needs no file on a node.
check/thresholds_builtin.c: etc/thresholds.yaml Makefile
	$(AM_V_GEN)$(MKDIR_P) check && { \
		echo '#include "check/check.h"'; \
		echo 'const char osp_thresholds_builtin[] ='; \
		$(SED) -e '/^ *#/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' \
			$(srcdir)/etc/thresholds.yaml && echo ';'; } >$@.new && mv $@.new $@

# The kernels: PTX always, a fat binary where nvcc is.
KERNEL_FILES = \
	kernels/all.cu kernels/device.h kernels/device_ptx.h kernels/kernels.h kernels/memory.cu kernels/product.cu \
	kernels/sm.cu kernels/tensor.cu
KERNEL_PTX = kernels/ptx/sm_75.ptx kernels/ptx/sm_80.ptx kernels/ptx/sm_89.ptx
EXTRA_DIST += $(KERNEL_FILES) $(KERNEL_PTX) kernels/make-ptx
KERNEL_IMAGES = $(KERNEL_PTX)
if HAVE_NVCC
KERNEL_IMAGES += kernels/all.fatbin
kernels/all.fatbin: $(KERNEL_FILES)
	$(AM_V_GEN)$(MKDIR_P) kernels && $(NVCC) $(NVCC_TARGETS) -I$(srcdir) -fatbin \
		-Xfatbin -compress-all -o $@.new $(srcdir)/kernels/all.cu && mv $@.new $@
CLEANFILES += kernels/all.fatbin
endif
# The assembler takes each file in as it is; a zero ends it, for PTX is a string.
nodist_libcheck_la_SOURCES += check/gpu_image_builtin.c
CLEANFILES += check/gpu_image_builtin.c
check/gpu_image_builtin.c: $(KERNEL_IMAGES) Makefile
	$(AM_V_GEN)$(MKDIR_P) check && { \
		echo '#include "check/gpu/gpu_image.h"'; \
		for image in $(KERNEL_IMAGES); do \
			file=kernels/$${image##*kernels/}; \
			[ -e "$$file" ] || file='$(srcdir)/'$$file; \
			name=$${image##*/}; name=osp_image_$${name%.*}; \
			printf '%s\n' "__asm__(\".pushsection .rodata\n.balign 64\n.hidden $$name\n.globl $$name\n\""; \
			printf '%s\n' "	\"$$name:\n.incbin \\\"$$file\\\"\n.byte 0\n.popsection\n\");"; \
		done; \
		echo 'const int osp_gpu_image_cuda = $(NVCC_CUDA);'; } >$@.new && mv $@.new $@

# kernels/ptx, after a change of kernels/.
.PHONY: ptx
ptx:
	$(srcdir)/kernels/make-ptx '$(NVCC)' '$(srcdir)' '$(srcdir)/kernels/ptx'
