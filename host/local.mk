# SPDX-License-Identifier: GPL-2.0-or-later
# host/: what the command, the gate and what comes later know of a host

if HAVE_SLURM
if HAVE_JANSSON
# Where this installation is, for all programs.
HOST_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SLURM_CPPFLAGS) \
	-DOSP_DATA_DIR='"$(pkgdatadir)"' -DOSP_SITE_DIR='"$(samplesdir)"' \
	-DOSP_SHADOW_DIR='"$(shadowexecdir)"' -DOSP_PLUGIN_DIR='"$(onespineexecdir)"' \
	-DOSP_BIN_DIR='"$(bindir)"' -DOSP_GATE_DIR='"$(pkglibexecdir)"' \
	-DOSP_SLURM_PLUGINS='"$(SLURM_PLUGINS)"' \
	-DOSP_STATE_DIR='"$(statedir)"' -DOSP_LOG_DIR='"$(logdir)"'

# Who links it gets what it uses: the unit tests use nothing that asks Slurm, and link no libslurm.
noinst_LTLIBRARIES += libhost.la
libhost_la_SOURCES = \
	host/files.c host/files.h \
	host/output.c host/output.h \
	host/program.c host/program.h \
	host/slurm_compat.h
libhost_la_SOURCES += \
	host/slurm/ask.c host/slurm/ask.h \
	host/slurm/ask_segments.c host/slurm/ask_segments.h \
	host/slurm/cluster_state.c host/slurm/cluster_state.h \
	host/slurm/controller.c host/slurm/controller.h host/slurm/controller_private.h \
	host/slurm/controller_quarantine.c host/slurm/controller_quarantine.h \
	host/slurm/extra_text.c host/slurm/extra_text.h \
	host/slurm/fabric.c host/slurm/fabric.h \
	host/slurm/gang.c host/slurm/gang.h \
	host/slurm/hosts.c host/slurm/hosts.h \
	host/slurm/launch_left.c host/slurm/launch_left.h \
	host/slurm/block_jobs.c host/slurm/block_jobs.h \
	host/slurm/in_control_here.c host/slurm/in_control_here.h \
	host/slurm/in_the_way.c host/slurm/in_the_way.h \
	host/slurm/licenses.c host/slurm/licenses.h \
	host/slurm/node_extra.c host/slurm/node_extra.h \
	host/slurm/node_instance.c host/slurm/node_instance.h \
	host/slurm/node_list.c host/slurm/node_list.h \
	host/slurm/slurm_files.c host/slurm/slurm_files.h \
	host/slurm/slurm_topology.c host/slurm/slurm_topology.h \
	host/slurm/snapshot.c host/slurm/snapshot.h host/slurm/snapshot_json.c
libhost_la_SOURCES += \
	host/record/check_report.c host/record/check_report.h \
	host/record/evidence_file.c host/record/evidence_file.h \
	host/record/history_file.c host/record/history_file.h \
	host/record/history_line.c host/record/history_line.h \
	host/record/history_read.c host/record/history_read.h \
	host/record/record.c host/record/record.h \
	host/record/textfile.c host/record/textfile.h \
	host/record/secrets_file.c host/record/secrets_file.h \
	host/record/thresholds_file.c host/record/thresholds_file.h \
	host/record/trial_file.c host/record/trial_file.h
libhost_la_SOURCES += host/source/run_program.c host/source/run_program.h
libhost_la_CPPFLAGS = $(HOST_CPPFLAGS)
libhost_la_LIBADD = libonespine.la $(JANSSON_LIBS)

# what nodes report of themselves, the gate's end and the watch's, and what seals both
if HAVE_MUNGE
noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = \
	host/report/known_nodes.c host/report/known_nodes.h \
	host/report/listen.c host/report/listen.h \
	host/report/report_wire.h \
	host/seal/seal.c host/seal/seal.h
libreport_la_CPPFLAGS = $(HOST_CPPFLAGS) $(MUNGE_CFLAGS) $(SODIUM_CFLAGS)
libreport_la_LIBADD = libhost.la $(MUNGE_LIBS) $(SODIUM_LIBS)
endif

# where nodes are: who can be asked, and what becomes of their answers
noinst_LTLIBRARIES += libsource.la
libsource_la_SOURCES = \
	host/source/cloud_doctor.h host/source/apply.c host/source/apply.h \
	host/source/several.c host/source/several.h \
	host/source/source.c host/source/source.h host/source/source_infiniband.c \
	host/source/source_nvlink.c \
	host/source/source_topograph.c \
	host/source/watch.c host/source/watch.h
libsource_la_CPPFLAGS = $(HOST_CPPFLAGS)
libsource_la_LIBADD = libhost.la
if HAVE_MUNGE
libsource_la_CPPFLAGS += -DOSP_HAVE_MUNGE
libsource_la_LIBADD += libreport.la
endif
if HAVE_CLOUD
libsource_la_SOURCES += \
	host/cloud/credentials.c host/cloud/credentials.h \
	host/cloud/curl_late.c host/cloud/curl_late.h \
	host/cloud/ec2.c host/cloud/ec2.h host/cloud/ec2_call.c host/cloud/ec2_call.h \
	host/cloud/http.c host/cloud/http.h host/slurm/block_reservation.c \
	host/slurm/block_reservation.h host/source/block_ends.c host/source/block_ends.h \
	host/source/cloud_doctor.c host/source/source_ec2.c
libsource_la_CPPFLAGS += -DOSP_HAVE_CLOUD $(CURL_CFLAGS)
libsource_la_LIBADD += libcloud.la
endif
endif
endif
