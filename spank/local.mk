# SPDX-License-Identifier: GPL-2.0-or-later
# spank/: the plugins of sbatch, srun and slurmstepd

# Loaded into sbatch, srun and every task: these few of lib/'s files and no other library, libyaml
# neither. What they hold beyond need goes with --gc-sections.
if HAVE_SLURM
noinst_LTLIBRARIES += libspank.la
libspank_la_SOURCES = \
	lib/base/bit_text.c lib/base/clean.c lib/base/error.c lib/base/hostlist.c lib/base/hostlist_compact.c lib/topology/leaf_list.c lib/topology/leaf_pack.c lib/layout/gang_order.c lib/layout/layout.c lib/layout/layout_groups.c lib/policy/job_options.c lib/policy/mode.c \
	lib/base/node_counts.c lib/policy/note.c lib/policy/request.c lib/policy/request_parts.c lib/policy/spares.c lib/base/text.c lib/env/launcher.c \
	spank/gang_options.c spank/gang_options.h \
	spank/user_binding.c spank/user_binding.h \
	spank/command_line.c spank/command_line.h \
	spank/modes.c spank/modes.h \
	spank/node_part.h \
	spank/onespine.c \
	spank/options.c spank/options.h \
	spank/order_file.c spank/order_file.h \
	spank/ordered.c spank/ordered.h \
	spank/placement.c spank/placement.h \
	spank/spares.c spank/spares.h \
	spank/step.c spank/step.h \
	spank/step_options.c spank/step_options.h
libspank_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -DOSP_EXEC_DIR='"$(onespineexecdir)"'

onespineexec_LTLIBRARIES += onespine.la
onespine_la_SOURCES =
onespine_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,lazy \
	-Wl,--gc-sections,--version-script=$(top_srcdir)/spank/onespine.map
onespine_la_LIBADD = libspank.la $(DL_LIBS)
onespine_la_DEPENDENCIES = libspank.la $(top_srcdir)/spank/onespine.map
TESTS += tests/unit/exports.sh

# Environment and binding: loaded by onespine.so in slurmstepd, which has hwloc in it already. No other
# daemon and no client loads it.
if HAVE_HWLOC
onespineexec_LTLIBRARIES += onespine_node.la
onespine_node_la_SOURCES = \
	spank/binding.c \
	spank/environment.c \
	spank/modes.h \
	spank/node_part.c spank/node_part.h \
	spank/node_step.c spank/node_step.h \
	spank/own_files.c spank/own_files.h \
	spank/reported.c spank/reported.h
onespine_node_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) $(HWLOC_CFLAGS) $(EXPAT_CFLAGS) \
	-DOSP_DATA_DIR='"$(pkgdatadir)"' -DOSP_SITE_DIR='"$(samplesdir)"'
onespine_node_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,lazy \
	-Wl,--as-needed,--gc-sections,--version-script=$(top_srcdir)/spank/onespine_node.map
onespine_node_la_LIBADD = libbind.la libonespine.la
onespine_node_la_DEPENDENCIES = libbind.la libonespine.la $(top_srcdir)/spank/onespine_node.map
endif
endif
EXTRA_DIST += spank/onespine.map spank/onespine_node.map tests/unit/exports.sh
