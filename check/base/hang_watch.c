/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hang_watch.c - what may have kept a child from answering (lib/health/hang.h judges) */
#include "check/base/hang_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/root.h"

#define DELAY_FIELD 42 /* of /proc/PID/stat: delayacct_blkio_ticks */
#define STATE_FIELD 3  /* the first field after the name in brackets */

/* Reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds. */
static bool read_pressure(const char *root, const char *what, uint64_t *total_us)
{
	char text[256];

	return osp_root_read(root, text, sizeof(text), "proc/pressure/%s", what) &&
	       sscanf(text, "some avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, total_us) == 1;
}

static bool read_ticks(pid_t process, uint64_t *ticks)
{
	char text[1024];
	const char *at;

	if (!osp_root_read("", text, sizeof(text), "proc/%ld/stat", (long)process))
		return false;
	at = strrchr(text, ')');
	for (int field = STATE_FIELD - 1; at && field < DELAY_FIELD; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && sscanf(at, "%" SCNu64, ticks) == 1;
}

/* Returns whether the kernel counts delays. Linux 5.14 and later say so; on older ones the first
 * process must have waited for a disk. */
static bool delays_are_counted(const char *root)
{
	uint64_t on, ticks;

	if (osp_root_number(root, &on, "proc/sys/kernel/task_delayacct"))
		return on == 1;
	return !*root && read_ticks(1, &ticks) && ticks > 0;
}

static bool read_delay(const char *root, pid_t child, unsigned int *delayed_ms)
{
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks;

	if (per_second <= 0 || !delays_are_counted(root) || !read_ticks(child, &ticks))
		return false;
	*delayed_ms = (unsigned int)(ticks * 1000 / (uint64_t)per_second);
	return true;
}

struct osp_hang_start osp_hang_begin(const char *root, pid_t child)
{
	struct osp_hang_start start = {.waited_ms = osp_child_starved_ms(child)};

	start.pressure_known = read_pressure(root, "io", &start.io_us) &&
			       read_pressure(root, "memory", &start.memory_us);
	start.delay_known = read_delay(root, child, &start.delayed_ms);
	return start;
}

bool osp_hang_can_be_judged(const char *root)
{
	struct osp_hang_start start = osp_hang_begin(root, getpid());

	return start.pressure_known || start.delay_known;
}

static unsigned int growth_ms(uint64_t before_us, uint64_t after_us)
{
	return after_us > before_us ? (unsigned int)((after_us - before_us) / 1000) : 0;
}

void osp_hang_add(const char *root, pid_t child, const struct osp_hang_start *start, bool first,
		  struct osp_hang_signs *signs)
{
	struct osp_hang_start now = osp_hang_begin(root, child);
	bool pressure = start->pressure_known && now.pressure_known;
	bool delay = start->delay_known && now.delay_known;

	if (first)
		*signs = (struct osp_hang_signs){.pressure_known = true, .delay_known = true};
	signs->pressure_known = signs->pressure_known && pressure;
	signs->delay_known = signs->delay_known && delay;
	signs->waited_ms += now.waited_ms > start->waited_ms ? now.waited_ms - start->waited_ms : 0;
	signs->io_ms += growth_ms(start->io_us, now.io_us);
	signs->memory_ms += growth_ms(start->memory_us, now.memory_us);
	signs->delayed_ms +=
		now.delayed_ms > start->delayed_ms ? now.delayed_ms - start->delayed_ms : 0;
}

void osp_hang_words(enum osp_hang hang, const struct osp_hang_signs *signs, const char **value,
		    char *why, size_t why_bytes)
{
	*value = "hangs";
	why[0] = '\0';
	switch (hang) {
	case OSP_HANG_STARVED:
		*value = "starved";
		snprintf(why, why_bytes,
			 "but it waited %u ms for a processor: too much else runs here",
			 signs->waited_ms);
		break;
	case OSP_HANG_PRESSED:
		*value = "pressed";
		if (signs->pressure_known)
			snprintf(why, why_bytes,
				 "but somebody waited %u ms for a device and %u ms for memory: too "
				 "much else runs here",
				 signs->io_ms, signs->memory_ms);
		else
			snprintf(why, why_bytes, "but it waited %u ms for block devices",
				 signs->delayed_ms);
		break;
	case OSP_HANG_UNKNOWN:
		snprintf(why, why_bytes,
			 "and neither /proc/pressure nor kernel.task_delayacct says whether others "
			 "kept it waiting");
		break;
	case OSP_HANG_STUCK:
		break;
	}
}
