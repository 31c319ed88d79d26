/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_layout.c - `onespine layout`: the cost of a layout's groups on the fabric, and the best order
 * of nodes */
#include "tools/command/command.h"

#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/slurm/fabric.h"
#include "host/slurm/gang.h"
#include "lib/env/launcher.h"
#include "lib/env/script_layout.h"
#include "lib/layout/layout_plan.h"
#include "tools/command/layout_options.h"
#include "tools/command/world.h"
#include "tools/picture/layout.h"

/* The question, and what it needs. */
struct asked {
	struct osp_script_layout script;
	struct osp_layout_plan_input input;
	struct osp_model model;
	bool has_model;
	struct osp_error no_model; /* why */
	uint32_t nodes;		   /* 0: as many as the layout needs */
	struct osp_topology *topology;
	uint32_t *job_nodes;
	struct osp_world world;
};

/* --- what is asked ---------------------------------------------------------------------------- */

/* Reads the script; `said`: --layout gives the sizes. */
static int read_script(const char *path, bool said, struct osp_script_layout *script,
		       struct osp_error *error)
{
	size_t bytes = 0;
	char *text = osp_read_input(path, OSP_SCRIPT_BYTES_MAX, &bytes, error);
	int rc = -1;

	if (text)
		rc = (said ? osp_script_layout_read_beside : osp_script_layout_read)(
			osp_input_name(path), text, bytes, script, error);
	free(text);
	return rc;
}

/* Reads the layout of --layout, or else of the script. */
static int read_layout(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *text = call->values[OSP_OPTION_LAYOUT],
		   *path = call->values[OSP_OPTION_LAYOUT_SCRIPT];

	if (!text && !path && call->values[OSP_OPTION_JOB])
		return 0; /* take_own_layout() */
	if (!text && !path)
		return osp_error_set(error,
				     "a layout is needed: --layout=tp8,pp8,dp8, or --script=FILE "
				     "of a job that names one");
	if (path && read_script(path, text != NULL, &asked->script, error))
		return -1;
	if (osp_call_layout(call, &asked->script.layout, error))
		return -1;
	if (!text && asked->script.framework == OSP_FRAMEWORK_NONE)
		return osp_error_set(
			error,
			"%s: no parallel flags of Megatron-LM, Megatron-Bridge or TorchTitan "
			"found (configuration in files of their own is not seen); say "
			"--layout=tp8,pp8,dp8",
			osp_input_name(path));
	return 0;
}

static int read_model(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *text = call->values[OSP_OPTION_MODEL];
	struct osp_error inner = {.text = ""};

	osp_script_layout_batches(&asked->script);
	asked->model = asked->script.model;
	if (text && osp_model_parse(text, &asked->model, &inner))
		return osp_option_error("model", &inner, error);
	asked->has_model = !osp_model_complete(&asked->model, &inner);
	asked->no_model = inner;
	if (text && !asked->has_model)
		return osp_option_error("model", &inner, error);
	return 0;
}

/* --- where ------------------------------------------------------------------------------------ */

/* Takes the layout that the job asked for, which is stored with all its sizes, and the groups that
 * it keeps together. */
static int take_own_layout(const struct osp_call *call, const struct osp_state_job *job,
			   uint32_t count, struct asked *asked, struct osp_error *error)
{
	struct osp_layout *layout = &asked->script.layout;
	struct osp_error inner = {.text = ""};
	struct osp_gang gang;
	uint32_t ranks;
	int rc = 0;

	if (call->values[OSP_OPTION_LAYOUT] || call->values[OSP_OPTION_LAYOUT_SCRIPT])
		return 0;
	if (!osp_gang_of(job, &gang))
		return osp_error_set(
			error, "job %s is no gang and has no layout: say --layout=tp8,pp8,dp8",
			job->label);
	if (!*gang.request.layout || osp_layout_parse(gang.request.layout, layout, &inner) ||
	    (*gang.request.keep && !call->values[OSP_OPTION_KEEP] &&
	     osp_keeps_parse(gang.request.keep, asked->world.topology, &asked->input.keeps,
			     &inner)))
		rc = osp_error_set(error, "job %s has no layout%s%s: say --layout=tp8,pp8,dp8",
				   job->label, *inner.text ? " that is read: " : "", inner.text);
	osp_gang_clear(&gang);
	ranks = rc ? 0 : osp_layout_ranks(layout);
	if (count && ranks >= count && ranks % count == 0)
		asked->script.gpus_per_node = ranks / count;
	return rc;
}

/* Finds the nodes of a job, in the topology's numbers. */
static int take_job(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *label = call->values[OSP_OPTION_JOB];
	const struct osp_state_job *job;
	struct osp_nodeset *set;
	uint32_t count = 0;
	int rc;

	if (osp_check_job_word(label, error) || osp_call_world(call, &asked->world, error))
		return -1;
	job = osp_snapshot_find_job(asked->world.snapshot, label);
	if (!job)
		return osp_error_set(error, "there is no job %.40s", label);
	if (!job->nodes_text)
		return osp_error_set(error, "job %s has no nodes (%s)", job->label, job->state);
	set = osp_nodeset_new(osp_topology_node_count(asked->world.topology));
	asked->job_nodes = calloc(OSP_NODES_MAX, sizeof(*asked->job_nodes));
	rc = set && asked->job_nodes ? 0 : osp_error_set(error, "out of memory");
	if (!rc)
		rc = osp_snapshot_add_hostlist(asked->world.snapshot, job->nodes_text, true,
					       "the job's nodes", set, error);
	for (uint32_t node = rc ? set ? set->place_count : 0 : osp_nodeset_next(set, 0);
	     !rc && node < set->place_count; node = osp_nodeset_next(set, node + 1))
		asked->job_nodes[count++] = node;
	free(set);
	if (!rc && asked->nodes && asked->nodes != count)
		rc = osp_error_set(error, "-N %u: job %s has %u nodes; leave -N out", asked->nodes,
				   job->label, count);
	if (!rc)
		rc = take_own_layout(call, job, count, asked, error);
	asked->nodes = count;
	asked->input.topology = asked->world.topology;
	asked->input.nodes = asked->job_nodes;
	return rc;
}

static int find_place(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *path = call->values[OSP_OPTION_TOPOLOGY];

	if (call->values[OSP_OPTION_JOB])
		return take_job(call, asked, error);
	if (call->values[OSP_OPTION_STATE])
		return osp_error_set(error, "--state goes with --job");
	if (!path)
		return 0;
	asked->topology = osp_topology_load(path, error);
	asked->input.topology = asked->topology;
	return asked->topology ? 0 : -1;
}

static int find_size(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	uint32_t gpus;

	if (osp_call_count(call, OSP_OPTION_LAYOUT_NODES, OSP_NODES_MAX, &asked->nodes, error) ||
	    find_place(call, asked, error))
		return -1;
	gpus = asked->script.gpus_per_node;
	if (osp_call_count(call, OSP_OPTION_GPUS_PER_NODE, OSP_NODE_GPUS_MAX, &gpus, error))
		return -1;
	if (!asked->nodes && !call->values[OSP_OPTION_LAYOUT])
		asked->nodes = asked->script.nodes;
	asked->input.gpus_per_node = gpus ? gpus : OSP_NODE_GPUS_STANDARD;
	return 0;
}

static int gather(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	if (read_layout(call, asked, error) || find_size(call, asked, error) ||
	    osp_call_dp_weight(call, &asked->input.dp_weight, error) ||
	    osp_call_keeps(call, asked->input.topology, &asked->input.keeps, error) ||
	    osp_layout_complete(&asked->script.layout, asked->nodes, asked->input.gpus_per_node,
				error) ||
	    read_model(call, asked, error))
		return -1;
	asked->input.layout = asked->script.layout;
	asked->input.model = asked->has_model ? &asked->model : NULL;
	return 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Warns if a script states more about NVLink domains than the gang's nodes confirm. */
static void warn_stated(const struct osp_layout_plan *plan, const struct osp_stated *stated,
			const char *path)
{
	bool known = plan->topology && osp_topology_level(plan->topology, "nvlink") > 0;
	uint32_t gpus;

	if (!plan->topology || !stated->value || osp_layout_plan_nvlink(plan, stated->value, &gpus))
		return;
	osp_say_warning("%s:%d: %s=%u is false here: %s %u GPUs%s; set it to %u",
			osp_input_name(path), stated->line, stated->name, stated->value,
			known ? "an NVLink domain holds"
			      : "the topology has no level nvlink, and a node",
			gpus, known ? " of this gang" : "", gpus);
}

static const char *variable(const char *name)
{
	return getenv(name);
}

/* Warns if the script starts a launcher that gives its ranks to nodes by itself. */
static void warn_launcher(char *path)
{
	enum osp_launcher launcher = osp_launcher_find(&path, 1, variable);

	if (launcher == OSP_LAUNCHER_C10D)
		osp_say_warning("%s: torchrun's c10d ranks nodes by their names as strings, not in "
				"the order below: say --rdzv-backend=static "
				"--node-rank=$ONESPINE_NODE_RANK "
				"--master-addr=$ONESPINE_FIRST_HOST",
				osp_input_name(path));
	else if (launcher == OSP_LAUNCHER_RAY)
		osp_say_warning("%s: Ray orders nodes by address, not as below: order its "
				"placement group by the file $ONESPINE_HOSTFILE",
				osp_input_name(path));
	else if (launcher == OSP_LAUNCHER_NODEID)
		osp_say_warning("%s: SLURM_NODEID counts nodes by their names, not as below: say "
				"--node-rank=$ONESPINE_NODE_RANK",
				osp_input_name(path));
}

static int write_svg(const struct osp_layout_show *show, const char *path)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};

	if (!show->plan->topology || show->plan->nodes > OSP_LAYOUT_PICTURE_NODES_MAX) {
		osp_error_set(&error,
			      show->plan->topology ? "--svg: a picture holds at most %d nodes"
						   : "--svg needs --topology or --job",
			      OSP_LAYOUT_PICTURE_NODES_MAX);
		return osp_say_error(&error);
	}
	osp_layout_svg(show, &text);
	return osp_save_text(&text, path);
}

static int answer(const struct osp_call *call, const struct asked *asked,
		  const struct osp_layout_plan *plan)
{
	struct osp_layout_show show = {plan, asked->has_model ? &asked->model : NULL,
				       asked->input.dp_weight};
	struct osp_text text = OSP_TEXT_INIT;
	const char *script = call->values[OSP_OPTION_LAYOUT_SCRIPT];

	if (script) {
		warn_launcher((char *)script);
		warn_stated(plan, &asked->script.domain_size, script);
		warn_stated(plan, &asked->script.domain_ranks, script);
		if (!asked->has_model)
			osp_say_warning("%s: no bytes of a step are shown: %s; say them by --model",
					osp_input_name(script), asked->no_model.text);
	}
	if (call->values[OSP_OPTION_LAYOUT_SVG])
		return write_svg(&show, call->values[OSP_OPTION_LAYOUT_SVG]);
	if (call->values[OSP_OPTION_JSON])
		return osp_print_json(osp_layout_to_json(&show), OSP_EXIT_YES);
	osp_layout_text(&show, &text);
	return osp_print_text(&text, OSP_EXIT_YES);
}

int osp_run_layout(const struct osp_call *call)
{
	struct asked asked = {.nodes = 0};
	struct osp_layout_plan plan = {.nodes = 0};
	struct osp_error error = {.text = ""};
	int status;

	if (gather(call, &asked, &error))
		status = osp_say_error(&error);
	else if (osp_layout_plan_make(&asked.input, &plan, &error)) {
		osp_say_error(&error);
		status = OSP_EXIT_NO;
	} else
		status = answer(call, &asked, &plan);
	osp_layout_plan_clear(&plan);
	free(asked.job_nodes);
	osp_topology_free(asked.topology);
	osp_world_close(&asked.world);
	return status;
}
