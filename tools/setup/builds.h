/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builds.h - builds of slurmctld's plugins for several Slurms, side by side
 *
 * job_submit_onespine.so and the shadow load into one micro release of Slurm alone. Builds for
 * others are kept beside the folders that PluginDir names, as slurm/VERSION/NAME in such a folder
 * or in the one above it: with /usr/lib/onespine/slurmctld and /usr/lib/onespine in PluginDir,
 * /usr/lib/onespine/slurm/25.11.8/select_cons_tres.so. `make install-beside` puts them there. What
 * PluginDir finds is then a link to the build that fits.
 *
 * A distribution patches Slurm without another number. So a build may be kept as
 * slurm/22.05.8-4+deb12u3, the version of the source package, which dpkg and rpm report for the
 * installed Slurm. Of builds for one number that for the installed package comes first, then
 * slurm/22.05.8, then the newest of other packages.
 *
 * One thread.
 */
#ifndef OSP_TOOLS_BUILDS_H
#define OSP_TOOLS_BUILDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/doctor/doctor.h"

/* Notes in each folder of which plugins a build for the Slurm `slurm` is kept. */
void osp_builds_look(struct osp_plugin_folder *folders, size_t count, uint32_t slurm);

/*
 * Makes PluginDir find the kept builds for `slurm` in place of our plugins that were built for
 * another Slurm, or whose link leads nowhere: all of them, or none if one has no build that fits.
 * A link to one that fits by its number alone is replaced by the build for the installed package.
 * A plugin that is no link, as `make install` and packages leave it, gives way to a build for its
 * Slurm that is of a later release of Onespine or, of the same one, has a later time of its file;
 * so what was installed last for this Slurm is what slurmctld loads.
 * A plugin that is no link is kept for its own Slurm first, in place of a build kept before, so
 * that a Slurm that goes back finds it. Each is replaced at once (rename(2)); the next call
 * completes an interrupted one. A kept build that others than root and the caller may write is not
 * taken.
 *
 * Adds to `said` a line on each that was replaced, or one that says what is in the way. Returns how
 * many were replaced.
 */
uint32_t osp_builds_match(struct osp_plugin_folder *folders, size_t count, uint32_t slurm,
			  struct osp_text *said);

#endif
