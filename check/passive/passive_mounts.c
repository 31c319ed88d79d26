/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_mounts.c - do shared file systems answer, and have they free space? */
#include "check/passive/passive.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "check/base/hang_watch.h"
#include "check/base/root.h"

#define MOUNTS_MAX 64

/* Types whose server may be unreachable. */
static const char *const shared_types[] = {
	"lustre", "nfs",  "nfs4", "efs",       "ceph",		 "beegfs",     "gpfs",
	"wekafs", "cifs", "smb3", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "9p",
};

struct mount {
	char folder[OSP_SUBJECT_BYTES];
	char path[OSP_PATH_BYTES]; /* of the folder, below the root */
	struct osp_guard guard;
	bool started;
};

struct mounts {
	struct mount mounts[MOUNTS_MAX];
	size_t count;
};

static bool is_shared(const char *type)
{
	for (size_t i = 0; i < sizeof(shared_types) / sizeof(shared_types[0]); i++)
		if (strcmp(type, shared_types[i]) == 0)
			return true;
	return false;
}

static bool has_mount(const struct mounts *mounts, const char *folder)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (strcmp(mounts->mounts[i].folder, folder) == 0)
			return true;
	return false;
}

/* Reads the shared file systems of a table in the form of fstab; with `due` only those to be
 * mounted at boot. */
static bool read_mounts(const struct osp_check_context *context, const char *file, bool due,
			struct mounts *mounts)
{
	char path[OSP_PATH_BYTES], line[4096];
	struct mntent entry;
	FILE *table;

	mounts->count = 0;
	if (!osp_root_path(context->root, path, sizeof(path), "%s", file))
		return false;
	table = setmntent(path, "re");
	if (!table)
		return false;
	while (mounts->count < MOUNTS_MAX && getmntent_r(table, &entry, line, sizeof(line))) {
		struct mount *mount = &mounts->mounts[mounts->count];

		if (!is_shared(entry.mnt_type) || *entry.mnt_dir != '/' ||
		    strlen(entry.mnt_dir) >= sizeof(mount->folder) ||
		    has_mount(mounts, entry.mnt_dir) ||
		    (due &&
		     (hasmntopt(&entry, "noauto") || hasmntopt(&entry, "x-systemd.automount"))))
			continue;
		snprintf(mount->folder, sizeof(mount->folder), "%s", entry.mnt_dir);
		mount->started = false;
		if (osp_root_path(context->root, mount->path, sizeof(mount->path), "%s",
				  entry.mnt_dir + 1))
			mounts->count++;
	}
	endmntent(table);
	return true;
}

/* --- mounts ----------------------------------------------------------------------------------- */

/* Returns the per cent of free blocks, or of free files if that is less. */
static int free_percent(const struct statvfs *room)
{
	double percent =
		room->f_blocks ? (double)room->f_bavail / (double)room->f_blocks * 100 : 100;
	double files = room->f_files ? (double)room->f_favail / (double)room->f_files * 100 : 100;

	return (int)(files < percent ? files : percent);
}

/* Asks the file system, in a child. Returns errno, or FREE plus the per cent that is free. */
#define FREE 100000
static int ask_mount(const void *argument)
{
	const struct mount *mount = argument;
	struct statvfs room;

	return statvfs(mount->path, &room) == 0 ? FREE + free_percent(&room) : errno;
}

/* Judges the free space. It only warns, because a user can fill a file system. */
static bool judge_room(struct osp_check_context *context, const char *folder, int percent)
{
	const struct osp_limit *least = osp_check_limit(context, OSP_LIMIT_FREE_PERCENT, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	osp_result_figure(context, folder, "free_percent", percent);
	if (!least || percent >= least->value)
		return false;
	snprintf(value, sizeof(value), "%d %% free", percent);
	snprintf(limit, sizeof(limit), "< %lld", (long long)least->value);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, folder, value, limit, least->source,
		       "%s is nearly full, of blocks or of files", folder);
	return true;
}

/* Reports a file system that did not answer, or whose question the load of this node held up for
 * half the time or more. */
static void report_unanswered(struct osp_check_context *context, const struct mount *mount,
			      const struct osp_limit *limit)
{
	const struct osp_hang_signs signs = {.waited_ms = mount->guard.starved_ms};
	unsigned int limit_ms = (unsigned int)limit->value;
	char most[OSP_WORD_BYTES], why[OSP_WHY_BYTES / 2];
	const char *value = "no answer";

	why[0] = '\0';
	if (signs.waited_ms >= limit_ms / 2)
		osp_hang_words(OSP_HANG_STARVED, &signs, &value, why, sizeof(why));
	snprintf(most, sizeof(most), "within %u ms", limit_ms);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, mount->folder, value, most,
		       limit->source, "%s does not answer%s%s", mount->folder, *why ? ", " : "",
		       why);
}

static bool collect(struct osp_check_context *context, struct mount *mount, uint64_t until_ms,
		    const struct osp_limit *limit)
{
	int state = 0, outcome;

	if (!mount->started) {
		osp_result_error(context, mount->folder, "no child process");
		return true;
	}
	outcome = osp_guard_collect(&mount->guard, until_ms, &state);
	if (outcome == 1 && state >= FREE)
		return judge_room(context, mount->folder, state - FREE);
	if (outcome < 0) {
		osp_result_error(context, mount->folder, "the process that asked it crashed");
		return true;
	}
	if (outcome == 0)
		report_unanswered(context, mount, limit);
	else
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, mount->folder, "error",
			       NULL, NULL, "%s: %s", mount->folder, strerror(state));
	return true;
}

static bool report_unmounted(struct osp_check_context *context, const struct mounts *mounts)
{
	struct mounts due;
	bool ill = false;

	if (!read_mounts(context, "etc/fstab", true, &due))
		return false;
	for (size_t i = 0; i < due.count; i++) {
		if (has_mount(mounts, due.mounts[i].folder))
			continue;
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, due.mounts[i].folder,
			       "not mounted", NULL, "/etc/fstab",
			       "%s is in /etc/fstab and not mounted", due.mounts[i].folder);
		ill = true;
	}
	return ill;
}

/* Asks all file systems at once, so that one that hangs does not delay the others. */
static void run_mounts(struct osp_check_context *context)
{
	static const struct osp_limit fallback = {.value = 1000, .source = "onespine"};
	const struct osp_limit *limit = osp_check_limit(context, OSP_LIMIT_MOUNT_ANSWER_MS, NULL);
	struct mounts mounts;
	uint64_t until_ms;
	bool ill;

	if (!read_mounts(context, "proc/self/mounts", false, &mounts)) {
		osp_result_error(context, "", "/proc/self/mounts: %s", strerror(errno));
		return;
	}
	limit = limit ? limit : &fallback;
	until_ms = osp_now_ms() + (uint64_t)limit->value;
	for (size_t i = 0; i < mounts.count; i++)
		mounts.mounts[i].started =
			osp_guard_start(&mounts.mounts[i].guard, ask_mount, &mounts.mounts[i]) == 0;
	ill = report_unmounted(context, &mounts);
	for (size_t i = 0; i < mounts.count; i++)
		ill |= collect(context, &mounts.mounts[i], until_ms, limit);
	if (!mounts.count && !ill)
		osp_result_skip(context, "no shared file system");
	else if (!ill)
		osp_result_pass(context, "%zu answer", mounts.count);
}

const struct osp_check osp_check_mounts = {
	.name = "mounts",
	.group = OSP_GROUP_MOUNTS,
	.worst = OSP_VERDICT_WARN,
	.settles = true,
	.deadline_ms = 70000, /* the limit may be up to a minute */
	.measures = "shared file systems are mounted, answer and have room",
	.explains = "Asks each mounted Lustre, NFS, CephFS and the like for its size, each in a "
		    "process of its own, and compares with /etc/fstab. It warns at most: a server "
		    "that is away is no fault of the node, and would take every node out at once.",
	.cures = "Look at the server and the network; remount.",
	.run = run_mounts,
};

/* --- space ------------------------------------------------------------------------------------ */

/* Adds the node's own disks that are mounted, except / (a scratch of NVMe disks). */
static void add_disks(const struct osp_check_context *context, struct mounts *mounts)
{
	char path[OSP_PATH_BYTES], line[4096];
	struct mntent entry;
	FILE *table = NULL;

	mounts->count = 0;
	if (osp_root_path(context->root, path, sizeof(path), "proc/self/mounts"))
		table = setmntent(path, "re");
	while (table && mounts->count < MOUNTS_MAX &&
	       getmntent_r(table, &entry, line, sizeof(line))) {
		struct mount *mount = &mounts->mounts[mounts->count];

		if (strncmp(entry.mnt_fsname, "/dev/", 5) != 0 ||
		    (strcmp(entry.mnt_type, "ext4") != 0 && strcmp(entry.mnt_type, "xfs") != 0) ||
		    !entry.mnt_dir[1] || strlen(entry.mnt_dir) >= sizeof(mount->folder) ||
		    has_mount(mounts, entry.mnt_dir) ||
		    !osp_root_path(context->root, mount->path, sizeof(mount->path), "%s",
				   entry.mnt_dir + 1))
			continue;
		snprintf(mount->folder, sizeof(mount->folder), "%s", entry.mnt_dir);
		mounts->count++;
	}
	if (table)
		endmntent(table);
}

static bool look_at_room(struct osp_check_context *context, const char *folder, const char *path,
			 int *lowest)
{
	struct statvfs room;
	int percent;

	if (statvfs(path, &room) != 0 || room.f_blocks == 0)
		return false;
	percent = free_percent(&room);
	*lowest = percent < *lowest ? percent : *lowest;
	return judge_room(context, folder, percent);
}

static void run_space(struct osp_check_context *context)
{
	static const char *const folders[] = {"/", "/tmp", "/dev/shm"};
	char path[OSP_PATH_BYTES];
	struct mounts disks;
	int lowest = 100;
	bool ill = false;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (osp_root_path(context->root, path, sizeof(path), "%s", folders[i] + 1))
			ill |= look_at_room(context, folders[i], path, &lowest);
	add_disks(context, &disks);
	for (size_t i = 0; i < disks.count; i++)
		if (strcmp(disks.mounts[i].folder, "/tmp") != 0)
			ill |= look_at_room(context, disks.mounts[i].folder, disks.mounts[i].path,
					    &lowest);
	if (!ill)
		osp_result_pass(context, "%d %% free at least", lowest);
}

const struct osp_check osp_check_space = {
	.name = "space",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 1000,
	.measures = "/, /tmp, /dev/shm and mounted local disks are not full",
	.explains = "Free blocks and free files. NCCL and data loaders need /dev/shm. It warns at "
		    "most: users fill these.",
	.cures = "Clean up what earlier jobs left (an Epilog can).",
	.run = run_space,
};
