/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uvm.c - makes /dev/nvidia-uvm, without which no CUDA program starts */
#include "check/base/uvm.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "check/base/root.h"

/* Reads the number of "511 nvidia-uvm" from /proc/devices; 0 if the module is not loaded. */
static unsigned int uvm_major(const char *root)
{
	static const char name[] = "nvidia-uvm";
	char text[16 * 1024], *line, *rest = NULL;
	unsigned int major;
	int at;

	if (!osp_root_read(root, text, sizeof(text), "proc/devices"))
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		at = 0;
		if (sscanf(line, "%u %n", &major, &at) == 1 && at && strcmp(line + at, name) == 0)
			return major;
	}
	return 0;
}

static void make(const char *root, const char *name, unsigned int major, unsigned int minor)
{
	char path[OSP_PATH_BYTES];

	/* chmod() because of the umask; only on a file that was made here */
	if (osp_root_path(root, path, sizeof(path), "dev/%s", name) &&
	    mknod(path, S_IFCHR | 0666, makedev(major, minor)) == 0)
		(void)chmod(path, 0666);
}

bool osp_uvm_make(const char *root)
{
	unsigned int major;

	if (osp_root_exists(root, "dev/nvidia-uvm"))
		return true;
	major = uvm_major(root);
	if (!major)
		return false;
	make(root, "nvidia-uvm", major, 0);
	make(root, "nvidia-uvm-tools", major, 1);
	return osp_root_exists(root, "dev/nvidia-uvm");
}
