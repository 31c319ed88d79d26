# SPDX-License-Identifier: GPL-2.0-or-later
# gate/: onespine-gate, all that root does over the network before and after a job

if HAVE_SLURM
if HAVE_JANSSON
if HAVE_MUNGE
pkglibexec_PROGRAMS = onespine-gate
check_PROGRAMS += tests/fake/other-gate
onespine_gate_SOURCES = \
	gate/gate_act.c gate/gate_act.h gate/gate_act_job.c gate/gate_act_known.c \
	gate/gate_act_private.h gate/gate_quarantine.c \
	gate/gate_again.c gate/gate_again.h \
	gate/gate_adapters.c gate/gate_adapters.h \
	gate/gate_around.c gate/gate_around.h \
	gate/gate_check.c gate/gate_check.h \
	gate/gate_environment.c gate/gate_environment.h \
	gate/gate_fresh.c gate/gate_fresh.h \
	gate/gate_gpus.c gate/gate_gpus.h \
	gate/gate_instance.c gate/gate_instance.h \
	gate/gate_job.c gate/gate_job.h \
	gate/gate_measure.c gate/gate_measure.h \
	gate/gate_node.c gate/gate_node.h \
	gate/gate_peer.c gate/gate_peer.h \
	gate/gate_record.c \
	gate/gate_nccl.c gate/gate_nccl.h \
	gate/gate_reducer.c gate/gate_reducer.h \
	gate/gate_report.c gate/gate_report.h \
	gate/gate_rights.c gate/gate_rights.h \
	gate/gate_loop.c gate/gate_loop.h gate/gate_above.c \
	gate/gate_loop_private.h \
	gate/gate_send.c \
	gate/onespine-gate.c
onespine_gate_CPPFLAGS = $(HOST_CPPFLAGS) $(MUNGE_CFLAGS) $(SODIUM_CFLAGS)
onespine_gate_CFLAGS = $(AM_CFLAGS) $(OSP_PROGRAM_CFLAGS)
onespine_gate_LDFLAGS = $(AM_LDFLAGS) $(OSP_PROGRAM_LDFLAGS)
onespine_gate_LDADD = libreport.la libhost.la libcheck.la $(SLURM_LIBS) $(MUNGE_LIBS) $(SODIUM_LIBS) $(DL_LIBS)
# A gate of the next version of messages, for tests: it has gate_message.c of its own.
tests_fake_other_gate_SOURCES = $(onespine_gate_SOURCES) lib/gate/gate_message.c
tests_fake_other_gate_CPPFLAGS = $(onespine_gate_CPPFLAGS) -DOSP_GATE_WIRE_VERSION=3
tests_fake_other_gate_CFLAGS = $(onespine_gate_CFLAGS)
tests_fake_other_gate_LDFLAGS = $(onespine_gate_LDFLAGS)
tests_fake_other_gate_LDADD = $(onespine_gate_LDADD)
endif
endif
endif
