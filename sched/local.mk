# SPDX-License-Identifier: GPL-2.0-or-later
# sched/: the plugins of slurmctld

# Slurm's allocator is given __FILE__: without the folder of the builder.
NO_FOLDER = -fmacro-prefix-map=$(top_srcdir)/=

# The shadow of select/cons_tres. Slurm's own plugin is behind it (DT_NEEDED, so not as needed), found by
# its run path; functions are bound lazily because clients load it too; its SONAME must not be Slurm's, or it
# would find itself. So it is linked under another name and installed under Slurm's.
# Its objects serve the unit tests too, with a slurmctld that is not there (tests/fake/slurmctld.h).
if HAVE_SHADOW
SHADOW_CPPFLAGS = $(NO_FOLDER) -I$(top_srcdir) -isystem $(SLURM_SOURCE) -DOSP_VERSION='"$(VERSION)"'
noinst_LTLIBRARIES += libshadow.la
libshadow_la_SOURCES = \
	sched/gang_comment.c sched/gang_comment.h \
	sched/select_cons_tres.c \
	sched/seam.h \
	sched/shadow.h sched/shadow_call.h sched/shadow_count.h sched/shadow_gang.h \
	sched/shadow_launch.h sched/shadow_request.h sched/shadow_state.h \
	sched/shadow_choose.c \
	sched/shadow_components.c \
	sched/shadow_could.c sched/shadow_could.h \
	sched/shadow_count.c \
	sched/shadow_extra.c \
	sched/shadow_files.c \
	sched/shadow_follow.c \
	sched/shadow_gang.c \
	sched/shadow_groups.c \
	sched/shadow_launch_failed.c \
	sched/shadow_launch.c \
	sched/shadow_layout.c \
	sched/shadow_leave.c \
	sched/shadow_license.c \
	sched/shadow_memory.c \
	sched/shadow_moved.c \
	sched/shadow_gpus.c sched/shadow_nodes.c sched/shadow_places.c \
	sched/shadow_one.c \
	sched/shadow_order.c \
	sched/shadow_parts.c \
	sched/shadow_plans.c \
	sched/shadow_promise.c \
	sched/shadow_readback.c \
	sched/shadow_request.c \
	sched/shadow_rows.c \
	sched/shadow_seam.c \
	sched/shadow_slurm.h \
	sched/shadow_state.c \
	sched/shadow_stopped.c \
	sched/shadow_processes.c \
	sched/shadow_try.c \
	host/slurm_compat.h
libshadow_la_CPPFLAGS = $(SHADOW_CPPFLAGS)

shadowexec_LTLIBRARIES = onespine_select.la
onespine_select_la_SOURCES =
onespine_select_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,--gc-sections,--version-script=$(top_srcdir)/sched/select_cons_tres.map -Wl,-z,lazy \
	-Wl,--no-as-needed,-L$(SLURM_PLUGINS),-l:select_cons_tres.so,-rpath,$(SLURM_PLUGINS)
onespine_select_la_LIBADD = libshadow.la libonespine.la
onespine_select_la_DEPENDENCIES = libshadow.la libonespine.la $(top_srcdir)/sched/select_cons_tres.map

endif
EXTRA_DIST += sched/select_cons_tres.map

# job_submit: from Slurm's installed headers alone. Its objects serve the unit test too.
if HAVE_SLURM
JOB_SUBMIT_CPPFLAGS = $(NO_FOLDER) $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -DOSP_SHADOW_DIR='"$(shadowexecdir)"'
noinst_LTLIBRARIES += libjobsubmit.la
libjobsubmit_la_SOURCES = \
	sched/gang_comment.c sched/gang_comment.h \
	sched/job_describe.c sched/job_describe.h \
	sched/job_env.c sched/job_env.h \
	sched/job_hold.c sched/job_hold.h \
	sched/job_hold_launched.c sched/job_hold_launched.h \
	sched/job_unsafe.c sched/job_unsafe.h \
	sched/job_origin.c sched/job_origin.h \
	sched/job_spares.c sched/job_spares.h \
	sched/job_submit_onespine.c sched/job_submit_onespine.h \
	sched/seam_client.c sched/seam_client.h \
	sched/slurm_exports.h
libjobsubmit_la_CPPFLAGS = $(JOB_SUBMIT_CPPFLAGS)

onespineexec_LTLIBRARIES += job_submit_onespine.la
job_submit_onespine_la_SOURCES =
job_submit_onespine_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,lazy \
	-Wl,-z,nodelete -Wl,--gc-sections,--version-script=$(top_srcdir)/sched/job_submit_onespine.map
job_submit_onespine_la_LIBADD = libjobsubmit.la libonespine.la
job_submit_onespine_la_DEPENDENCIES = libjobsubmit.la libonespine.la \
	$(top_srcdir)/sched/job_submit_onespine.map
endif
EXTRA_DIST += sched/job_submit_onespine.map
