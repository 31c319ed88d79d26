/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_step.c - what the parts of onespine_node.so ask of the step, and how they print to its
 * tasks */
#include "onespine_config.h"
#include "spank/node_step.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "lib/base/environment.h"

void osp_node_say(const char *format, ...)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *words = NULL, *rest, *line;
	va_list list;
	int length;

	va_start(list, format);
	length = vasprintf(&words, format, list);
	va_end(list);
	if (length < 0)
		return;
	for (rest = osp_clean_lines(words); (line = strsep(&rest, "\n")) && (*line || rest);)
		osp_text_printf(&text, "onespine:%s%s\n", *line ? " " : "", line);
	if (!text.failed && text.data)
		(void)!write(STDERR_FILENO, text.data, text.length_bytes);
	osp_text_free(&text);
	free(words);
}

bool osp_node_is_first_task(char *const *environment)
{
	const char *rank = osp_environment_value(environment, "SLURM_PROCID");

	return rank && !strcmp(rank, "0");
}

/*
 * Uses the mount's own number, which differs in another namespace and which Linux gives from 5.8
 * on.
 */
struct osp_node_root osp_node_look_at_root(void)
{
	struct osp_node_root root = {.known = false};
	struct stat status;
#ifdef STATX_MNT_ID
	struct statx more;

	if (!statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &more) &&
	    (more.stx_mask & STATX_MNT_ID))
		return (struct osp_node_root){
			.known = true,
			.device = makedev(more.stx_dev_major, more.stx_dev_minor),
			.inode = more.stx_ino,
			.mount = more.stx_mnt_id};
#endif
	if (stat("/", &status))
		return root;
	root.device = status.st_dev;
	root.inode = status.st_ino;
	root.known = !stat("/proc/self/ns/mnt", &status);
	root.mount = root.known ? status.st_ino : 0;
	return root;
}

bool osp_node_in_container(const struct osp_node_step *step)
{
	struct osp_node_root root = osp_node_look_at_root();

	return root.inode && (root.device != step->root.device || root.inode != step->root.inode);
}

bool osp_node_has_all_gpus(const struct osp_node_step *step, int known, hwloc_const_bitmap_t gpus)
{
	return known == 1 && (uint32_t)hwloc_bitmap_weight(gpus) == step->known->machine->gpu_count;
}
