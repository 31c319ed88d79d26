/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_audit.c - `onespine audit`: is every running gang really where it asked to be? */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/sentences.h"
#include "host/slurm/ask.h"
#include "host/slurm/gang.h"
#include "tools/command/audit_layout.h"
#include "tools/command/world.h"

enum verdict { KEPT, BROKEN, ADVISED, LAUNCHED, VERDICT_COUNT };

static const char *const verdict_names[VERDICT_COUNT] = {"kept", "broken", "advised", "launched"};

static const char *const titles[VERDICT_COUNT] = {
	[BROKEN] = "Not as asked for:",
	[ADVISED] = "Spread, in advise mode (no violation):",
	[LAUNCHED] = "Their nodes start, and nobody knows yet where (no violation):",
};

struct audit {
	const struct osp_world *world;
	uint32_t counts[VERDICT_COUNT];
	struct osp_text lines[VERDICT_COUNT]; /* KEPT stays empty */
	json_t *list;
	bool layouts; /* --layout was given; its tables go to layout_lines */
	struct osp_text layout_lines;
};

/* Says where the nodes are: "nothing lower than spine s1 holds all its nodes", "no domain holds all
 * its nodes". */
static const char *where_words(const struct osp_topology *topology,
			       const struct osp_whereabouts *where, char *buffer,
			       size_t buffer_bytes)
{
	if (where->level == 0)
		snprintf(buffer, buffer_bytes, "on a single node");
	else if (where->level > 0)
		snprintf(buffer, buffer_bytes, "nothing lower than %s %s holds all its nodes",
			 osp_topology_level_name(topology, (uint32_t)where->level),
			 osp_topology_domain(topology, where->domain)->name);
	else
		snprintf(buffer, buffer_bytes, "no domain holds all its nodes");
	return buffer;
}

static void add_line(struct audit *audit, enum verdict verdict, const struct osp_state_job *job,
		     const struct osp_gang *gang, int due, const struct osp_whereabouts *where)
{
	const struct osp_topology *topology = audit->world->topology;
	struct osp_text *text = &audit->lines[verdict];
	char words[256];

	if (verdict == KEPT)
		return;
	osp_text_printf(text, "  job %s (%s, %s on %s): ", job->label, job->user ? job->user : "?",
			job->state, job->nodes_text ? job->nodes_text : "");
	if (gang->by_policy)
		osp_text_printf(text, "the policy of partition %s holds it to one %s; ",
				job->partition, gang->request.level);
	else
		osp_text_printf(text, "asked for %s; ", gang->note.gang);
	if (due < 0)
		osp_text_printf(text, "the topology has no level %s\n", gang->request.level);
	else if (verdict == LAUNCHED)
		osp_text_printf(text, "%s\n", gang->note.says);
	else if (where->missing)
		osp_text_printf(text, "%u of its nodes are not in the topology\n", where->missing);
	else
		osp_text_printf(text, "%s\n", where_words(topology, where, words, sizeof(words)));
}

static json_t *add_json(struct audit *audit, enum verdict verdict, const struct osp_state_job *job,
			const struct osp_gang *gang, int due, const struct osp_whereabouts *where)
{
	const struct osp_topology *topology = audit->world->topology;
	json_t *object = json_object();

	json_object_set_new(object, "job", osp_json_string(job->label));
	json_object_set_new(object, "user", osp_json_string(job->user));
	json_object_set_new(object, "state", osp_json_string(job->state));
	json_object_set_new(object, "nodes", osp_json_string(job->nodes_text));
	json_object_set_new(object, "asked", osp_json_string(gang->note.gang));
	json_object_set_new(object, "by", json_string(gang->by_policy ? "policy" : "request"));
	json_object_set_new(object, "verdict", json_string(verdict_names[verdict]));
	if (due > 0)
		json_object_set_new(
			object, "level_due",
			osp_json_string(osp_topology_level_name(topology, (uint32_t)due)));
	if (where->level >= 0)
		json_object_set_new(
			object, "level",
			osp_json_string(osp_topology_level_name(topology, (uint32_t)where->level)));
	if (where->domain != OSP_NO_DOMAIN)
		json_object_set_new(
			object, "domain",
			osp_json_string(osp_topology_domain(topology, where->domain)->name));
	json_array_append_new(audit->list, object);
	return object;
}

static enum verdict judge(const struct osp_state_job *job, const struct osp_gang *gang, bool kept)
{
	/* by its nodes' reservation it may be where it is to be, but EC2 has not said so yet */
	if (osp_gang_is_launched(job, gang))
		return LAUNCHED;
	if (kept)
		return KEPT;
	return gang->advise ? ADVISED : BROKEN;
}

static int audit_job(struct audit *audit, const struct osp_state_job *job)
{
	const struct osp_topology *topology = audit->world->topology;
	struct osp_whereabouts where;
	struct osp_gang gang;
	enum verdict verdict;
	json_t *object;
	bool kept;
	int due, rc = 0;

	if (!osp_job_on_nodes(job) || !job->nodes_text ||
	    !osp_gang_held(audit->world->config, topology, job, &gang))
		return 0;
	if (osp_gang_find(audit->world->snapshot, topology, job, &where) < 0) {
		osp_gang_clear(&gang);
		return -1;
	}
	due = osp_gang_level_due(topology, job, &gang);
	kept = osp_gang_kept(due, &where);
	osp_gang_look_beside(due, &where);
	if (osp_gang_in_parts(&gang) &&
	    osp_gang_parts_kept(audit->world->snapshot, topology, job, &gang, due, &kept) < 0) {
		osp_gang_clear(&gang);
		return -1;
	}
	verdict = judge(job, &gang, kept);
	audit->counts[verdict]++;
	add_line(audit, verdict, job, &gang, due, &where);
	object = add_json(audit, verdict, job, &gang, due, &where);
	if (audit->layouts)
		rc = osp_audit_layout(audit->world, job, &gang, &audit->layout_lines, object);
	osp_gang_clear(&gang);
	return rc;
}

static int print_audit(struct audit *audit, int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t total = 0;
	int verdict;

	for (verdict = 0; verdict < VERDICT_COUNT; verdict++)
		total += audit->counts[verdict];
	osp_text_printf(&text, "%u %s running: %u as asked for, %u not", total,
			total == 1 ? "gang" : "gangs", audit->counts[KEPT], audit->counts[BROKEN]);
	if (audit->counts[ADVISED])
		osp_text_printf(&text, ", %u spread in advise mode", audit->counts[ADVISED]);
	if (audit->counts[LAUNCHED])
		osp_text_printf(&text, ", %u on nodes that start", audit->counts[LAUNCHED]);
	osp_text_add(&text, "\n");
	if (audit->world->snapshot->hides_jobs)
		osp_text_add(&text, "  PrivateData=jobs: others' gangs are audited only if you are "
				    "an operator\n");
	for (verdict = BROKEN; verdict < VERDICT_COUNT; verdict++) {
		if (!audit->counts[verdict])
			continue;
		osp_text_printf(&text, "%s\n", titles[verdict]);
		osp_text_add(&text, audit->lines[verdict].data);
	}
	if (audit->layouts)
		osp_text_printf(&text, "%s\n%s",
				audit->layout_lines.length_bytes
					? "Groups of their layouts, and how many domains one group "
					  "touches at most:"
					: "No running gang has a layout.",
				audit->layout_lines.length_bytes ? audit->layout_lines.data : "");
	if (audit->counts[BROKEN] + audit->counts[ADVISED])
		osp_report_old_places(audit->world, &text, NULL);
	return osp_print_text(&text, status);
}

static int print_audit_json(struct audit *audit, int status)
{
	json_t *root = json_object();

	json_object_set_new(root, "clean", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(root, "kept", json_integer(audit->counts[KEPT]));
	json_object_set_new(root, "broken", json_integer(audit->counts[BROKEN]));
	json_object_set_new(root, "advised", json_integer(audit->counts[ADVISED]));
	json_object_set_new(root, "launched", json_integer(audit->counts[LAUNCHED]));
	json_object_set(root, "gangs", audit->list);
	if (audit->world->snapshot->hides_jobs)
		json_object_set_new(root, "hides_jobs", json_true());
	osp_report_old_places(audit->world, NULL, root);
	return osp_print_json(root, status);
}

int osp_run_audit(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_world world;
	struct audit audit = {.world = &world,
			      .list = json_array(),
			      .layouts = call->values[OSP_OPTION_AUDIT_LAYOUT] != NULL};
	int status;
	uint32_t i;

	if (osp_call_world(call, &world, &error) < 0) {
		status = osp_say_error(&error);
	} else {
		for (i = 0; i < world.snapshot->job_count; i++)
			if (audit_job(&audit, &world.snapshot->jobs[i]) < 0)
				break;
		status = audit.counts[BROKEN] ? OSP_EXIT_NO : OSP_EXIT_YES;
		if (i < world.snapshot->job_count)
			status = osp_say_no_memory();
		else
			status = (call->values[OSP_OPTION_JSON] ? print_audit_json
								: print_audit)(&audit, status);
	}
	for (i = BROKEN; i < VERDICT_COUNT; i++)
		osp_text_free(&audit.lines[i]);
	osp_text_free(&audit.layout_lines);
	json_decref(audit.list);
	osp_world_close(&world);
	return status;
}
