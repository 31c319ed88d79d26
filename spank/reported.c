/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reported.c - what was reported to a job on this node, so that it is reported once */
#include "onespine_config.h"
#include "spank/reported.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/private_file.h"

#define FOLDER_MODE 0755
#define JOBS_KEPT   1023

struct ring {
	uint64_t next;
	uint64_t entries[JOBS_KEPT]; /* what << 32 | job_id */
};

static int open_ring(const char *folder)
{
	int in = osp_private_folder(folder, FOLDER_MODE), fd;
	struct stat status;

	if (in < 0)
		return -1;
	fd = openat(in, "told", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	close(in);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX))
		return fd;
	close(fd);
	return -1;
}

bool osp_was_reported(const char *folder, uint32_t job_id, enum osp_reported what)
{
	uint64_t entry = (uint64_t)what << 32 | job_id;
	struct ring ring = {.next = 0};
	int fd = open_ring(folder);
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &ring, sizeof(ring), 0) != sizeof(ring))
		ring = (struct ring){.next = 0};
	for (size_t i = 0; i < JOBS_KEPT && !found; i++)
		found = ring.entries[i] == entry;
	if (!found) {
		ring.entries[ring.next++ % JOBS_KEPT] = entry;
		(void)!pwrite(fd, &ring, sizeof(ring), 0);
	}
	close(fd);
	return found;
}
