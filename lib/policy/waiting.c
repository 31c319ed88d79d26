/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waiting.c - why a job waits besides free nodes: a sentence for each of Slurm's reasons */
#include "lib/policy/waiting.h"

#include <stdio.h>
#include <string.h>

#include "lib/policy/gang_license.h"

/* The sentence of a reason; the parts in {} come from the job. */
struct sentence {
	const char *reason; /* Slurm's word, or the beginning of several */
	bool begins;
	enum osp_waiting_kind kind;
	const char *words;
};

#define LAST_RUN "its last run ended so ({reason}): it starts again when the scheduler comes to it"

/* The first match counts; Slurm's words are those of job_reason_string(), or of state_desc, which
 * says more of some. */
static const struct sentence sentences[] = {
	{"Resources", false, OSP_WAITING_NODES, ""},
	{"None", false, OSP_WAITING_NODES, ""},
	{"Priority", false, OSP_WAITING_TURN, "jobs with a higher priority come first"},
	{"JobHeldUser", false, OSP_WAITING_HOLD,
	 "it is held by its owner; 'scontrol release {job}' ends that"},
	{"JobHeldAdmin", false, OSP_WAITING_HOLD,
	 "it is held by an administrator, who alone can release it"},
	{"JobHoldMaxRequeue", false, OSP_WAITING_HOLD,
	 "it is held because it was requeued too often; 'scontrol release {job}' ends that"},
	{"launch failed requeued held", false, OSP_WAITING_HOLD,
	 "it is held because a node's Prolog failed; 'scontrol release {job}' ends that"},
	{"user env retrieval failed requeued held", false, OSP_WAITING_HOLD,
	 "it is held because its user's environment could not be read; 'scontrol release {job}' "
	 "ends that"},
	{"job requeued in held state", false, OSP_WAITING_HOLD,
	 "it was put back into the queue and held; 'scontrol release {job}' ends that"},
	{"job requeued in special exit state", false, OSP_WAITING_HOLD,
	 "it was put back into the queue and held (special exit); 'scontrol release {job}' ends "
	 "that"},
	{"DependencyNeverSatisfied", false, OSP_WAITING_DEPENDENCY,
	 "it depends on what cannot happen any more{dependency}: cancel it, or 'scontrol update "
	 "JobId={job} Dependency='"},
	{"Dependency", false, OSP_WAITING_DEPENDENCY, "it depends on other jobs{dependency}"},
	{"Licenses", false, OSP_WAITING_LICENSE, "too few licenses are free{licenses}"},
	/* 26.05 holds a job for those that are not offered (slurmctld/read_config.c) */
	{"License request '", true, OSP_WAITING_LICENSE,
	 "it is held because licenses that it asks for are not offered{licenses}"},
	{"Reservation", false, OSP_WAITING_RESERVATION,
	 "it waits for its reservation{reservation}, which has not begun or has no room yet"},
	{"ReservationDeleted", false, OSP_WAITING_RESERVATION,
	 "its reservation{reservation} does not exist any more: name another, or cancel it"},
	{"ReservationInvalid", false, OSP_WAITING_RESERVATION,
	 "its reservation{reservation} is not valid any more: name another, or cancel it"},
	{"ReqNodeNotAvail", true, OSP_WAITING_REQUIRED,
	 "nodes that it needs{required} are down, drained or reserved for others"},
	{"BadConstraints", false, OSP_WAITING_CONSTRAINT,
	 "no nodes{partition} can be what it asks for{features}{extra}"},
	/* of --extra, from 25.05 on: the job is not held (slurmctld/node_scheduler.c) */
	{"Constraints", false, OSP_WAITING_CONSTRAINT,
	 "no nodes{partition} fit now what it asks for{features}{extra}"},
	{"PartitionDown", false, OSP_WAITING_PARTITION,
	 "its partition{partition_name} starts no jobs (State=DOWN)"},
	{"PartitionInactive", false, OSP_WAITING_PARTITION,
	 "its partition{partition_name} is not active"},
	{"PartitionNodeLimit", false, OSP_WAITING_LIMIT,
	 "it asks for more or fewer nodes than its partition{partition_name} allows a job"},
	{"PartitionTimeLimit", false, OSP_WAITING_LIMIT,
	 "it asks for more time than its partition{partition_name} allows a job"},
	{"PartitionConfig", false, OSP_WAITING_LIMIT,
	 "its partition{partition_name} takes no such job as it is set now; 'scontrol show "
	 "partition' has what it takes"},
	{"AccountingPolicy", false, OSP_WAITING_LIMIT,
	 "a limit of its account or QOS keeps it waiting: see 'sacctmgr show assoc' and 'sacctmgr "
	 "show qos'"},
	{"QOSUsageThreshold", false, OSP_WAITING_LIMIT,
	 "its owner or account has used more than its QOS allows (UsageThreshold)"},
	{"MaxPoweredUpNodes", false, OSP_WAITING_LIMIT, "as many nodes are powered up as may be"},
	{"JobArrayTaskLimit", false, OSP_WAITING_LIMIT,
	 "as many tasks of its array run as the array allows at a time"},
	{"InvalidAccount", false, OSP_WAITING_LIMIT, "its account does not exist any more"},
	{"InvalidQOS", false, OSP_WAITING_LIMIT, "its QOS does not exist any more"},
	{"AccountNotAllowed", false, OSP_WAITING_LIMIT,
	 "its account may not use its partition{partition_name}"},
	{"QOSNotAllowed", false, OSP_WAITING_LIMIT,
	 "its QOS may not use its partition{partition_name}"},
	{"Cleaning", false, OSP_WAITING_OTHER, "its last run is still being cleaned up"},
	{"Prolog", false, OSP_WAITING_OTHER, "its Prolog runs"},
	{"BurstBuffer", true, OSP_WAITING_OTHER, "its burst buffer is not ready"},
	{"SchedDefer", false, OSP_WAITING_OTHER, "the scheduler has not looked at it yet"},
	{"FedJobLock", false, OSP_WAITING_OTHER,
	 "the clusters of its federation have not agreed yet which of them starts it"},
	{"NvidiaImexChannels", false, OSP_WAITING_OTHER, "no IMEX channel is free for it"},
	{"MpiPortsBusy", false, OSP_WAITING_OTHER,
	 "the ports that its MPI needs are in use on the nodes that it would get"},
	{"FrontEndDown", false, OSP_WAITING_OTHER, "no front end node is up"},
	{"PowerNotAvail", false, OSP_WAITING_OTHER, "too little power is left for its nodes"},
	{"PowerReserved", false, OSP_WAITING_OTHER, "the power that it needs is reserved"},
	/* of its last run */
	{"NodeDown", false, OSP_WAITING_OTHER,
	 "a node of its last run went down: it starts again when the scheduler comes to it"},
	{"JobLaunchFailure", false, OSP_WAITING_OTHER, LAST_RUN},
	{"SystemFailure", false, OSP_WAITING_OTHER, LAST_RUN},
	{"NonZeroExitCode", false, OSP_WAITING_OTHER, LAST_RUN},
	{"RaisedSignal", false, OSP_WAITING_OTHER, LAST_RUN},
	{"TimeLimit", false, OSP_WAITING_OTHER, LAST_RUN},
	{"InactiveLimit", false, OSP_WAITING_OTHER, LAST_RUN},
	{"OutOfMemory", false, OSP_WAITING_OTHER, LAST_RUN},
};

static bool ends_with(const char *word, const char *end)
{
	size_t length = strlen(word), end_length = strlen(end);

	return length >= end_length && !strcmp(word + length - end_length, end);
}

static bool begins_with(const char *word, const char *start)
{
	return !strncmp(word, start, strlen(start));
}

static const struct sentence *find(const char *reason)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		const struct sentence *one = &sentences[i];

		if (one->begins ? begins_with(reason, one->reason) : !strcmp(reason, one->reason))
			return one;
	}
	return NULL;
}

bool osp_waiting_has_words(const char *reason)
{
	return find(reason) != NULL;
}

static bool is_limit(const char *reason)
{
	return begins_with(reason, "QOS") || begins_with(reason, "Assoc") ||
	       (begins_with(reason, "Max") && strstr(reason, "Per"));
}

enum osp_waiting_kind osp_waiting_kind(const char *reason)
{
	const struct sentence *known;

	if (!reason || !*reason)
		return OSP_WAITING_NODES;
	if (!strcmp(reason, "BeginTime"))
		return OSP_WAITING_BEGIN;
	known = find(reason);
	if (known)
		return known->kind;
	return is_limit(reason) ? OSP_WAITING_LIMIT : OSP_WAITING_OTHER;
}

const char *osp_waiting_kind_name(enum osp_waiting_kind kind)
{
	static const char *const names[] = {
		[OSP_WAITING_NODES] = "nodes",
		[OSP_WAITING_TURN] = "turn",
		[OSP_WAITING_HOLD] = "hold",
		[OSP_WAITING_BEGIN] = "begin",
		[OSP_WAITING_DEPENDENCY] = "dependency",
		[OSP_WAITING_LIMIT] = "limit",
		[OSP_WAITING_LICENSE] = "license",
		[OSP_WAITING_RESERVATION] = "reservation",
		[OSP_WAITING_REQUIRED] = "required nodes",
		[OSP_WAITING_CONSTRAINT] = "constraint",
		[OSP_WAITING_PARTITION] = "partition",
		[OSP_WAITING_OTHER] = "other",
	};

	return names[kind];
}

bool osp_waiting_elsewhere(enum osp_waiting_kind kind)
{
	return kind > OSP_WAITING_TURN;
}

/* --- filling in ------------------------------------------------------------------------------- */

/* The text for a name in {}: `before`, the job's own word, `after`; nothing if there is no word. */
struct piece {
	const char *name;
	const char *before;
	const char *word;
	const char *after;
};

static void add(char *buffer, size_t buffer_bytes, const char *text, size_t length)
{
	size_t has = strlen(buffer);

	if (has + length >= buffer_bytes)
		length = buffer_bytes - has - 1;
	memcpy(buffer + has, text, length);
	buffer[has + length] = '\0';
}

static void add_piece(const struct piece *pieces, size_t count, const char *name, size_t length,
		      char *buffer, size_t buffer_bytes)
{
	char text[128];

	for (size_t i = 0; i < count; i++) {
		if (strlen(pieces[i].name) != length || strncmp(pieces[i].name, name, length) != 0)
			continue;
		if (!pieces[i].word || !*pieces[i].word)
			return;
		snprintf(text, sizeof(text), "%s%.90s%s", pieces[i].before, pieces[i].word,
			 pieces[i].after);
		add(buffer, buffer_bytes, text, strlen(text));
		return;
	}
}

static void fill(const struct osp_waiting *waiting, const char *words, char *buffer,
		 size_t buffer_bytes)
{
	const struct piece pieces[] = {
		{"job", "", waiting->job ? waiting->job : "JOB", ""},
		{"dependency", " (", waiting->dependency, ")"},
		{"licenses", " (", waiting->licenses, ")"},
		{"reservation", " ", waiting->reservation, ""},
		{"required", " (-w ", waiting->required, ")"},
		{"features", " (-C ", waiting->features, ")"},
		{"extra", " (--extra=", waiting->extra, ")"},
		{"partition", " of partition ", waiting->partition, ""},
		{"partition_name", " ", waiting->partition, ""},
		{"begin", "", waiting->begin ? waiting->begin : "a time of its own", ""},
		{"reason", "", waiting->reason, ""},
	};

	while (*words) {
		size_t plain = strcspn(words, "{");
		size_t name;

		add(buffer, buffer_bytes, words, plain);
		words += plain;
		if (!*words)
			return;
		name = strcspn(++words, "}");
		add_piece(pieces, sizeof(pieces) / sizeof(pieces[0]), words, name, buffer,
			  buffer_bytes);
		words += name + (words[name] == '}');
	}
}

/* Returns the sentence about a limit. Waiting never meets a limit on one job; it may meet one on
 * several jobs, when these end. */
static const char *limit_words(const char *reason)
{
	if (!strcmp(reason, "MaxMemPerLimit"))
		return "it asks for more memory than its partition or slurm.conf allows "
		       "({reason}): it never starts so";
	if (ends_with(reason, "PerJob") || ends_with(reason, "PerJobLimit") ||
	    ends_with(reason, "PerNode") || ends_with(reason, "PerNodeLimit") ||
	    ends_with(reason, "TimeLimit") || begins_with(reason, "QOSMin"))
		return "it asks for more or less than a limit allows one job ({reason}): it never "
		       "starts so";
	if (strstr(reason, "PerUser"))
		return "its owner's jobs already take what a limit allows a user ({reason})";
	if (strstr(reason, "PerAccount") || strstr(reason, "PerAcct"))
		return "its account's jobs already take what a limit allows an account ({reason})";
	if (begins_with(reason, "QOS"))
		return "the jobs of its QOS already take what a limit allows them ({reason})";
	return "the jobs of its account or user already take what a limit allows them ({reason})";
}

static const char *begin_words(const struct osp_waiting *waiting)
{
	if (waiting->put_back)
		return "Slurm put it back, since another component did not start, and may begin it "
		       "again at {begin}";
	return waiting->requeued ? "it was requeued, and may begin again at {begin}"
				 : "it begins at {begin} at the earliest (--begin)";
}

/* Returns whether the job waits for the license of gangs and no other. */
static bool waits_for_build(const struct osp_waiting *waiting)
{
	return waiting->licenses && osp_gang_license_is_in(waiting->licenses) &&
	       !strpbrk(waiting->licenses, ",;|");
}

const char *osp_waiting_words(const struct osp_waiting *waiting, char *buffer, size_t buffer_bytes)
{
	enum osp_waiting_kind kind = osp_waiting_kind(waiting->reason);
	const struct sentence *known = waiting->reason ? find(waiting->reason) : NULL;
	const char *words = "Slurm's reason is {reason}, which squeue(1) explains";

	buffer[0] = '\0';
	if (kind == OSP_WAITING_NODES)
		return buffer;
	if (kind == OSP_WAITING_BEGIN)
		words = begin_words(waiting);
	else if (kind == OSP_WAITING_LICENSE && waits_for_build(waiting))
		words = "Slurm was updated and Onespine was not: gangs wait until the build for "
			"this Slurm is installed";
	else if (known)
		words = known->words;
	else if (kind == OSP_WAITING_LIMIT)
		words = limit_words(waiting->reason);
	fill(waiting, words, buffer, buffer_bytes);
	return buffer;
}

/* --- refusals --------------------------------------------------------------------------------- */

/* Parts of slurm_strerror()'s words. */
static const struct {
	const char *part;
	const char *cure;
} cures[] = {
	{"nvalid feature specification", "no node has that -C; 'sinfo -o %f' lists the features"},
	{"nvalid generic resource",
	 "no node has that --gres or --gpus; 'sinfo -o \"%N %G\"' lists what nodes have"},
	{"nvalid account or account/partition",
	 "-A must be an account that may use this partition; 'sacctmgr show assoc user=$USER' "
	 "lists yours"},
	{"nvalid qos", "'sacctmgr show assoc user=$USER format=account,qos' lists yours"},
	{"nvalid partition", "'sinfo -s' lists the partitions"},
	{"time limit is invalid",
	 "-t is more than the partition allows; 'sinfo -o \"%P %l\"' lists the limits"},
	{"Node count specification invalid",
	 "-N is outside the partition's MinNodes and MaxNodes; 'scontrol show partition' has "
	 "them"},
	{"More processors requested than permitted",
	 "-n or -c asks for more cores than the partition has"},
	{"nvalid license", "'scontrol show licenses' lists those that there are"},
	{"nvalid node name",
	 "-w or -x names a node that Slurm does not know; 'sinfo -N' lists them"},
	{"eservation",
	 "'scontrol show reservation' lists those that there are and who may use them"},
	{"Job violates accounting/QOS policy",
	 "a limit of your account or QOS refuses it; 'sacctmgr show qos' and 'sacctmgr show assoc "
	 "user=$USER' have them"},
	{"node configuration is not available",
	 "no nodes of the partition have so much on one node; compare -c, --mem, --gres and "
	 "--gpus-per-node with 'sinfo -o \"%N %c %m %G\"'"},
	{"partition not available", "the partition starts no jobs now; 'sinfo -s' lists others"},
	{"partition configuration not available",
	 "the partition starts no such job now; 'scontrol show partition' says what it allows"},
};

const char *osp_refused_cure(const char *slurm_says)
{
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
		if (strstr(slurm_says, cures[i].part))
			return cures[i].cure;
	return "";
}
