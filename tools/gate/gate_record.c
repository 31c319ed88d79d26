/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_record.c - what the gate puts on record: what a failed check saw, and the Epilog's look
 *
 * Files of root's alone, in a folder of root's alone; their names cannot be foretold, so nobody lays
 * a link where one will be.
 */
#include "onespine_config.h"
#include "tools/gate/gate_act.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/kept.h"
#include "lib/base/text.h"
#include "tools/gate/gate_talk.h"

#define SUFFIX ".json"

/* One new file KIND-NODE-JOB-TIME-XXXXXX.json in `folder`; its name comes back in `path`. */
static bool write_file(const char *folder, const char *kind, const struct osp_gate_here *here,
		       const char *json, char *path, size_t path_bytes)
{
	time_t now = time(NULL);
	int directory = osp_kept_folder(folder, 0700), file, length;
	char when[24] = "";
	struct tm utc;
	bool good;

	if (directory < 0)
		return false;
	close(directory);
	if (gmtime_r(&now, &utc))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	length = snprintf(path, path_bytes, "%s/%s-%s-%u-%s-XXXXXX" SUFFIX, folder, kind,
			  here->gang->nodes[here->gang->rank], here->gang->job, when);
	if (length < 0 || (size_t)length >= path_bytes)
		return false;
	file = mkostemps(path, (int)strlen(SUFFIX), O_CLOEXEC);
	if (file < 0)
		return false;
	good = osp_write_all(file, json, strlen(json)) && fsync(file) == 0;
	good = close(file) == 0 && good;
	if (!good)
		unlink(path);
	return good;
}

static void record(const struct osp_gate_here *here, const char *kind, const char *json)
{
	char local[1024], path[1280];
	const char *folder = here->policy->evidence;

	if (folder && write_file(folder, kind, here, json, path, sizeof(path))) {
		osp_gate_log(here->job, "what was seen: %s", path);
		return;
	}
	if (folder)
		osp_gate_log(here->job, "%s: %s; kept on the node", folder, strerror(errno));
	mkdir(here->state_folder, 0755);
	snprintf(local, sizeof(local), "%s/evidence", here->state_folder);
	if (write_file(local, kind, here, json, path, sizeof(path)))
		osp_gate_log(here->job, "what was seen: %s", path);
	else
		osp_gate_log(here->job, "%s: %s", local, strerror(errno));
}

void osp_gate_act_evidence(const struct osp_gate_here *here, const struct osp_gate_report *report,
			   const char *json)
{
	record(here, report->result == OSP_GATE_ERROR ? "error" : "fail", json);
}

/* A healthy node after its job is nothing to keep; the counters' changes stand in the history. */
void osp_gate_act_epilog(const struct osp_gate_here *here, const struct osp_gate_report *report,
			 const char *json)
{
	if (report->result >= OSP_GATE_WARN)
		record(here, "epilog", json);
}
