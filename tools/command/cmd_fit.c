/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_fit.c - `onespine fit`: would such a gang start now, and where? */
#include "tools/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/policy/promise.h"
#include "lib/policy/request.h"
#include "lib/policy/sentences.h"
#include "host/slurm/ask.h"
#include "host/slurm/licenses.h"
#include "tools/command/fit_environment.h"
#include "tools/command/fit_gpus.h"
#include "tools/command/fit_launch.h"
#include "tools/command/fit_refusal.h"
#include "tools/command/fit_sbatch.h"
#include "tools/command/fit_scheduler.h"
#include "tools/command/fit_segments.h"
#include "tools/command/world.h"

/* Parses "12" or "4-8". */
static int parse_size(const char *value, struct osp_fit_question *question, struct osp_error *error)
{
	unsigned long least;
	unsigned long most;
	char *end;

	errno = 0;
	least = strtoul(value, &end, 10);
	most = least;
	if (end != value && *end == '-' && end[1] >= '0' && end[1] <= '9')
		most = strtoul(end + 1, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || least < 1 || most < least ||
	    most > OSP_NODES_MAX)
		return osp_error_set(error,
				     "-N %.40s: a number of nodes, or LEAST-MOST, from 1 to %d",
				     value, OSP_NODES_MAX);
	question->need_nodes = (uint32_t)least;
	question->want_nodes = (uint32_t)most;
	return 0;
}

/* Finds the lowest level that may do, for --gang=leaf,prefer; it must be below `level`. */
static int find_preferred(const struct osp_world *world, const char *prefer, uint32_t level,
			  uint32_t *least, struct osp_error *error)
{
	int found = osp_ask_level(world, prefer, error);

	if (found < 0)
		return -1;
	if (!osp_topology_below(world->topology, (uint32_t)found, level))
		return osp_error_set(
			error,
			"--gang=%s,prefer: %s is no level below the one that gangs of the "
			"partition are held to, %s; ask for --gang=%s",
			prefer, prefer, osp_topology_level_name(world->topology, level), prefer);
	*least = (uint32_t)found;
	return 0;
}

/* Reads a count: "4". Returns 1 for anything else, which sbatch refuses. */
static uint32_t count_of(const struct osp_call *call, enum osp_option_id option, uint32_t standard)
{
	const char *value = call->values[option];
	unsigned long number = value ? strtoul(value, NULL, 10) : standard;

	return number > OSP_NODES_MAX ? OSP_NODES_MAX : (uint32_t)number;
}

/* Reads a number of GPUs: "8", "h100:8". */
static uint32_t gpus_of(const char *value)
{
	const char *number = value ? strrchr(value, ':') : NULL;

	return value ? (uint32_t)strtoul(number ? number + 1 : value, NULL, 10) : 0;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return b ? a / b + (a % b != 0) : a;
}

static uint32_t tasks_on_a_node(const struct osp_call *call, uint32_t nodes)
{
	return count_of(call, OSP_OPTION_FIT_TASKS_PER_NODE,
			divide_up(count_of(call, OSP_OPTION_FIT_TASKS, nodes), nodes));
}

/* Returns whether the gang leaves the rest of its nodes to others. */
static bool is_shared(const char *exclusive)
{
	return !exclusive || !strcasecmp(exclusive, "oversubscribe");
}

/* Returns the GPUs that an option asks for of each node; 0: none does. */
static uint32_t gpus_of_each(const struct osp_call *call)
{
	const char *gres = call->values[OSP_OPTION_FIT_GRES];
	uint32_t gpus = gpus_of(call->values[OSP_OPTION_GPUS_PER_NODE]);

	if (!gpus && gres && !strncmp(gres, "gpu", 3) && !strchr(gres, ','))
		gpus = gpus_of(gres);
	return gpus;
}

/* Sets what the gang takes of each node, if it leaves the rest to others. Of what --gpus asks for
 * in all, a node gives one at least, as the shadow counts (shadow_need()). */
static void take_share(const struct osp_call *call, struct osp_fit_question *question)
{
	uint32_t nodes = question->need_nodes ? question->need_nodes : 1;
	uint32_t tasks = tasks_on_a_node(call, nodes);

	question->shares = is_shared(call->values[OSP_OPTION_FIT_EXCLUSIVE]);
	question->cpus = tasks * count_of(call, OSP_OPTION_FIT_CPUS_PER_TASK, 1);
	question->gpus = gpus_of_each(call);
	question->gpus_in_all = gpus_of(call->values[OSP_OPTION_FIT_GPUS]);
	if (!question->gpus && question->gpus_in_all)
		question->gpus = 1;
}

/* Reads a size as sbatch does, "900G", "4096" (MiB); OSP_MEMORY_UNKNOWN if it is none. */
static uint64_t memory_of(const char *value)
{
	static const char units[] = "kmgt";
	char *end;
	unsigned long long number = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end | 0x20) : &units[1];

	if (end == value || !unit || number > UINT32_MAX)
		return OSP_MEMORY_UNKNOWN;
	if (!number)
		return OSP_MEMORY_ALL;
	if (unit == units)
		return number / 1024 + (number % 1024 != 0);
	return (uint64_t)number << (10 * (unit - &units[1]));
}

/* Sets the memory that the gang takes of each node: said, or what the partition gives. */
static void take_memory(const struct osp_call *call, const struct osp_state_partition *partition,
			struct osp_fit_question *question)
{
	const char *value = call->values[OSP_OPTION_FIT_MEM];

	if (!partition)
		question->memory_mib = OSP_MEMORY_UNKNOWN;
	else if (!partition->counts_memory)
		question->memory_mib = 0;
	else if (value)
		question->memory_mib = memory_of(value);
	else if (getenv("SBATCH_MEM_PER_CPU") || getenv("SBATCH_MEM_PER_GPU"))
		question->memory_mib = OSP_MEMORY_UNKNOWN;
	else if (partition->memory_per_gpu && question->gpus)
		question->memory_mib = OSP_MEMORY_UNKNOWN;
	else if (partition->memory_per_cpu && partition->memory_mib != OSP_MEMORY_ALL)
		question->memory_mib = partition->memory_mib * question->cpus;
	else
		question->memory_mib = partition->memory_mib;
}

/* Returns the most GPUs that a node of the partition has. */
static uint32_t most_gpus(const struct osp_world *world, const char *partitions)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	struct osp_nodeset *set = osp_nodeset_new(snapshot->node_count);
	struct osp_error ignored = {.text = ""};
	uint32_t most = 0;

	if (set && partitions && osp_ask_add_partitions(world, partitions, set, &ignored) >= 0)
		for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
		     n = osp_nodeset_next(set, n + 1))
			if (snapshot->nodes[n].gpus > most)
				most = snapshot->nodes[n].gpus;
	free(set);
	return most;
}

/* Returns the GPUs of a node for a layout, as the shadow counts them (sched/shadow_groups.c); 0: no
 * option says, and Slurm is not asked. */
static uint32_t gpus_of_layout(const struct osp_call *call, const struct osp_world *world,
			       const struct osp_fit_question *question)
{
	uint32_t nodes = question->need_nodes ? question->need_nodes : 1;
	uint32_t tasks = tasks_on_a_node(call, question->need_nodes);
	uint32_t gpus = gpus_of_each(call);

	if (!gpus)
		gpus = divide_up(question->gpus_in_all, nodes);
	if (!gpus && tasks > 1)
		gpus = tasks;
	if (!gpus && world->from_slurm)
		gpus = most_gpus(world, question->partitions);
	return gpus || !world->from_slurm ? gpus : tasks;
}

/* Returns whether sbatch takes the time for none at all. */
static bool is_unlimited(const char *time)
{
	return !strcasecmp(time, "UNLIMITED") || !strcasecmp(time, "INFINITE") ||
	       !strcmp(time, "-1");
}

/* Reads "1-", which sbatch takes for one day (time_str2secs(), parse_time.c), and says so. Returns
 * whether it is such a time. */
static bool take_days(const char *limit, int64_t *limit_s)
{
	size_t digits = strspn(limit, "0123456789");
	char whole[16];

	if (!digits || strcmp(limit + digits, "-") != 0 || digits > 5)
		return false;
	snprintf(whole, sizeof(whole), "%s0", limit);
	if (osp_parse_duration(whole, limit_s) < 0)
		return false;
	osp_say_warning("--time=%s: sbatch takes this for %.*s day%s", limit, (int)digits, limit,
			strcmp(limit, "1-") ? "s" : "");
	return true;
}

/* Notes what reservations depend on. sbatch takes a time that overflows for another one. */
static int take_time(const struct osp_call *call, const struct osp_world *world,
		     const char *partition, struct osp_fit_question *question,
		     struct osp_error *error)
{
	const char *limit = call->values[OSP_OPTION_FIT_TIME];
	const struct osp_state_partition *found =
		osp_snapshot_find_partition(world->snapshot, partition);

	question->reservation = call->values[OSP_OPTION_FIT_RESERVATION];
	if (!limit)
		question->limit_s = found ? found->limit_s : 0;
	else if (is_unlimited(limit))
		question->limit_s = UINT32_MAX;
	else if (!take_days(limit, &question->limit_s) &&
		 osp_parse_duration(limit, &question->limit_s) < 0)
		return osp_error_set(
			error, "--time=%.40s: a time is expected (" OSP_DURATION_FORMS ")", limit);
	else if (!question->limit_s)
		question->limit_s = UINT32_MAX; /* sbatch takes 0 so */
	return 0;
}

/* Builds the question of the command line, under the partition's policy. */
static int build_question(const struct osp_call *call, const struct osp_world *world,
			  struct osp_fit_question *question, uint32_t *least, bool *enforced,
			  struct osp_error *error)
{
	const char *partition = call->values[OSP_OPTION_PARTITION];
	const struct osp_state_partition *standard =
		osp_snapshot_find_partition(world->snapshot, NULL);
	struct osp_request request = {.relax_s = -1};
	struct osp_policy policy;
	int level;

	if (osp_ask_partitions(world, partition, error) < 0)
		return -1;
	if (!partition && standard)
		partition = standard->name;
	policy = osp_policy_of_list(world->config, partition, world->topology);
	if (osp_request_parse(call->values[OSP_OPTION_GANG], &request, error) < 0)
		return -1;
	if (request.asked == OSP_GANG_OPTION_OFF)
		return osp_error_set(error, "--gang=off is no gang: there is nothing to place");
	level = osp_ask_level(world, *request.level ? request.level : policy.level, error);
	if (level < 0)
		return -1;
	*enforced = policy.mode == OSP_MODE_ENFORCE;
	if (!*enforced)
		osp_say_warning(
			"partition %s is in mode %s: Slurm places its jobs as if there were no "
			"gangs",
			partition ? partition : "by default", osp_mode_name(policy.mode));
	question->partitions = partition;
	question->required_nodes = call->values[OSP_OPTION_NODELIST];
	question->excluded_nodes = call->values[OSP_OPTION_EXCLUDE];
	question->features = call->values[OSP_OPTION_FIT_CONSTRAINT];
	question->level = (uint32_t)level;
	question->mix_kinds = policy.mix_kinds;
	take_share(call, question);
	take_memory(call, osp_snapshot_find_partition(world->snapshot, partition), question);
	if (take_time(call, world, partition, question, error) < 0)
		return -1;
	*least = question->level;
	return *request.prefer
		       ? find_preferred(world, request.prefer, question->level, least, error)
		       : 0;
}

/* Asks each level, from the lowest that may do upwards, until one has room. */
static int ask_levels(const struct osp_world *world, struct osp_fit_question *question,
		      uint32_t least, struct osp_fit_answer *answer, struct osp_error *error)
{
	uint32_t most = question->level;

	for (question->level = least;; question->level++) {
		if (osp_ask(world, question, answer, error) < 0)
			return -1;
		if (question->level == most || !osp_nodeset_empty(answer->chosen))
			return 0;
		osp_answer_clear(answer);
	}
}

static int print_answer(const struct osp_world *world, const struct osp_fit_question *question,
			const struct osp_fit_answer *answer, int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char words[OSP_SENTENCE_BYTES];

	osp_text_printf(&text, "%s: %s\n", status == OSP_EXIT_YES ? "would start now" : "no",
			osp_fit_says(world, answer, words, sizeof(words)));
	osp_fit_report_partition(question, status == OSP_EXIT_YES, &text, NULL);
	if (status == OSP_EXIT_YES) {
		if (!osp_leaves_text(world, answer->chosen, &text))
			text.failed = true;
		if (answer->domains[0].boot_nodes)
			osp_text_printf(&text, "  %u of them must be powered up first\n",
					answer->domains[0].boot_nodes);
		osp_report_queue(world, question->partitions, &text, NULL);
	} else if (answer->domain_count) {
		osp_answer_table(world, answer, OSP_FIT_DOMAINS_SHOWN, &text);
	}
	osp_report_old_places(world, &text, NULL);
	return osp_print_text(&text, status);
}

static int print_answer_json(const struct osp_world *world, const struct osp_fit_question *question,
			     const struct osp_fit_answer *answer, int status)
{
	json_t *root = json_object();
	char words[OSP_SENTENCE_BYTES];
	char *list;

	json_object_set_new(root, "starts_now", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(
		root, "level",
		osp_json_string(osp_topology_level_name(world->topology, answer->input.level)));
	json_object_set_new(root, "need", json_integer(answer->input.need_nodes));
	json_object_set_new(root, "want", json_integer(answer->input.want_nodes));
	json_object_set_new(root, "says",
			    osp_json_string(osp_fit_says(world, answer, words, sizeof(words))));
	osp_fit_report_partition(question, status == OSP_EXIT_YES, NULL, root);
	if (status == OSP_EXIT_YES) {
		const struct osp_place_domain *best = &answer->domains[0];

		list = osp_snapshot_hostlist(world->snapshot, answer->chosen);
		json_object_set_new(
			root, "domain",
			osp_json_string(osp_topology_domain(world->topology, best->domain)->name));
		json_object_set_new(root, "count", json_integer(osp_nodeset_count(answer->chosen)));
		json_object_set_new(root, "nodes", list ? osp_json_string(list) : NULL);
		json_object_set_new(root, "leaves", osp_leaves_to_json(world, answer->chosen));
		json_object_set_new(root, "boot", json_integer(best->boot_nodes));
		osp_report_queue(world, question->partitions, NULL, root);
		free(list);
	}
	json_object_set_new(root, "domains", osp_answer_to_json(world, answer, UINT32_MAX));
	osp_report_old_places(world, NULL, root);
	return osp_print_json(root, status);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Returns whether the job asks for more processors than the partition has. sbatch counts one for
 * each node at least. */
static bool exceeds_partition(const struct osp_fit *fit)
{
	const struct osp_snapshot *snapshot = fit->world.snapshot;
	const struct osp_fit_question *question = &fit->question;
	struct osp_nodeset *set = osp_nodeset_new(snapshot->node_count);
	struct osp_error ignored = {.text = ""};
	uint64_t tasks = count_of(fit->call, OSP_OPTION_FIT_TASKS,
				  question->need_nodes *
					  count_of(fit->call, OSP_OPTION_FIT_TASKS_PER_NODE, 1));
	uint64_t asked = tasks * count_of(fit->call, OSP_OPTION_FIT_CPUS_PER_TASK, 1), has = 0;

	if (set && osp_ask_add_partitions(&fit->world, question->partitions, set, &ignored) >= 0)
		for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
		     n = osp_nodeset_next(set, n + 1))
			has += snapshot->nodes[n].cpus;
	free(set);
	return has && asked > has;
}

/* Returns Slurm's reason for which a job of this partition would wait whatever is free, as
 * job_limits_check() of job_mgr.c has them; NULL: none, or not known. A QOS may lift limits. */
static const char *partition_reason(const struct osp_fit *fit)
{
	const struct osp_fit_question *question = &fit->question;
	const struct osp_state_partition *partition =
		osp_snapshot_find_partition(fit->world.snapshot, question->partitions);

	if (!partition)
		return NULL;
	if (!partition->up)
		return "PartitionDown";
	if (fit->world.from_slurm && exceeds_partition(fit))
		return "PartitionConfig";
	if (fit->call->values[OSP_OPTION_FIT_QOS])
		return NULL;
	if (partition->limit_most_s && question->limit_s > partition->limit_most_s)
		return "PartitionTimeLimit";
	if (question->need_nodes && partition->nodes_most &&
	    (question->need_nodes > partition->nodes_most ||
	     question->want_nodes < partition->nodes_least))
		return "PartitionNodeLimit";
	return NULL;
}

/* Returns whether -w names fewer nodes than the gang needs. */
static bool names_part(const struct osp_fit *fit)
{
	struct osp_nodeset *named = osp_nodeset_new(fit->world.snapshot->node_count);
	uint32_t count = 0;

	if (named && fit->question.required_nodes &&
	    osp_snapshot_add_hostlist(fit->world.snapshot, fit->question.required_nodes, true,
				      "required nodes", named, NULL) >= 0)
		count = osp_nodeset_count(named);
	free(named);
	return count && count < fit->question.need_nodes;
}

/* Asks sbatch without -w, because sbatch --test-only offers a job only the nodes of its -w, which
 * are too few here. It judges the rest, and the nodes' states say where. Returns as ask_scheduler()
 * does. */
static int ask_without_nodelist(struct osp_fit *fit, struct osp_error *error)
{
	struct osp_call call = *fit->call;

	call.values[OSP_OPTION_NODELIST] = NULL;
	free(fit->sbatch.nodes);
	if (osp_fit_ask_sbatch(&call, &fit->sbatch, error) < 0)
		return -1;
	return fit->sbatch.result == OSP_SBATCH_REFUSED;
}

/* Asks the scheduler if it answers for gangs. Returns 1 if it did, 0 if only the nodes' states can
 * answer, or -1. */
static int ask_scheduler(struct osp_fit *fit, struct osp_error *error)
{
	const struct osp_call *call = fit->call;
	const char *only_sbatch;
	bool needs = osp_fit_needs_sbatch(fit->given, &only_sbatch);

	if (fit->world.from_slurm && call->values[OSP_OPTION_FIT_EXTRA] &&
	    !fit->world.snapshot->has_extra)
		return osp_error_set(error, "--extra: sbatch has it from Slurm 23.11 on");
	if (fit->world.from_slurm && fit->enforced && !call->values[OSP_OPTION_TOPOLOGY]) {
		if (osp_fit_ask_sbatch(call, &fit->sbatch, error) < 0)
			return -1;
		if (names_part(fit) && osp_sbatch_lacks_nodes(&fit->sbatch))
			return ask_without_nodelist(fit, error);
		if (fit->sbatch.result != OSP_SBATCH_NOT_ASKED)
			return 1;
		if (needs)
			return osp_error_set(error,
					     "--%s is judged by sbatch, which is not here, or does "
					     "not know --gang",
					     only_sbatch);
	} else if (needs) {
		return osp_error_set(error,
				     "--%s is judged by slurmctld, which is asked where gangs are "
				     "enforced, and without --state, --topology and --free",
				     only_sbatch);
	}
	if (!fit->question.need_nodes)
		return osp_error_set(error, "onespine fit needs -N COUNT, the size of the gang");
	return 0;
}

static int answer_nodes(struct osp_fit *fit)
{
	int status = osp_nodeset_empty(fit->answer.chosen) ? OSP_EXIT_NO : OSP_EXIT_YES;

	if (fit->launched)
		return osp_fit_print_launch(fit);
	if (fit->asks_parts)
		return osp_fit_answer_segments(fit->call, &fit->world, &fit->grown, &fit->question,
					       &fit->answer);
	return (fit->call->values[OSP_OPTION_JSON] ? print_answer_json : print_answer)(
		&fit->world, &fit->question, &fit->answer, status);
}

/* Returns whether the nodes' states have room for the gang. */
static bool has_room(const struct osp_fit *fit)
{
	struct osp_segments_answer parts = {.cut = NULL};
	struct osp_error ignored = {.text = ""};
	bool fits;

	if (!fit->asks_parts)
		return !osp_nodeset_empty(fit->answer.chosen) &&
		       osp_fit_has_gpus(fit, fit->answer.chosen);
	fits = !osp_fit_ask_segments(fit->call, &fit->world, &fit->grown, &fit->question,
				     &fit->answer, &parts, &ignored) &&
	       parts.now.fits;
	osp_segments_answer_clear(&parts);
	return fits;
}

/* Returns what decides whether nodes may be launched for the gang, which has a job script. */
static struct osp_launchable launchable_of(const struct osp_fit *fit)
{
	return (struct osp_launchable){
		.mode = fit->enforced ? OSP_MODE_ENFORCE : OSP_MODE_ADVISE,
		.in_parts = osp_fit_in_parts(fit->call, &fit->opened, &fit->grown, &fit->question),
		.is_batch = true,
		.requeues = osp_fit_environment_requeues(fit->opened.snapshot->requeues),
		.has_reservation = fit->question.reservation != NULL,
	};
}

/* Returns whether the gang could start on nodes that are launched for it: for what --test-only
 * tests, which is no batch job, slurmctld launches none. */
static bool starts_by_launch(const struct osp_fit *fit)
{
	const struct osp_nodeset *reserved = fit->world.reserved_places;
	bool any = false;

	if (!osp_sbatch_lacks_nodes(&fit->sbatch) || !fit->answer.chosen || !reserved ||
	    !osp_fit_has_gpus(fit, fit->answer.chosen))
		return false;
	for (uint32_t n = osp_nodeset_next(fit->answer.chosen, 0);
	     n < reserved->place_count && !any; n = osp_nodeset_next(fit->answer.chosen, n + 1))
		any = osp_nodeset_test(reserved, n);
	return any;
}

/* Returns whether a gang that sbatch takes waits for what no node's state shows. */
static bool waits_whatever_nodes(const struct osp_fit *fit)
{
	const struct osp_call *call = fit->call;

	return osp_fit_begins_later(call->values[OSP_OPTION_FIT_BEGIN]) ||
	       osp_licenses_lacking(call->values[OSP_OPTION_FIT_LICENSES]);
}

/* Returns whether nodes of unknown places are launched for the gang, as far as sbatch said nothing
 * else (`asked`: it was asked) than that it lacks nodes. */
static bool launches(struct osp_fit *fit, bool asked, const struct osp_launchable *launchable)
{
	return fit->enforced && (!asked || osp_sbatch_lacks_nodes(&fit->sbatch)) &&
	       fit->answer.chosen && osp_nodeset_empty(fit->answer.chosen) &&
	       !fit->partition_says && !waits_whatever_nodes(fit) &&
	       osp_fit_finds_launch(fit, launchable);
}

/* Asks the question of fit->question.partitions. Returns whether the gang would start now, as an
 * exit status, or -1 with `error` set. */
static int judge(struct osp_fit *fit, struct osp_error *error)
{
	const struct osp_launchable launchable = launchable_of(fit);
	int asked;

	fit->world = osp_world_for(&fit->opened, fit->question.partitions, &launchable);
	fit->asks_parts = launchable.in_parts;
	asked = ask_scheduler(fit, error);
	if (asked < 0)
		return -1;
	if (fit->question.need_nodes &&
	    ask_levels(&fit->world, &fit->question, fit->least, &fit->answer, error) < 0)
		return -1;
	fit->partition_says = partition_reason(fit);
	fit->by_states = launches(fit, asked, &launchable);
	if (fit->by_states)
		return OSP_EXIT_YES;
	fit->needs_nodes_on_their_way = osp_fit_needs_nodes_on_their_way(fit);
	if (starts_by_launch(fit) || (fit->needs_nodes_on_their_way && has_room(fit))) {
		fit->sbatch.result = OSP_SBATCH_NOT_ASKED;
		asked = 0;
	} else if (osp_fit_is_taken(fit) || osp_fit_waits_by_reservation(fit)) {
		fit->sbatch.result = OSP_SBATCH_BUSY;
	}
	if (!asked && waits_whatever_nodes(fit)) {
		/* sbatch named nodes without -w */
		fit->sbatch.result = OSP_SBATCH_BUSY;
		asked = 1;
	}
	fit->by_states = !asked && !fit->partition_says;
	if (fit->by_states)
		return has_room(fit) ? OSP_EXIT_YES : OSP_EXIT_NO;
	fit->in_parts = fit->asks_parts && fit->answer.chosen &&
			fit->sbatch.result != OSP_SBATCH_REFUSED && !fit->partition_says;
	if (fit->in_parts && osp_fit_ask_segments(fit->call, &fit->world, &fit->grown,
						  &fit->question, &fit->answer, &fit->parts, error))
		return -1;
	return osp_fit_judge_scheduler(fit, error);
}

/* Frees what judge() found. */
static void clear_judgement(struct osp_fit *fit)
{
	free(fit->chosen);
	free(fit->launched);
	fit->chosen = fit->launched = NULL;
	free(fit->sbatch.nodes);
	memset(&fit->sbatch, 0, sizeof(fit->sbatch));
	osp_segments_answer_clear(&fit->parts);
	osp_answer_clear(&fit->answer);
	fit->reservation_comes = fit->reservation_over = false;
}

/* Asks the question `all` of one of its partitions. Returns as judge() does. */
static int judge_one(struct osp_fit *fit, const struct osp_fit_question *all, struct osp_call *call,
		     const char *name, struct osp_error *error)
{
	clear_judgement(fit);
	call->values[OSP_OPTION_PARTITION] = name;
	fit->call = call;
	fit->question = *all;
	fit->question.partitions = name;
	fit->question.of_several = true;
	take_memory(call, osp_snapshot_find_partition(fit->opened.snapshot, name), &fit->question);
	if (take_time(call, &fit->opened, name, &fit->question, error) < 0)
		return -1;
	return judge(fit, error);
}

/* Asks of each partition, because a job that may run in several runs in one, and sbatch --test-only
 * looks at one alone in some releases. The answer is for the first that has room; if none has, for
 * the first. Prints it. Returns the exit status, or -1 with `error` set. */
static int ask_partitions(struct osp_fit *fit, struct osp_error *error)
{
	const struct osp_fit_question all = fit->question;
	const struct osp_call *given = fit->call;
	struct osp_call call = *given;
	const char *name;
	char *rest;
	int status;

	if (!all.partitions || !strchr(all.partitions, ',')) {
		status = judge(fit, error);
	} else {
		fit->names = rest = strdup(all.partitions);
		if (!rest)
			return osp_error_set(error, "out of memory");
		do {
			name = strsep(&rest, ",");
			status = judge_one(fit, &all, &call, name, error);
		} while (status == OSP_EXIT_NO && rest);
		if (status == OSP_EXIT_NO)
			status = judge_one(fit, &all, &call, fit->names, error);
	}
	if (status >= 0)
		status = fit->by_states ? answer_nodes(fit) : osp_fit_print_scheduler(fit, status);
	fit->call = given;
	return status;
}

/* Answers the question. Returns the exit status, or -1 with `error` set. */
static int answer(struct osp_fit *fit, struct osp_error *error)
{
	const char *size = fit->call->values[OSP_OPTION_NODES], *only_sbatch;

	if (size ? parse_size(size, &fit->question, error) < 0
		 : !osp_fit_needs_sbatch(fit->given, &only_sbatch))
		return size ? -1
			    : osp_error_set(error, "onespine fit needs -N COUNT, the size of the "
						   "gang");
	if (osp_call_world(fit->call, &fit->opened, error) < 0 ||
	    build_question(fit->call, &fit->opened, &fit->question, &fit->least, &fit->enforced,
			   error) < 0)
		return -1;
	fit->grown.gpus = gpus_of_layout(fit->call, &fit->opened, &fit->question);
	if (size && osp_fit_add_spares(fit->call, &fit->opened, &fit->question, &fit->grown, error))
		return -1;
	return ask_partitions(fit, error);
}

/* Says what of the question was not given. Returns `status`. */
static int say_taken(const struct osp_fit *fit, struct osp_text *taken, int status)
{
	struct osp_text lines = OSP_TEXT_INIT, others = OSP_TEXT_INIT;

	if (fit->given->values[OSP_OPTION_JSON])
		return status;
	if (!fit->by_states)
		osp_fit_add_others(&others);
	if (taken->length_bytes)
		osp_text_printf(&lines, "  taken from the environment, as sbatch does: %s\n",
				taken->data);
	if (others.length_bytes)
		osp_text_printf(&lines, "  sbatch obeys too: %s\n", others.data);
	osp_text_free(&others);
	return lines.length_bytes ? osp_print_text(&lines, status) : status;
}

int osp_run_fit(const struct osp_call *call)
{
	struct osp_call asked = *call;
	struct osp_fit fit = {.call = &asked, .given = call, .least = 1};
	struct osp_text taken = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	int status;

	osp_fit_take_environment(&asked, &taken);
	status = answer(&fit, &error);
	if (status >= 0) {
		status = say_taken(&fit, &taken, status);
	} else {
		status = osp_say_error(&error);
		if (taken.length_bytes)
			osp_say_warning("taken from the environment, as sbatch does: %s",
					taken.data);
	}
	osp_text_free(&taken);
	clear_judgement(&fit);
	free(fit.names);
	osp_world_close(&fit.opened);
	return status;
}
