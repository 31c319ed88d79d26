/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_cluster.c - rules about the cluster: configless hosts, the fabric, the scheduler */
#include "lib/doctor/doctor_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/policy/node_policy.h"
#include "lib/topology/launch_groups.h"

#define BF_WINDOW_DEFAULT_MINUTES 1440 /* slurm.conf(5), SchedulerParameters */
#define MINUTE_S		  60
#define SENT_INCLUDES_SINCE	  0x170b00 /* seen to fail on 22.05.8, and to work on 23.11.11 */

/* --- configless ------------------------------------------------------------------------------- */

/* Finds an included file that slurmctld does not send: its name has a '/' (parse_config.c). */
static const struct osp_slurm_file *unsent_file(const struct osp_doctor_facts *facts,
						const char *path)
{
	size_t count;
	const struct osp_slurm_file *files = osp_slurm_conf_files(facts->conf, &count);

	for (size_t i = 1; i < count; i++)
		if (strcmp(files[i].path, path) == 0 && strchr(files[i].name, '/'))
			return &files[i];
	return NULL;
}

/* Reports a slurm.conf that was sent and includes a file: on Slurm 22.05 commands cannot read
 * it. */
static void judge_sent_includes(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	size_t count;
	const struct osp_slurm_file *files = osp_slurm_conf_files(facts->conf, &count);
	char version[OSP_SLURM_VERSION_BYTES];

	if (!facts->controller || facts->slurm >= SENT_INCLUDES_SINCE || count < 2)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "on Slurm %s, Slurm's commands on a configless host without a slurmd and a "
		 "sackd end with an error as long as slurm.conf includes a file (%s)",
		 osp_slurm_version_words(facts->slurm, version), files[1].path);
	osp_cure(diagnosis,
		 "%s:%d: on such hosts run a slurmd, or copy Slurm's files there; "
		 "Slurm 23.11 and later have no such fault",
		 files[1].said_in, files[1].said_line);
}

void osp_rule_configless(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	static const char *const keys[] = {"PluginDir",	  "JobSubmitPlugins", "PlugStackConfig",
					   "PrologFlags", "Prolog",	      "Epilog"};

	if (facts->fetched ||
	    !osp_setting_has(diagnosis, "SlurmctldParameters", "enable_configless"))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct osp_slurm_word *word = osp_slurm_conf_find(facts->conf, keys[i]);
		const struct osp_slurm_file *file = word ? unsent_file(facts, word->file) : NULL;

		if (!file)
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "%s is in %s, which slurmctld does not send to configless hosts: its "
			 "Include line has a '/'",
			 keys[i], file->path);
		osp_cure(diagnosis,
			 "%s:%d: put the file beside slurm.conf and include its bare name",
			 file->said_in, file->said_line);
	}
	if (facts->spank.named && facts->spank.included) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "onespine.so is named in %s, which slurmctld does not send to configless "
			 "hosts: they get plugstack.conf alone",
			 facts->spank.file);
		osp_cure(diagnosis, "put the line into %s itself", facts->plugstack_path);
	}
	if (facts->controller && facts->config_exists && !facts->config_sent) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "configless nodes do not get %s as it is now: slurmctld sends what "
			 "slurm.conf includes, and " OSP_PIECE_NAME " does not hold it",
			 facts->config_path);
		osp_cure(diagnosis, "onespine setup --head, then scontrol reconfigure");
	}
	judge_sent_includes(diagnosis);
}

/* --- our files -------------------------------------------------------------------------------- */

void osp_rule_config(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	char words[sizeof(struct osp_error) + 32];

	for (uint32_t i = 0; i < facts->unknown_levels + facts->unknown_partitions; i++) {
		osp_find(diagnosis,
			 i < facts->unknown_levels ? OSP_DOCTOR_WRONG : OSP_DOCTOR_WARNING, "%s",
			 osp_error_format(&facts->unknown_names[i], words, sizeof(words)));
		osp_cure(diagnosis, "put it right; onespine config check compares it with Slurm's");
	}
	if (!facts->config_error)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG, "onespine.yaml is refused%s%s: %s",
		 facts->config_copy ? ", and slurmctld goes by the last good one, " : "",
		 facts->config_copy ? facts->config_copy : "",
		 osp_error_format(facts->config_error, words, sizeof(words)));
	osp_cure(diagnosis, "put it right; onespine config check reads it again");
}

static void report_refused_topology(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	char words[sizeof(struct osp_error) + 32];

	osp_error_format(facts->topology_error, words, sizeof(words));
	if (facts->topology_copy)
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "the topology is refused, and slurmctld goes by the last good one, %s: %s",
			 facts->topology_copy, words);
	else if (facts->copies_hidden)
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "the topology is refused, and only root and SlurmUser see whether "
			 "slurmctld "
			 "has a last good one: %s",
			 words);
	else
		osp_find(diagnosis, OSP_DOCTOR_WRONG, "no topology, so no gang starts: %s", words);
	osp_cure(diagnosis, "onespine topology import --from KIND FILE -o %s",
		 facts->topology_path);
}

void osp_rule_topology(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (facts->topology_error) {
		report_refused_topology(diagnosis);
		return;
	}
	if (!facts->uncovered_count)
		return;
	osp_find(diagnosis,
		 facts->uncovered_count == facts->node_count ? OSP_DOCTOR_WRONG
							     : OSP_DOCTOR_WARNING,
		 "%u of %u node%s of slurm.conf %s not in the topology, and no gang gets %s: %s",
		 facts->uncovered_count, facts->node_count, osp_plural_s(facts->node_count),
		 facts->uncovered_count == 1 ? "is" : "are",
		 facts->uncovered_count == 1 ? "it" : "them", facts->uncovered);
	osp_cure(diagnosis, "onespine topology import again, with these nodes, to %s",
		 facts->topology_path);
}

/* Returns whether another finding says that others may write the file, and gives the cure. */
static bool is_distrusted(const struct osp_doctor_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->trusted_count; i++)
		if (strcmp(facts->trusted[i].path, path) == 0)
			return facts->trusted[i].exists && !facts->trusted[i].safe;
	return false;
}

/* Reports a file that slurmctld has not taken, unless it is `wrong`: its refusal was reported
 * already. */
static void check_copy(struct osp_diagnosis *diagnosis, const char *path, const char *copy,
		       bool wrong)
{
	if (!copy || wrong)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "slurmctld has not taken %s as it is now: it obeys what it keeps in %s", path,
		 copy);
	if (is_distrusted(diagnosis->facts, path))
		osp_cure(diagnosis, "chown and chmod it as above, then scontrol reconfigure");
	else
		osp_cure(diagnosis,
			 "scontrol reconfigure; its log says why where that does not help");
}

void osp_rule_obeyed(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (facts->running.probe != OSP_PROBE_OURS)
		return;
	check_copy(diagnosis, facts->config_path, facts->config_copy, facts->config_error);
	check_copy(diagnosis, facts->topology_path, facts->topology_copy, facts->topology_error);
}

/* Reports a held answer: until somebody accepts it, places stay as they are. */
static void check_held(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->held_s)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "an answer that takes places away or moves nodes has been held for %lld minutes: "
		 "until it is accepted, a node that starts gets no place from its source",
		 (long long)(facts->now_s - facts->held_s) / 60);
	osp_cure(diagnosis, "onespine topology show %s.held, and onespine topology accept",
		 facts->topology_path);
}

#define MISSED_MAX 3 /* questions; chosen: after a failure it asks sooner than that */

/* Reports that the watch has failed for long, or does not run, on a host that is to run it. A site
 * without one asks by hand, and check_booted() names the nodes that have booted since. */
static void check_asked(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	int64_t age_s = facts->now_s - facts->asked_s;

	if (!facts->watch_enabled || !facts->asked_s ||
	    (facts->asked_s > 0 && age_s <= (int64_t)MISSED_MAX * facts->watch_interval_s))
		return;
	if (facts->asked_s > 0)
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "the cloud last answered %lld minutes ago where nodes are: one that has "
			 "started since has no place",
			 (long long)age_s / 60);
	else
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "nobody knows when the cloud last answered where nodes are: %s.asked says "
			 "nothing of it",
			 facts->topology_path);
	osp_cure(diagnosis,
		 "systemctl status onespine-topology-watch says why; onespine topology discover "
		 "asks once");
}

/* Reports nodes about which calls fail while the cloud answers about others. Their places have no
 * limit of age: they hold for one instance and one boot. */
static void check_kept(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	int64_t age_s = facts->now_s - facts->kept_s;

	if (!facts->kept ||
	    (facts->kept_s && age_s <= (int64_t)MISSED_MAX * facts->watch_interval_s))
		return;
	if (facts->kept_s)
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "the places of %s are up to %lld minutes old: the cloud's calls about "
			 "them have failed since",
			 facts->kept, (long long)age_s / 60);
	else
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "the places of %s are of unknown age: the cloud's calls about them have "
			 "failed since",
			 facts->kept);
	osp_cure(diagnosis, "systemctl status onespine-topology-watch says why");
}

static void check_unasked(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->unasked)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "a node that starts gets no place, and none are launched for gangs: %s",
		 diagnosis->facts->unasked);
	osp_cure(diagnosis, "allow the action, then wait for the next question, or run onespine "
			    "topology discover");
}

static void check_booted(struct osp_diagnosis *diagnosis)
{
	const char *nodes = diagnosis->facts->running.old_places;

	if (!nodes)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "no gang gets nodes that have booted since their places were asked for: %s",
		 nodes);
	osp_cure(diagnosis,
		 "onespine topology discover --from ec2 -o %s; onespine-topology-watch.service "
		 "does so by itself",
		 diagnosis->facts->topology_path);
}

/* Looks at the reservations that keep jobs from the ends of Capacity Blocks. */
static void check_block_ends(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *partition = facts->running.block_partition;

	if (facts->running.block_ends && !facts->reserves_block_ends) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "watch.block_ends is off, and nobody moves or deletes what it left, after "
			 "the start of which no job runs on its nodes: reservation %s",
			 facts->running.block_ends);
		osp_cure(diagnosis, "systemctl restart onespine-topology-watch, or scontrol delete "
				    "reservation=..");
	}
	if (partition && facts->reserves_block_ends) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "block_ends: reserve, and a job of partition %s that names no time limit "
			 "has none: it starts on none of the partition's nodes in Capacity Blocks",
			 partition);
		osp_cure(diagnosis, "DefaultTime or MaxTime for partition %s in slurm.conf",
			 partition);
	}
}

static void check_launch_left(struct osp_diagnosis *diagnosis)
{
	const char *names = diagnosis->facts->running.launch_left;

	if (!names)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "nodes are kept for a gang's next start, but it was cancelled or changed, or "
		 "slurmctld was killed, and no gang waits with them: reservation %s",
		 names);
	osp_cure(diagnosis, "scontrol delete reservation=..; onespine-topology-watch.service does "
			    "so by itself");
}

/* Finds the first node of `one` that `other` has in another reservation, or in none, and *here and
 * *there, its reservations in the two; NULL: none. */
static const char *first_that_differs(const struct osp_launch_groups *one,
				      const struct osp_launch_groups *other, const char **here,
				      const char **there)
{
	uint32_t number = 0;

	for (const char *node; (node = osp_launch_groups_node(one, number)); number++) {
		uint32_t found = osp_launch_groups_of(other, node);

		*here = one->reservations[osp_launch_groups_of(one, node)];
		*there = found == OSP_NAME_ABSENT ? NULL : other->reservations[found];
		if (!*there || strcmp(*here, *there) != 0)
			return node;
	}
	return NULL;
}

/* Reports the first node that watch.launch_groups has in another reservation than ParallelCluster
 * launches it into. */
static void compare_groups(struct osp_diagnosis *diagnosis, const struct osp_launch_groups *fleet,
			   const struct osp_launch_groups *ours)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *there, *here;
	const char *node = first_that_differs(fleet, ours, &there, &here);

	if (!node && !facts->fleet_several)
		node = first_that_differs(ours, fleet, &here, &there);
	if (!node)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "gangs are not placed by the capacity reservations of their nodes before these "
		 "run: ParallelCluster launches %s into %s, and watch.launch_groups has %s%s",
		 node, there ? there : "none", here ? "it in " : "it in none", here ? here : "");
	if (*facts->fleet_groups)
		osp_cure(diagnosis, "%s: watch: {launch_groups: \"%s\"}", facts->config_path,
			 facts->fleet_groups);
	else
		osp_cure(diagnosis, "%s: watch: {launch_groups: off}", facts->config_path);
}

/* Compares watch.launch_groups with what ParallelCluster launches. */
static void check_launch_groups(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	struct osp_launch_groups fleet, ours;
	struct osp_error ignored = {.text = ""};

	if (facts->launches && facts->fleet_unclear && !facts->launch_groups) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "gangs are not placed by the capacity reservations of their nodes before "
			 "these run, and ParallelCluster's cannot be taken over: %s",
			 facts->fleet_unclear);
		osp_cure(diagnosis, "%s: watch: {launch_groups: \"cr-..=NODES ..\"}",
			 facts->config_path);
	}
	if (!facts->launches || !facts->fleet_groups)
		return;
	if (!osp_launch_groups_read(facts->fleet_groups, &fleet, &ignored)) {
		if (!osp_launch_groups_read(facts->launch_groups, &ours, &ignored))
			compare_groups(diagnosis, &fleet, &ours);
		osp_launch_groups_free(&ours);
	}
	osp_launch_groups_free(&fleet);
}

/* Looks at what nodes report of themselves. */
static void check_reports(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->report_port)
		return;
	if (facts->running.unreported) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "nodes that run have not reported their NVLink domain since they booted: "
			 "%s",
			 facts->running.unreported);
		osp_cure(diagnosis, "systemctl enable --now onespine-report on these nodes; there "
				    "`onespine-gate report` says why it fails");
	}
	if (facts->running.crossing) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING, "%s", facts->running.crossing);
		osp_cure(diagnosis,
			 "compare %s.reports with the switches of %s: one of them is "
			 "wrong, or NVLink domains are larger than leaves",
			 facts->topology_path, facts->topology_path);
	}
}

/* Judges the key of reports where it is used. */
void osp_rule_report_key(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->report_key_wrong || (!facts->node && !facts->controller))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "%s: the watch hears no report of what a node knows of its place",
		 facts->report_key_wrong);
	osp_cure(diagnosis,
		 "%sonespine gate key new --key-file=%s on one host, then copy it to all nodes and "
		 "slurmctld's hosts",
		 facts->report_key_missing ? "" : "remove it, then ", facts->report_key_file);
}

void osp_rule_places(struct osp_diagnosis *diagnosis)
{
	check_reports(diagnosis);
	check_block_ends(diagnosis);
	check_launch_left(diagnosis);
	check_launch_groups(diagnosis);
	check_held(diagnosis);
	check_asked(diagnosis);
	check_unasked(diagnosis);
	check_kept(diagnosis);
	check_booted(diagnosis);
}

void osp_rule_asleep(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->asleep)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "every larger job of partition %s is a gang (gang: always), and these nodes have "
		 "no "
		 "place while they are powered down: no gang gets them then, and none wakes them: "
		 "%s",
		 facts->asleep_partition, facts->asleep);
	osp_cure(diagnosis, "%s: unlaunched: launch for that partition, or keep them running",
		 facts->config_path);
}

/* --- backup slurmctld ------------------------------------------------------------------------- */

static size_t count_lines(const struct osp_slurm_conf *conf, const char *key)
{
	size_t count, found = 0;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);

	for (size_t i = 0; i < count; i++)
		found += words[i].starts_line && strcasecmp(words[i].key, key) == 0;
	return found;
}

/* Reports a topology that only one host sees. Only the watch of the slurmctld in control asks:
 * the other host's topology is then as old as that host's last control. */
static void check_own_topologies(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->watch_enabled || !facts->topology_location_kind)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "there is a backup slurmctld, and what onespine-topology-watch writes (%s) is on "
		 "%s, which other hosts do not see: the one that takes over goes by old places",
		 facts->topology_path, facts->topology_location_kind);
	osp_cure(diagnosis,
		 "%s: topology: %s/onespine.topology, and the watch as SlurmUser (doc/topology.md, "
		 "With a backup slurmctld)",
		 facts->config_path,
		 osp_slurm_conf_value(facts->conf, "StateSaveLocation", "/var/spool"));
}

void osp_rule_backup(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (count_lines(facts->conf, "SlurmctldHost") < 2)
		return;
	if (!facts->state_location_kind) {
		check_own_topologies(diagnosis);
		return;
	}
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "there is a backup slurmctld, and StateSaveLocation (%s) is on %s, which other "
		 "hosts do not see: what it takes over then lacks jobs and the last good topology",
		 osp_slurm_conf_value(facts->conf, "StateSaveLocation", "/var/spool"),
		 facts->state_location_kind);
	osp_cure(diagnosis,
		 "put StateSaveLocation where every SlurmctldHost sees it; onespine.yaml "
		 "and onespine.topology beside slurm.conf on each of them");
}

/* --- the scheduler ---------------------------------------------------------------------------- */

void osp_rule_node_rank(struct osp_diagnosis *diagnosis)
{
	static const char *const words[] = {"SwitchAsNodeRank", "BlockAsNodeRank"};
	const char *file = diagnosis->facts->topology_yaml ? "topology.yaml" : "topology.conf";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!osp_setting_has(diagnosis, "TopologyParam", words[i]))
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "TopologyParam=%s orders a job's ranks by %s: they follow "
			 "onespine.topology only while both files say the same",
			 words[i], file);
		osp_cure(diagnosis,
			 "make %s from our file: onespine topology import --from onespine --to %s",
			 file, file);
	}
}

/* Returns the longest MaxTime of the partitions, in minutes; UINT32_MAX: none, or infinite. */
static uint32_t longest_minutes(const struct osp_slurm_conf *conf)
{
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);
	uint32_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		const char *time;
		int64_t seconds;

		if (!words[i].starts_line || strcasecmp(words[i].key, "PartitionName") != 0)
			continue;
		time = osp_slurm_conf_of_line(conf, &words[i], "MaxTime");
		if (!time && strcasecmp(words[i].value, "DEFAULT") == 0)
			continue;
		if (!time || osp_parse_duration(time, &seconds) < 0)
			return UINT32_MAX;
		if (seconds / MINUTE_S > longest)
			longest = (uint32_t)(seconds / MINUTE_S);
	}
	return longest ? longest : UINT32_MAX;
}

void osp_rule_backfill(struct osp_diagnosis *diagnosis)
{
	const struct osp_slurm_conf *conf = diagnosis->facts->conf;
	const char *parameters = osp_slurm_conf_value(conf, "SchedulerParameters", "");
	uint32_t longest = longest_minutes(conf);
	uint32_t window = BF_WINDOW_DEFAULT_MINUTES;
	struct osp_text wanted = OSP_TEXT_INIT;
	char value[32];

	if (strcasecmp(osp_slurm_conf_value(conf, "SchedulerType", "sched/backfill"),
		       "sched/builtin") == 0) {
		osp_find(
			diagnosis, OSP_DOCTOR_WARNING,
			"SchedulerType=sched/builtin: a gang that waits stops every job behind it");
		osp_cure_setting(diagnosis, "SchedulerType", "sched/backfill");
		return;
	}
	if (osp_slurm_list_has(parameters, "bf_window", value, sizeof(value)))
		window = (uint32_t)strtoul(value, NULL, 10);
	if (longest == UINT32_MAX || window >= longest)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "backfill looks %u minutes ahead and jobs may run %u: a gang whose nodes are free "
		 "later than that is held no place, and small jobs go before it",
		 window, longest);
	osp_text_printf(&wanted, "bf_window=%u", longest);
	if (*value && osp_slurm_list_has(parameters, "bf_window", value, sizeof(value)))
		osp_cure(diagnosis, "SchedulerParameters: bf_window=%u instead of %s", longest,
			 value);
	else if (!wanted.failed)
		osp_cure_list(diagnosis, "SchedulerParameters", wanted.data);
	osp_text_free(&wanted);
}

void osp_rule_munge(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->munge_looked_at || facts->munge_answers)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "MUNGE does not answer at %s: the nodes cannot send each other what their checks "
		 "found",
		 facts->munge_socket ? facts->munge_socket : "its usual socket");
	osp_cure(diagnosis, "start munged (systemctl start munge)");
}

/* The first release without CVE-2026-25506 (MUNGE's NEWS). */
static const unsigned int munge_mended[3] = {0, 5, 18};

static bool is_mended(const char *version)
{
	unsigned int is[3] = {0, 0, 0};

	if (sscanf(version, "%u.%u.%u", &is[0], &is[1], &is[2]) < 2)
		return true; /* nothing is known about it */
	for (int i = 0; i < 3; i++) {
		if (is[i] != munge_mended[i])
			return is[i] > munge_mended[i];
	}
	return true;
}

/* Judges MUNGE's release and its package's changelog, because distributions fix a release without
 * changing its number. */
void osp_rule_munge_key(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	bool mended;

	if (!facts->munge_version)
		return;
	mended = is_mended(facts->munge_version) || (facts->munge_fix && *facts->munge_fix);
	if (mended && facts->munge_outdated) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "the munged that runs (process %u) is from before the update of its file, "
			 "and may have CVE-2026-25506: a user of this host reads MUNGE's key",
			 facts->munge_outdated);
		osp_cure(diagnosis, "systemctl restart munge");
	} else if (!mended) {
		osp_find(diagnosis, facts->munge_fix ? OSP_DOCTOR_WARNING : OSP_DOCTOR_WRONG,
			 "munged %s %s CVE-2026-25506: a user of this host reads MUNGE's key, and "
			 "is root to Slurm and to the gate",
			 facts->munge_version,
			 facts->munge_fix ? "may have (its package's changelog is not here)"
					  : "has");
		osp_cure(diagnosis, "install munge 0.5.18 or your distribution's update, then give "
				    "all hosts a new key: an update does not take back one that "
				    "was read");
	}
}

/* --- the running slurmctld -------------------------------------------------------------------- */

static void compare_running(struct osp_diagnosis *diagnosis, const char *key, const char *running)
{
	const struct osp_slurm_word *word = osp_slurm_conf_find(diagnosis->facts->conf, key);

	if (!word || !running || strcasecmp(word->value, running) == 0)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG, "slurmctld runs with %s=%s, and the file says %s",
		 key, running, word->value);
	osp_cure(diagnosis, "restart slurmctld (a reconfigure does not do for this)");
}

/* Compares a flag of PrologFlags that the file has and the gate needs. */
static void compare_flag(struct osp_diagnosis *diagnosis, const char *flag, bool running)
{
	if (running || !osp_setting_has(diagnosis, "PrologFlags", flag))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "slurmctld runs without PrologFlags=%s, which the file has", flag);
	osp_cure(diagnosis, "scontrol reconfigure");
}

void osp_rule_running(struct osp_diagnosis *diagnosis)
{
	const struct osp_running *running = &diagnosis->facts->running;

	if (running->asked == OSP_NO_ANSWER) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING, "slurmctld does not answer: %s",
			 running->why ? running->why : "no reason given");
		osp_cure(diagnosis, "start slurmctld, then ask again");
	}
	if (running->asked != OSP_ANSWERED)
		return;
	compare_running(diagnosis, "PluginDir", running->plugin_dir);
	compare_running(diagnosis, "SelectType", running->select_type);
	compare_running(diagnosis, "JobSubmitPlugins", running->job_submit);
	if (diagnosis->facts->gate.on) {
		compare_flag(diagnosis, "Alloc", running->prolog_alloc);
		compare_flag(diagnosis, "DeferBatch", running->prolog_defer_batch);
	}
	if (running->probe != OSP_PROBE_STOCK ||
	    !osp_takes_part(diagnosis->facts, OSP_PART_PLACEMENT))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "the slurmctld that runs takes no notice of a gang: jobs are placed anywhere");
	osp_cure(diagnosis,
		 "restart slurmctld; when its log says why it does not start, follow that");
}
