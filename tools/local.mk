# SPDX-License-Identifier: GPL-2.0-or-later
# tools/: the command, its manual and its completions

# The command. All but what runs it is a library of its own, which the unit tests link too.
if HAVE_SLURM
if HAVE_JANSSON
noinst_LTLIBRARIES += libcommand.la
libcommand_la_SOURCES = \
	tools/command/command.h tools/command/completion.c \
	tools/command/env_json.c tools/command/env_json.h \
	tools/command/help.c \
	tools/command/commands.c tools/command/options.c tools/command/options.h tools/command/options_parse.c \
	tools/command/topology_sources.h \
	tools/picture/layout.h tools/picture/layout_show.c tools/picture/layout_svg.c \
	tools/picture/map.c tools/picture/map.h tools/picture/map_jobs.c \
	tools/picture/render_svg.c tools/picture/render_text.c tools/picture/svg.c tools/picture/svg.h
libcommand_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libcommand_la_LIBADD = libhost.la libonespine.la $(JANSSON_LIBS)

bin_PROGRAMS += onespine
onespine_SOURCES = \
	tools/command/audit_layout.c tools/command/audit_layout.h tools/command/cmd_audit.c \
	tools/command/cmd_check.c \
	tools/command/cmd_config.c \
	tools/command/cmd_doctor.c \
	tools/command/cmd_env.c \
	tools/command/cmd_fit.c \
	tools/command/cmd_gate.c \
	tools/command/cmd_gate_key.c \
	tools/command/cmd_history.c \
	tools/command/cmd_hosts.c \
	tools/command/cmd_layout.c \
	tools/command/cmd_map.c \
	tools/command/cmd_recheck.c \
	tools/command/cmd_reproduce.c \
	tools/command/recheck_job.c tools/command/recheck_job.h \
	tools/command/cmd_quarantine.c tools/command/quarantine.h \
	tools/command/cmd_set.c \
	tools/command/cmd_setup.c tools/command/setup_report.c tools/command/setup_report.h \
	tools/command/cmd_topology.c \
	tools/command/cmd_topology_discover.c \
	tools/command/cmd_topology_import.c \
	tools/command/cmd_topology_nodes.c tools/command/topology_nodes.h \
	tools/command/cmd_topology_survey.c \
	tools/command/cmd_why.c \
	tools/command/fit_environment.c tools/command/fit_environment.h tools/command/fit_gpus.c tools/command/fit_gpus.h tools/command/fit_launch.c tools/command/fit_launch.h tools/command/fit_refusal.c tools/command/fit_refusal.h tools/command/fit_sbatch.c tools/command/fit_sbatch.h tools/command/fit_scheduler.c tools/command/fit_scheduler.h tools/command/fit_segments.c tools/command/fit_segments.h tools/command/why_story.c tools/command/why_story.h tools/command/why_waiting.c tools/command/why_waiting.h \
	tools/command/layout_options.c tools/command/layout_options.h \
	tools/command/onespine.c \
	tools/command/pass_options.c tools/command/pass_options.h \
	tools/command/world.c tools/command/world.h
# doctor and setup
onespine_SOURCES += \
	tools/setup/builds.c tools/setup/builds.h \
	tools/setup/doctor.h tools/setup/doctor_ask.c tools/setup/doctor_dynamic.c tools/setup/doctor_facts.c tools/setup/doctor_munge.c tools/setup/doctor_reach.c \
	tools/setup/setup.c tools/setup/setup.h \
	tools/setup/unit_file.c tools/setup/unit_file.h
onespine_CPPFLAGS = $(HOST_CPPFLAGS)
onespine_CFLAGS = $(AM_CFLAGS) $(OSP_PROGRAM_CFLAGS)
onespine_LDFLAGS = $(AM_LDFLAGS) $(OSP_PROGRAM_LDFLAGS)
onespine_LDADD = libcommand.la libsource.la libcheck.la $(SLURM_LIBS) $(DL_LIBS)
if HAVE_CLOUD
onespine_CPPFLAGS += -DOSP_HAVE_CLOUD
endif
if HAVE_MUNGE
onespine_CPPFLAGS += -DOSP_HAVE_MUNGE
endif
if HAVE_HWLOC
noinst_LTLIBRARIES += libbindcommand.la
libbindcommand_la_SOURCES = \
	tools/picture/bind.h \
	tools/picture/bind_show.c \
	tools/picture/bind_svg.c
libbindcommand_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(HWLOC_CFLAGS)
libbindcommand_la_LIBADD = libbind.la
onespine_SOURCES += tools/command/bind_type.c tools/command/bind_type.h tools/command/cmd_bind.c
onespine_CPPFLAGS += -DOSP_HAVE_HWLOC $(HWLOC_CFLAGS)
onespine_LDADD += libbindcommand.la
endif

# What `onespine reproduce` executes.
dist_pkglibexec_SCRIPTS = tools/onespine-reproduce

dist_man_MANS = man/onespine.1 man/onespine.topology.5 man/onespine.yaml.5 man/onespine-rules.5 \
	man/onespine-gate.8
if HAVE_SLURM
dist_man_MANS += man/onespine.so.8 man/job_submit_onespine.8 man/select_cons_tres_onespine.8
endif

bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = completion/onespine
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = completion/_onespine
# EMULATOR: what runs a program of another architecture (tools/arm64).
EMULATOR =
completion/onespine: onespine$(EXEEXT)
	$(AM_V_GEN)mkdir -p completion && $(EMULATOR) ./onespine$(EXEEXT) completion bash >$@.tmp && mv $@.tmp $@
completion/_onespine: onespine$(EXEEXT)
	$(AM_V_GEN)mkdir -p completion && $(EMULATOR) ./onespine$(EXEEXT) completion zsh >$@.tmp && mv $@.tmp $@
CLEANFILES += completion/onespine completion/_onespine

# As folders: a new test or picture is in the tarball without being named here.
EXTRA_DIST += tests/command tests/trace.bash tests/corpus tests/data/env tests/data/map

endif
endif
