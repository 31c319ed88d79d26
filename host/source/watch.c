/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - asks sources again and again, and at once when a node is a new one */
#include "host/source/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/files.h"
#include "host/slurm/fabric.h"
#include "host/source/apply.h"
#ifdef OSP_HAVE_MUNGE
#include "host/report/listen.h"
#endif
#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "lib/topology/place_age.h"

#define FIRST_PAUSE_S 5 /* after a question that has to be asked again; doubled each time */

/* EC2 knows an instance some time before it knows its place. Chosen: twice the default of
 * launch_place, so that a gang that waits for the place gives up first. */
#define FRESH_S 600

/* After the first few, warnings for each of thousands of nodes say nothing more. */
#define WARNINGS_MAX 8

struct watching {
	const struct osp_watch *watch;
	struct osp_node_list seen; /* the nodes that the source was last asked about */
	int64_t due_s;		   /* when it is asked next, by the monotonic clock */
	int pause_s;		   /* before it is asked again; 0: it has answered all */
	bool failed;		   /* the last question */
	bool ends_failed;	   /* that about Capacity Blocks */
	bool ends_done;		   /* it is asked no more */
	bool slurm_failed;	   /* the last change of Slurm's Topology= */
	uint32_t unplaced;	   /* nodes that booted a short time ago and have no place yet */
	struct osp_listen *listen; /* NULL: no report is heard */
	bool reported;		   /* a node has reported something new of itself */
	int64_t reported_due_s;	   /* from when on the sources may be asked for that */
	int reported_pause_s; /* before they are asked for that again; 0: none was told since */
	char said[OSP_ERROR_TEXT_BYTES];
	char said_ends[OSP_ERROR_TEXT_BYTES];
	char said_slurm[OSP_ERROR_TEXT_BYTES];
	char said_listen[OSP_ERROR_TEXT_BYTES];
	char said_left[OSP_ERROR_TEXT_BYTES];
	char *warned; /* the warnings of the last answer, a line each; NULL: none */
};

static int64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec;
}

/* Prints a line for the journal, unless it is as `last`, the one before it. */
static void say_once(char last[OSP_ERROR_TEXT_BYTES], const char *words, const char *why)
{
	char line[OSP_ERROR_TEXT_BYTES];

	snprintf(line, sizeof(line), "%.40s%s%.400s", words, *why ? ": " : "", why);
	if (strcmp(line, last) != 0)
		printf("%s\n", line);
	fflush(stdout);
	strcpy(last, line);
}

static void say(struct watching *watching, const char *words, const char *why)
{
	say_once(watching->said, words, why);
}

/* Returns how many bytes a number has that is a word of its own; 0: there is none. */
static size_t count_of(const char *line, const char *at)
{
	size_t digits = strspn(at, "0123456789");

	return (at == line || at[-1] == ' ') && at[digits] == ' ' ? digits : 0;
}

/* Returns whether two lines say the same but for counts, which change as nodes come and go. */
static bool says_the_same(const char *a, const char *b)
{
	const char *one = a, *other = b;

	for (;; one++, other++) {
		size_t one_count = count_of(a, one), other_count = count_of(b, other);

		if (one_count && other_count) {
			one += one_count;
			other += other_count;
		}
		if (!*one || *one == '\n')
			return !*other || *other == '\n';
		if (*one != *other)
			return false;
	}
}

static bool has_line(const char *text, const char *line)
{
	for (const char *at = text; at && *at; at += strcspn(at, "\n") + 1) {
		if (says_the_same(at, line))
			return true;
	}
	return false;
}

/* Takes the first warnings, and a line that counts the others. NULL: none, or memory ran out. */
static char *first_warnings(const char *all)
{
	struct osp_text first = OSP_TEXT_INIT;
	size_t count = 0;

	for (const char *at = all; at && *at; at += strspn(at, "\n")) {
		size_t length = strcspn(at, "\n");

		if (count++ < WARNINGS_MAX)
			osp_text_printf(&first, "%.*s\n", (int)length, at);
		at += length;
	}
	if (count > WARNINGS_MAX)
		osp_text_printf(&first, "%zu more like these\n", count - WARNINGS_MAX);
	return osp_text_take(&first);
}

/* Prints the warnings of an answer that the one before it did not have. */
static void say_warnings(struct watching *watching, const char *all)
{
	char *warnings = first_warnings(all);

	for (const char *at = warnings; at && *at; at += strcspn(at, "\n") + 1) {
		size_t length = strcspn(at, "\n");

		if (!has_line(watching->warned, at))
			printf("warning: %.*s\n", (int)length, at);
	}
	fflush(stdout);
	free(watching->warned);
	watching->warned = warnings;
}

/* Returns the next node from `i` on that runs; NULL behind the last. */
static const struct osp_listed_node *next_running(const struct osp_node_list *list, uint32_t *i)
{
	while (*i < list->count) {
		const struct osp_listed_node *node = &list->nodes[(*i)++];

		if (node->runs)
			return node;
	}
	return NULL;
}

/* Returns whether the lists agree in what makes a place old: the nodes that run, their instances,
 * their boots. */
static bool same_nodes(const struct osp_node_list *a, const struct osp_node_list *b)
{
	const struct osp_listed_node *left, *right;
	uint32_t i = 0, j = 0;

	do {
		left = next_running(a, &i);
		right = next_running(b, &j);
	} while (left && right && !strcmp(left->name, right->name) &&
		 !strcmp(left->instance_id, right->instance_id) &&
		 !strcmp(left->address, right->address) &&
		 osp_boot_is_same(left->boot_s, right->boot_s));
	return !left && !right;
}

/* Returns whether the node is another instance than the one that the topology has placed. */
static bool is_another(const struct osp_topology *topology, uint32_t number,
		       const struct osp_node_list *list, const struct osp_name_table *by_name)
{
	const struct osp_node_note *note = osp_topology_note(topology, number);
	uint32_t index = osp_name_table_find(by_name, 0, osp_topology_node_name(topology, number));
	const char *id = index == OSP_NAME_ABSENT ? "" : list->nodes[index].instance_id;

	/* where it will be is no instance */
	if (osp_place_boot_s(note) == OSP_BOOT_UNLAUNCHED)
		return false;
	return note && note->instance_id[0] && *id && strcmp(id, note->instance_id) != 0;
}

/* Returns the topology without the nodes that are another instance; NULL if there are none of
 * these. */
static struct osp_topology *without_others(const struct osp_topology *topology,
					   const struct osp_node_list *list,
					   const struct osp_name_table *by_name, uint32_t *dropped)
{
	uint32_t count = osp_topology_node_count(topology), kept = 0;
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct osp_topology *result = NULL;

	*dropped = 0;
	for (uint32_t n = 0; names && n < count; n++) {
		if (is_another(topology, n, list, by_name))
			++*dropped;
		else
			names[kept++] = osp_topology_node_name(topology, n);
	}
	if (*dropped)
		result = osp_topology_rebase(topology, names, kept, NULL);
	if (result)
		osp_topology_set_unasked(result, osp_topology_unasked(topology));
	free(names);
	return result;
}

static void write_without(struct watching *watching, const struct osp_topology *topology,
			  uint32_t dropped)
{
	struct osp_error error = {.text = ""};
	char *text = osp_write_onespine_topology(topology, watching->watch->sources->words);
	char words[96];

	snprintf(words, sizeof(words), "%u node%s another instance than the one placed", dropped,
		 dropped == 1 ? " is" : "s are");
	if (!text || osp_write_trusted(watching->watch->path, text, strlen(text), &error))
		say(watching, "failed", error.text);
	else
		say(watching, "place unknown", words);
	free(text);
}

/* Takes the places of other instances away, at once. */
static void forget_others(struct watching *watching, const struct osp_topology *topology,
			  const struct osp_node_list *list)
{
	struct osp_name_table by_name = OSP_NAME_TABLE_INIT;
	struct osp_topology *rest = NULL;
	uint32_t dropped = 0;
	int rc = 0;

	for (uint32_t i = 0; i < list->count && !rc; i++)
		rc = osp_name_table_add(&by_name, 0, list->nodes[i].name, i);
	if (!rc)
		rest = without_others(topology, list, &by_name, &dropped);
	if (rest)
		write_without(watching, rest, dropped);
	osp_topology_free(rest);
	osp_name_table_free(&by_name);
}

static bool is_placed(const struct osp_topology *topology, const struct osp_listed_node *node)
{
	return osp_topology_find_node(topology, node->name) != OSP_NO_NODE &&
	       osp_listed_place_age(topology, node) == OSP_PLACE_HOLDS;
}

/* Counts the nodes that run since a short time, and of which the answer has no place. */
static uint32_t count_unplaced(const struct osp_topology *topology,
			       const struct osp_node_list *list)
{
	int64_t since_s = (int64_t)time(NULL) - FRESH_S;
	uint32_t i = 0, count = 0;
	const struct osp_listed_node *node;

	while ((node = next_running(list, &i)))
		count += (!node->boot_s || node->boot_s > since_s) && !is_placed(topology, node);
	return count;
}

/* Prints the lines of what else is kept, and once why it failed. */
static void report_kept(const char *what, bool failed, const struct osp_error *error,
			struct osp_text *said, char last[OSP_ERROR_TEXT_BYTES])
{
	char *lines = osp_text_take(said);

	if (lines)
		printf("%s", lines);
	free(lines);
	if (failed)
		say_once(last, what, error->text);
	else
		*last = '\0';
}

/* Keeps the reservations of Capacity Blocks, which do not depend on what became of the places. */
static void keep_block_ends(struct watching *watching, const struct osp_topology *topology,
			    const struct osp_node_list *list)
{
	struct osp_error error = {.text = ""};
	struct osp_text said = OSP_TEXT_INIT;

	watching->ends_failed = false;
	if (!watching->watch->block_ends || watching->ends_done)
		return;
	watching->ends_failed = watching->watch->block_ends(topology, list, &said, &error);
	watching->ends_done = watching->watch->block_ends_once && !watching->ends_failed;
	report_kept("Capacity Blocks", watching->ends_failed, &error, &said, watching->said_ends);
}

/* Keeps Slurm's own Topology= as the topology in force has it; NULL: there is none. */
static void keep_slurm_topology(struct watching *watching, const struct osp_topology *topology,
				const struct osp_node_list *list)
{
	const struct osp_watch *watch = watching->watch;
	struct osp_error error = {.text = ""};
	struct osp_text said = OSP_TEXT_INIT;

	watching->slurm_failed = false;
	if (!watch->slurm_root || !topology)
		return;
	watching->slurm_failed =
		watch->slurm_topology(watch->slurm_root, topology, list, &said, &error);
	report_kept("Slurm's Topology=", watching->slurm_failed, &error, &said,
		    watching->said_slurm);
}

static void delete_left(struct watching *watching)
{
	struct osp_error error = {.text = ""};
	struct osp_text said = OSP_TEXT_INIT;
	bool failed = watching->watch->launch_left && watching->watch->launch_left(&said, &error);

	report_kept("launches", failed, &error, &said, watching->said_left);
}

/* Asks, and writes what came. */
static enum osp_applied ask(struct watching *watching, const struct osp_node_list *list,
			    struct osp_error *error)
{
	const struct osp_watch *watch = watching->watch;
	struct osp_error ignored = {.text = ""};
	struct osp_topology *previous = osp_topology_load(watch->path, &ignored);
	struct osp_source_question question = {.nodes = list,
					       .previous = previous,
					       .adapters = watch->adapters,
					       .launch_groups = watch->launch_groups,
					       .reports = watch->reports};
	struct osp_source_answer answer = {.topology = NULL};
	struct osp_topology_change change;
	enum osp_applied kept;
	bool in_force;

	if (previous)
		forget_others(watching, previous, list);
	kept = osp_sources_keep(watch->sources, watch->path, &question,
				watch->compare_all ? NULL : list, &watch->guard, &answer, &change,
				error);
	if (kept != OSP_APPLIED_FAILED || answer.warnings.data)
		say_warnings(watching, answer.warnings.data);
	if ((kept == OSP_APPLIED_NEW || kept == OSP_APPLIED_UNCHANGED) &&
	    osp_apply_note_asked(watch->path, answer.topology, answer.kept.data,
				 (int64_t)time(NULL), error))
		kept = OSP_APPLIED_FAILED;
	in_force = kept == OSP_APPLIED_NEW || kept == OSP_APPLIED_UNCHANGED;
	if (in_force)
		watching->unplaced = count_unplaced(answer.topology, list);
	keep_block_ends(watching, answer.topology ? answer.topology : previous, list);
	keep_slurm_topology(watching, in_force ? answer.topology : previous, list);
	osp_source_answer_clear(&answer);
	osp_topology_free(previous);
	return kept;
}

/* Sets when the sources are asked next: after a growing pause if something is missing. */
static void set_due(struct watching *watching)
{
	const struct osp_watch *watch = watching->watch;
	int next_s = watching->pause_s ? 2 * watching->pause_s : FIRST_PAUSE_S;

	if (!watching->failed && !watching->ends_failed && !watching->slurm_failed &&
	    !watching->unplaced)
		next_s = 0;
	watching->pause_s = next_s > watch->interval_s ? watch->interval_s : next_s;
	watching->due_s = now_s() + (watching->pause_s ? watching->pause_s : watch->interval_s);
}

static void ask_and_say(struct watching *watching, const struct osp_node_list *list)
{
	static const char *const words[] = {"applied", "unchanged", "held, the last good one stays",
					    "failed, the last good one stays"};
	struct osp_error error = {.text = ""};
	enum osp_applied kept;

	watching->unplaced = 0;
	kept = ask(watching, list, &error);
	if (watching->unplaced)
		osp_error_set(&error, "%u node%s booted a short time ago and %s no place yet",
			      watching->unplaced, osp_plural_s(watching->unplaced),
			      watching->unplaced == 1 ? "has" : "have");
	say(watching, words[kept], error.text);
	watching->failed = kept == OSP_APPLIED_FAILED;
	set_due(watching);
}

/* Sets from when on a report may cause a question again. Others than the nodes themselves are
 * asked too: after growing pauses then, up to a fifth of the interval (chosen: a minute by
 * default), until the sources are asked without a new report. */
static void set_reported_due(struct watching *watching)
{
	const struct osp_watch *watch = watching->watch;
	int most_s = watch->interval_s / 5 ? watch->interval_s / 5 : 1;
	int next_s = watching->reported_pause_s ? 2 * watching->reported_pause_s : FIRST_PAUSE_S;

	if (!watch->sources->add_nvlink || !watching->reported)
		next_s = 0;
	watching->reported_pause_s = next_s > most_s ? most_s : next_s;
	watching->reported_due_s = now_s() + watching->reported_pause_s;
}

/* Asks about the nodes of `list`, and keeps them. */
static void take(struct watching *watching, struct osp_node_list *list)
{
	ask_and_say(watching, list);
	set_reported_due(watching);
	osp_node_list_free(&watching->seen);
	watching->seen = *list;
	watching->reported = false;
	memset(list, 0, sizeof(*list));
}

/* Does the same for nodes that are not those of the last question: what is missing of the new ones
 * is missing since now. */
static void take_changed(struct watching *watching, struct osp_node_list *list)
{
	if (!watching->failed)
		watching->pause_s = 0;
	take(watching, list);
}

/* Returns whether the sources are to be asked from this host, and says if they are not. Another
 * watch may write meanwhile: after that they are asked at once. */
static bool is_in_control(struct watching *watching)
{
	char other[OSP_CONTROLLER_HOST_BYTES] = "", words[OSP_CONTROLLER_HOST_BYTES + 32];
	struct osp_error error = {.text = ""};
	int rc = watching->watch->control ? watching->watch->control(other, &error) : 0;

	if (!rc && !*other)
		return true;
	snprintf(words, sizeof(words), "slurmctld runs on %s", other);
	say(watching, rc ? "nobody is asked" : "stands by", rc ? error.text : words);
	watching->due_s = now_s();
	return false;
}

/* Returns whether Slurm has other Topology= lines for the same nodes: slurmctld has started again,
 * or somebody else has changed one. */
static bool same_slurm_topology(const struct osp_node_list *a, const struct osp_node_list *b)
{
	bool same = a->count == b->count;

	for (uint32_t i = 0; same && i < a->count; i++)
		same = !strcmp(a->nodes[i].slurm_topology, b->nodes[i].slurm_topology);
	return same;
}

/* Puts Slurm's Topology= right by the topology in force; no source is asked. */
static void mend_slurm_topology(struct watching *watching, struct osp_node_list *list)
{
	struct osp_error ignored = {.text = ""};
	struct osp_topology *topology = osp_topology_load(watching->watch->path, &ignored);

	keep_slurm_topology(watching, topology, list);
	osp_topology_free(topology);
	osp_node_list_free(&watching->seen);
	watching->seen = *list;
	memset(list, 0, sizeof(*list));
}

/* --- reports ---------------------------------------------------------------------------------- */

/* Says who may report. */
static void know(const struct watching *watching, const struct osp_node_list *list)
{
#ifdef OSP_HAVE_MUNGE
	if (watching->listen)
		osp_listen_know(watching->listen, list);
#else
	(void)watching;
	(void)list;
#endif
}

/* Serves reports, also in a watch that stands by: it may have to ask next. */
static void know_while_standing_by(const struct watching *watching)
{
	struct osp_node_list list = {.count = 0};
	struct osp_error ignored = {.text = ""};

	if (watching->listen && !watching->watch->nodes(&list, watching->watch->context, &ignored))
		know(watching, &list);
	osp_node_list_free(&list);
}

static int begin_to_listen(struct watching *watching, struct osp_error *error)
{
	const struct osp_watch *watch = watching->watch;

	if (!watch->report_port)
		return 0;
#ifdef OSP_HAVE_MUNGE
	watching->listen = osp_listen_begin((uint16_t)watch->report_port, watch->reports,
					    watch->report_key_file, watch->munge_socket, error);
	return watching->listen ? 0 : -1;
#else
	return osp_error_set(error, "watch.report_port: this build was configured without MUNGE");
#endif
}

/* Begins to listen if it does not yet: another program may hold the port, and sources are asked all
 * the same. */
static void listen_if_not(struct watching *watching)
{
	char words[OSP_ERROR_FILE_BYTES + OSP_ERROR_TEXT_BYTES];
	struct osp_error error = {.text = ""};

	if (!watching->listen && begin_to_listen(watching, &error))
		say_once(watching->said_listen, "no node's report is heard",
			 osp_error_format(&error, words, sizeof(words)));
}

static void end_listening(struct watching *watching)
{
#ifdef OSP_HAVE_MUNGE
	osp_listen_end(watching->listen);
#endif
	watching->listen = NULL;
}

/* Returns whether the sources are to be asked for what a node has reported. */
static bool is_reported(const struct watching *watching)
{
	return watching->reported && now_s() >= watching->reported_due_s;
}

/* --- looking ---------------------------------------------------------------------------------- */

static void look(struct watching *watching)
{
	struct osp_node_list list = {.count = 0};
	struct osp_error error = {.text = ""};

	if (!is_in_control(watching)) {
		know_while_standing_by(watching);
		return;
	}
	if (watching->watch->nodes(&list, watching->watch->context, &error)) {
		say(watching, "nobody is asked", error.text);
		osp_node_list_free(&list);
		return;
	}
	know(watching, &list);
	delete_left(watching);
	if (!same_nodes(&list, &watching->seen) || is_reported(watching))
		take_changed(watching, &list);
	else if (now_s() >= watching->due_s)
		take(watching, &list);
	else if (watching->watch->slurm_root && !same_slurm_topology(&list, &watching->seen))
		mend_slurm_topology(watching, &list);
	osp_node_list_free(&list);
}

/* Waits for the next look, which a report may make sooner, unless one could not be asked about.
 * Returns false if a signal ends the watch. */
static bool pass_time(struct watching *watching, const sigset_t *signals)
{
	int64_t looked_s = now_s(), next_s = looked_s + watching->watch->look_s;
	bool overdue = watching->reported && watching->reported_due_s <= looked_s, goes_on = true;

	if (watching->due_s > looked_s && watching->due_s < next_s)
		next_s = watching->due_s;
	while (goes_on && now_s() < next_s) {
		struct timespec rest = {next_s - now_s(), 0};
		int caught = sigtimedwait(signals, NULL, &rest);

		goes_on = caught < 0 || caught == SIGUSR1;
		if (caught == SIGUSR1 && watching->watch->asks_reports)
			watching->reported = true;
		if (watching->reported && !overdue && watching->reported_due_s < next_s)
			next_s = watching->reported_due_s;
	}
	return goes_on;
}

int osp_watch_run(const struct osp_watch *watch, struct osp_error *error)
{
	struct watching watching = {.watch = watch, .due_s = now_s()};
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return osp_error_set(error, "signals cannot be blocked");
	do {
		listen_if_not(&watching);
		look(&watching);
	} while (pass_time(&watching, &signals));
	end_listening(&watching);
	osp_node_list_free(&watching.seen);
	free(watching.warned);
	return 0;
}
