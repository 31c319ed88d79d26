/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_facts.c - gathers what the doctor judges: files, plugins, what slurmctld and MUNGE
 * answer */
#include "onespine_config.h"
#include "tools/setup/doctor.h"

#include <slurm/slurm.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "check/base/gpu_starts.h"
#include "check/base/hang_watch.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/conf/clustermgtd.h"
#include "lib/policy/config_names.h"
#include "lib/policy/node_policy.h"
#include "lib/topology/place_age.h"
#include "lib/topology/topology.h"
#include "host/record/trial_file.h"
#include "host/files.h"
#include "host/record/secrets_file.h"
#include "host/slurm/fabric.h"
#include "host/source/apply.h"
#include "tools/setup/builds.h"

#define TOPOLOGY_YAML_SINCE 0x190500
#define MUNGE_SOCKET	    "/run/munge/munge.socket.2"

const char *osp_doctor_keep(struct osp_doctor *doctor, char *string)
{
	if (!string)
		return "";
	if (doctor->string_count == sizeof(doctor->strings) / sizeof(doctor->strings[0])) {
		free(string);
		return "";
	}
	return doctor->strings[doctor->string_count++] = string;
}

/* --- PluginDir -------------------------------------------------------------------------------- */

static void look_at_folder(const char *path, struct osp_plugin_folder *folder)
{
	struct stat status;

	folder->path = path;
	folder->exists = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	folder->select = osp_look_at_plugin(path, "select_cons_tres.so");
	folder->job_submit = osp_look_at_plugin(path, "job_submit_onespine.so");
}

/* Notes the parts whose packages are not here. A build that was not made for packages installs all
 * parts together. */
static void gather_lacking(struct osp_doctor_facts *facts)
{
#ifdef OSP_PACKAGES
	static const struct {
		enum osp_part part;
		const char *file;
	} parts[] = {
		{OSP_PART_PLACEMENT, OSP_PLUGIN_DIR "/job_submit_onespine.so"},
		{OSP_PART_SPANK, OSP_PLUGIN_DIR "/onespine.so"},
		{OSP_PART_GATE, OSP_GATE_DIR "/onespine-gate"},
		{OSP_PART_ENVIRONMENT, OSP_PLUGIN_DIR "/onespine_node.so"},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (access(parts[i].file, F_OK) < 0 && errno == ENOENT)
			facts->lacks |= parts[i].part;
#else
	facts->lacks = 0;
#endif
}

static void gather_folders(struct osp_doctor *doctor)
{
	const char *value = osp_slurm_conf_value(doctor->conf, "PluginDir", OSP_SLURM_PLUGINS);
	size_t count = 1;

	for (const char *at = value; *at; at++)
		count += *at == ':';
	doctor->folders = calloc(count, sizeof(*doctor->folders));
	if (!doctor->folders)
		return;
	for (const char *at = value; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");
		char *path = strndup(at, length);

		while (path && length > 1 && path[length - 1] == '/')
			path[--length] = '\0';
		if (path && *path)
			look_at_folder(osp_doctor_keep(doctor, path),
				       &doctor->folders[doctor->facts.folder_count++]);
		else
			free(path);
		at += strcspn(at, ":");
	}
	doctor->facts.folders = doctor->folders;
}

/* Looks for builds for the Slurm that is installed. Before its start slurmctld gets them. */
static void gather_builds(struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	uint32_t slurm = osp_doctor_slurm(doctor->folders, facts->folder_count);
	struct osp_text said = OSP_TEXT_INIT;

	if (!slurm)
		return;
	if (!facts->before_start) {
		osp_builds_look(doctor->folders, facts->folder_count, slurm);
		return;
	}
	osp_builds_match(doctor->folders, facts->folder_count, slurm, &said);
	if (said.length_bytes && !said.failed)
		doctor->taken = osp_text_take(&said);
	osp_text_free(&said);
}

/* --- files that are obeyed -------------------------------------------------------------------- */

static void add_trusted(struct osp_doctor *doctor, const char *path, uid_t slurm_user)
{
	struct osp_trusted_file *file = &doctor->trusted[doctor->facts.trusted_count];

	if (!*path)
		return;
	file->path = path;
	file->safe = osp_is_safe(path, slurm_user, &file->exists);
	doctor->facts.trusted_count++;
}

static void gather_trusted(struct osp_doctor *doctor)
{
	static const char *const plugins[] = {
		OSP_SHADOW_DIR,
		OSP_SHADOW_DIR "/select_cons_tres.so",
		OSP_PLUGIN_DIR,
		OSP_PLUGIN_DIR "/job_submit_onespine.so",
		OSP_PLUGIN_DIR "/onespine.so",
	};
	uid_t slurm_user = osp_slurm_user(doctor->conf);

	doctor->trusted = calloc(8, sizeof(*doctor->trusted));
	if (!doctor->trusted)
		return;
	for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
		add_trusted(doctor, plugins[i], slurm_user);
	add_trusted(doctor, doctor->facts.config_path, slurm_user);
	add_trusted(doctor, doctor->facts.topology_path, slurm_user);
	doctor->facts.trusted = doctor->trusted;
}

/* --- onespine.yaml and the topology ----------------------------------------------------------- */

struct coverage {
	const struct osp_topology *topology;
	char **missing;
	size_t missing_count;
	uint32_t node_count;
};

static int look_for_node(const char *name, void *context)
{
	struct coverage *coverage = context;
	char **larger;

	coverage->node_count++;
	if (osp_topology_find_node(coverage->topology, name) != OSP_NO_NODE)
		return 0;
	larger = realloc(coverage->missing, (coverage->missing_count + 1) * sizeof(*larger));
	if (!larger)
		return -1;
	coverage->missing = larger;
	larger[coverage->missing_count] = strdup(name);
	if (!larger[coverage->missing_count])
		return -1;
	coverage->missing_count++;
	return 0;
}

/* Returns whether a node that is in no topology may be launched for a gang. */
static bool is_launched(const struct osp_doctor *doctor, const struct osp_slurm_word *line)
{
	const char *state = osp_slurm_conf_of_node_line(doctor->conf, line, "State");

	return doctor->config && osp_config_launches(doctor->config) && state &&
	       !strcasecmp(state, "CLOUD");
}

/* Finds which nodes of slurm.conf the topology lacks. */
static void gather_uncovered(struct osp_doctor *doctor, const struct osp_topology *topology)
{
	struct coverage coverage = {.topology = topology};
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(doctor->conf, &count);

	for (size_t i = 0; i < count; i++)
		if (words[i].starts_line && strcasecmp(words[i].key, "NodeName") == 0 &&
		    strcasecmp(words[i].value, "DEFAULT") != 0 && !is_launched(doctor, &words[i]))
			(void)osp_hostlist_expand(words[i].value, look_for_node, &coverage, NULL);
	doctor->facts.node_count = coverage.node_count;
	doctor->facts.uncovered_count = (uint32_t)coverage.missing_count;
	if (coverage.missing_count)
		doctor->facts.uncovered = osp_doctor_keep(
			doctor, osp_hostlist_compact((const char *const *)coverage.missing,
						     coverage.missing_count));
	for (size_t i = 0; i < coverage.missing_count; i++)
		free(coverage.missing[i]);
	free(coverage.missing);
}

/* Returns whether slurmctld sends the file: slurm.conf includes it by its bare name. */
static bool is_sent(const struct osp_slurm_conf *conf, const char *path)
{
	size_t count;
	const struct osp_slurm_file *files = osp_slurm_conf_files(conf, &count);

	for (size_t i = 1; i < count; i++)
		if (strcmp(files[i].path, path) == 0)
			return !strchr(files[i].name, '/');
	return false;
}

/* Returns whether onespine.yaml is, as it is now, in the file that setup has slurm.conf include. */
static void gather_sent(const struct osp_overlays *overlays, struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	char *piece_path = osp_path_beside(facts->conf_path, OSP_PIECE_NAME);
	struct osp_error ignored = {.text = ""};
	struct osp_text hidden = OSP_TEXT_INIT;
	size_t bytes = 0, piece_bytes = 0;
	char *yaml = osp_read_overlaid(overlays, facts->config_path, OSP_CONFIG_FILE_BYTES_MAX,
				       &bytes, &ignored);
	char *piece = NULL;

	facts->config_exists = yaml != NULL;
	if (yaml && piece_path && is_sent(doctor->conf, piece_path))
		piece = osp_read_overlaid(overlays, piece_path, OSP_SLURM_CONF_BYTES_MAX,
					  &piece_bytes, &ignored);
	if (piece) {
		osp_node_policy_hide(yaml, bytes, &hidden);
		facts->config_sent = !bytes || (hidden.data && strstr(piece, hidden.data));
	}
	osp_text_free(&hidden);
	free(piece);
	free(yaml);
	free(piece_path);
}

static bool has_topology_yaml(const struct osp_doctor_facts *facts)
{
	char *path = osp_path_beside(facts->conf_path, "topology.yaml");
	bool exists = path && access(path, F_OK) == 0;

	free(path);
	return exists;
}

/* Loads onespine.yaml as it is, or as it is laid over; a missing file is an empty one. */
static void load_config(const struct osp_overlays *overlays, struct osp_doctor *doctor)
{
	const char *path = doctor->facts.config_path;
	struct osp_error ignored = {.text = ""};
	size_t bytes = 0;
	char *text;

	if (access(path, F_OK) == 0) {
		doctor->config = osp_config_load(path, false, &doctor->config_error);
		return;
	}
	text = osp_read_overlaid(overlays, path, OSP_CONFIG_FILE_BYTES_MAX, &bytes, &ignored);
	doctor->config =
		osp_config_read(path, text ? text : "", text ? bytes : 0, &doctor->config_error);
	free(text);
}

struct naming {
	struct osp_doctor *doctor;
	uint32_t *count; /* the facts' */
};

static void keep_unknown(const struct osp_error *wrong, void *context)
{
	const struct naming *naming = context;
	struct osp_doctor *doctor = naming->doctor;
	uint32_t used = doctor->facts.unknown_levels + doctor->facts.unknown_partitions;

	if (used == sizeof(doctor->unknown_names) / sizeof(doctor->unknown_names[0]))
		return;
	doctor->unknown_names[used] = *wrong;
	++*naming->count;
}

/* Levels and partitions that onespine.yaml names and that are not there. */
static void gather_unknown_names(struct osp_doctor *doctor, const struct osp_topology *topology)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	struct naming levels = {doctor, &facts->unknown_levels};
	struct naming partitions = {doctor, &facts->unknown_partitions};
	size_t count, known = 0;
	const struct osp_slurm_word *words = osp_slurm_conf_words(doctor->conf, &count);
	const char **names = calloc(count + 1, sizeof(*names));

	facts->unknown_names = doctor->unknown_names;
	if (topology)
		osp_config_check_levels(doctor->config, topology, facts->topology_path,
					facts->config_path, keep_unknown, &levels);
	for (size_t i = 0; names && i < count; i++)
		if (words[i].starts_line && strcasecmp(words[i].key, "PartitionName") == 0)
			names[known++] = words[i].value;
	if (names)
		osp_config_check_partitions(doctor->config, names, known, facts->config_path,
					    keep_unknown, &partitions);
	free(names);
}

/* Finds when a cloud last reported where nodes are. 0: the topology is of no cloud; -1: no file
 * says when. */
static int64_t last_asked(const char *path, const struct osp_topology *topology)
{
	uint32_t count = osp_topology_node_count(topology);
	int64_t *asked_s = calloc((size_t)count + 1, sizeof(*asked_s)), last_s = 0;
	struct osp_error ignored = {.text = ""};

	if (asked_s)
		(void)osp_apply_read_asked(path, topology, asked_s, &ignored);
	for (uint32_t node = 0; asked_s && node < count; node++) {
		if (!osp_place_boot_s(osp_topology_note(topology, node)))
			continue;
		if (!last_s)
			last_s = -1;
		if (asked_s[node] && asked_s[node] > last_s)
			last_s = asked_s[node];
	}
	free(asked_s);
	return last_s;
}

/* Returns what comes before each path: "", or for tests a folder that is used as /. */
static const char *root_folder(void)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");

	return root ? root : "";
}

/* Returns whether systemd starts a unit at boot, with the services ("multi-user") or the timers:
 * `systemctl enable` makes a link. */
static bool is_enabled(const char *target, const char *unit)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/etc/systemd/system/%s.target.wants/%s", root_folder(),
		 target, unit);
	return !lstat(path, &status);
}

/* Looks at what `topology watch` left beside the topology. */
static void gather_watch(struct osp_doctor *doctor, const struct osp_topology *topology)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	char *held = osp_apply_held_path(facts->topology_path);
	struct stat status;

	facts->now_s = (int64_t)time(NULL);
	facts->watch_interval_s = osp_config_watch(doctor->config)->interval_s;
	facts->reserves_block_ends = osp_config_watch(doctor->config)->reserve_block_ends;
	facts->report_port = osp_config_watch(doctor->config)->report_port;
	if (held && !stat(held, &status))
		facts->held_s = (int64_t)status.st_mtime;
	facts->asked_s = last_asked(facts->topology_path, topology);
	if (osp_topology_unasked(topology))
		facts->unasked = osp_doctor_keep(doctor, strdup(osp_topology_unasked(topology)));
	facts->kept = osp_doctor_keep(
		doctor, osp_apply_list_kept(facts->topology_path, topology, &facts->kept_s));
	facts->watch_enabled = is_enabled("multi-user", "onespine-topology-watch.service");
	free(held);
}

static void gather_fabric(const struct osp_overlays *overlays, struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	struct osp_topology *topology;

	facts->config_path =
		osp_doctor_keep(doctor, osp_path_beside(facts->conf_path, "onespine.yaml"));
	load_config(overlays, doctor);
	if (doctor->config)
		facts->holds_gangs = osp_config_holds(doctor->config);
	else
		facts->config_error = &doctor->config_error;
	gather_sent(overlays, doctor);
	facts->topology_yaml = facts->slurm >= TOPOLOGY_YAML_SINCE && has_topology_yaml(facts);
	facts->topology_path = osp_doctor_keep(
		doctor, osp_path_beside(facts->conf_path,
					doctor->config ? osp_config_topology(doctor->config)
						       : "onespine.topology"));
	if (!facts->controller || facts->before_start)
		return;
	topology = osp_topology_load(facts->topology_path, &doctor->topology_error);
	if (topology)
		gather_uncovered(doctor, topology);
	else
		facts->topology_error = &doctor->topology_error;
	if (topology && doctor->config) {
		osp_doctor_gather_dynamic(doctor, topology);
		gather_watch(doctor, topology);
	}
	if (doctor->config)
		gather_unknown_names(doctor, topology);
	osp_topology_free(topology);
}

/* --- the host --------------------------------------------------------------------------------- */

static bool answers_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	answers = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return answers;
}

/* Returns the file of the gate's keys; NULL: MUNGE seals its messages. */
static const char *gate_key_file(const struct osp_doctor *doctor)
{
	const struct osp_gate_policy *policy =
		doctor->config ? osp_config_gate(doctor->config, NULL) : NULL;

	return osp_key_file(doctor->conf, policy ? policy->key_file : NULL, OSP_SECRETS_PATH);
}

#ifdef OSP_HAVE_SODIUM
#define GATE_USES_KEYS true
#else
#define GATE_USES_KEYS false
#endif

/* Tries what the gate does with its keys as root. Another user who may read them is an error. */
static int try_gate_key(const char *path, struct osp_error *error)
{
#ifdef OSP_HAVE_SODIUM
	struct osp_secrets secrets;
	int rc;

	if (geteuid() != 0 && access(path, R_OK) == 0)
		return osp_error_at(error, path, 0, 0,
				    "user %u may read it: who reads a key is root to the gate "
				    "(chown root, chmod 600, then a new key)",
				    (unsigned int)geteuid());
	rc = osp_secrets_load(path, &secrets, error);
	osp_secrets_forget(&secrets);
	return rc;
#else
	return osp_error_set(error,
			     "this build was configured without libsodium: no gate can use "
			     "%s",
			     path);
#endif
}

static const char *keep_words(struct osp_doctor *doctor, const struct osp_error *error)
{
	char words[OSP_ERROR_FILE_BYTES + OSP_ERROR_TEXT_BYTES + 32];

	return osp_doctor_keep(doctor, strdup(osp_error_format(error, words, sizeof(words))));
}

static void gather_gate_key(const struct osp_doctor_question *question, struct osp_doctor *doctor,
			    const char *path)
{
	struct osp_error error = {.text = ""};

	doctor->facts.gate_key_file = osp_doctor_keep(doctor, strdup(path));
	doctor->facts.gate_key_missing = access(path, F_OK) < 0 && errno == ENOENT;
	if (doctor->facts.gate_key_missing && question->makes_key && GATE_USES_KEYS)
		return;
	doctor->facts.gate_key_hidden = access(path, R_OK) < 0 && errno == EACCES;
	if (try_gate_key(path, &error))
		doctor->facts.gate_key_wrong = keep_words(doctor, &error);
}

/* Tries what a node does as root with the keys of reports, or else the watch, whose user may be
 * SlurmUser. */
static int try_report_key(const struct osp_doctor *doctor, const char *path,
			  struct osp_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return osp_error_at(error, path, 0, 0, "%s", strerror(errno));
	if (doctor->facts.node || status.st_uid == 0 ||
	    status.st_uid != osp_slurm_user(doctor->conf))
		return try_gate_key(path, error);
	return status.st_mode & (S_IRWXG | S_IRWXO)
		       ? osp_error_at(error, path, 0, 0, "others may read or write it")
		       : 0;
}

/* Gathers the report key's facts as root, who alone can read the keys. */
static void gather_report_key(struct osp_doctor *doctor)
{
	const struct osp_watch_policy *policy =
		doctor->config ? osp_config_watch(doctor->config) : NULL; /* it may be refused */
	const char *path =
		policy ? osp_key_file(doctor->conf, policy->report_key_file, OSP_REPORT_KEY_PATH)
		       : NULL;
	struct osp_error error = {.text = ""};

	if (!path || !policy->report_port || geteuid() != 0)
		return;
	doctor->facts.report_key_file = osp_doctor_keep(doctor, strdup(path));
	doctor->facts.report_key_missing = access(path, F_OK) < 0 && errno == ENOENT;
	if (try_report_key(doctor, path, &error))
		doctor->facts.report_key_wrong = keep_words(doctor, &error);
}

static void gather_munge(struct osp_doctor *doctor)
{
	const char *info = osp_slurm_conf_value(doctor->conf, "AuthInfo", NULL);
	char path[108] = MUNGE_SOCKET;
	char said[sizeof(path)];

	if (osp_slurm_list_has(info, "socket", said, sizeof(said)) && *said)
		memcpy(path, said, sizeof(path));
	doctor->facts.munge_looked_at = true;
	doctor->facts.munge_answers = answers_at(path);
	doctor->facts.munge_socket = osp_doctor_keep(doctor, strdup(path));
}

/* Finds what proves the gate's messages. */
static void gather_proof(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	const char *key_file = gate_key_file(doctor);

	if (key_file)
		gather_gate_key(question, doctor, key_file);
	else
		gather_munge(doctor);
	gather_report_key(doctor);
}

/* Returns the name of a file system that only this host sees, by statfs(2)'s numbers; else NULL. */
static const char *local_file_system(const char *path)
{
	static const struct {
		long type;
		const char *name;
	} known[] = {
		{0xEF53, "ext4"},      {0x58465342, "xfs"},	{0x9123683E, "btrfs"},
		{0x01021994, "tmpfs"}, {0x794C7630, "overlay"}, {0x2FC12FC1, "zfs"},
	};
	struct statfs status;

	if (statfs(path, &status) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((long)status.f_type == known[i].type)
			return known[i].name;
	return NULL;
}

/* Finds the strictest of all partitions that the gate is on for; without GPUs in slurm.conf that is
 * none where only jobs with GPUs are meant. */
static void take_gate(struct osp_doctor_gate *gate, const struct osp_gate_policy *policy,
		      bool has_gpus)
{
	if (policy->depth == OSP_GATE_OFF || (!policy->all_jobs && !has_gpus))
		return;
	gate->on = true;
	if (policy->budget_s > gate->budget_s)
		gate->budget_s = policy->budget_s;
	if (policy->spares_max > gate->spares_max)
		gate->spares_max = policy->spares_max;
	if (policy->quarantine > gate->quarantine)
		gate->quarantine = policy->quarantine;
	gate->evidence_local = gate->evidence_local || !policy->evidence;
}

#ifdef OSP_HAVE_MUNGE
static enum osp_gate_call gather_script(const struct osp_doctor_question *question,
					struct osp_doctor *doctor, const char *key,
					struct osp_gate_broken *broken)
{
	enum osp_gate_call call = osp_runs_gate(doctor->conf, doctor->facts.conf_path,
						question->overlays, key, broken);

	if (broken->program) {
		broken->program = osp_doctor_keep(doctor, (char *)broken->program);
		broken->file = osp_doctor_keep(doctor, (char *)broken->file);
	}
	return call;
}

static void gather_gate(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	struct osp_doctor_gate *gate = &doctor->facts.gate;
	size_t count = doctor->config ? osp_config_partition_count(doctor->config) : 0;
	bool has_gpus = osp_slurm_list_has(osp_slurm_conf_value(doctor->conf, "GresTypes", NULL),
					   "gpu", NULL, 0);

	if (!doctor->config)
		return;
	take_gate(gate, osp_config_gate(doctor->config, NULL), has_gpus);
	gate->quarantine_h = osp_config_gate(doctor->config, NULL)->quarantine_h;
	gate->history_shared = osp_config_history(doctor->config)->shared;
	for (size_t i = 0; i < count; i++) {
		int line;

		take_gate(gate,
			  osp_config_gate(doctor->config,
					  osp_config_partition(doctor->config, i, &line)),
			  has_gpus);
	}
	gate->config_roots = osp_is_safe(doctor->facts.config_path, 0, &gate->config_exists);
	gate->program = OSP_GATE_DIR "/onespine-gate";
	gate->prolog = gather_script(question, doctor, "Prolog", &gate->prolog_broken);
	gate->epilog = gather_script(question, doctor, "Epilog", &gate->epilog_broken);
	gate->on = gate->on && osp_takes_part(&doctor->facts, OSP_PART_GATE);
}
#else
static void gather_gate(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	(void)question;
	(void)doctor;
	(void)take_gate;
}
#endif

/* --- GPUs ------------------------------------------------------------------------------------- */

static void gather_starts(struct osp_doctor *doctor)
{
	struct osp_gpu_starts starts;
	struct osp_text text = OSP_TEXT_INIT;
	bool any = false;

	osp_gpu_starts_read(root_folder(), &starts);
	for (size_t i = 0; i < starts.count; i++) {
		if (starts.gpus[i].late < OSP_LATE_STARTS)
			continue;
		osp_text_printf(&text, "%s%s", any ? ", " : "", starts.gpus[i].subject);
		any = true;
	}
	if (any)
		doctor->facts.late_gpus = osp_doctor_keep(doctor, osp_text_take(&text));
	osp_text_free(&text);
}

/* --- all -------------------------------------------------------------------------------------- */

static void gather_ports(struct osp_doctor_facts *facts)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");

	if (!file)
		return;
	facts->first_free_port_known = fscanf(file, "%u", &facts->first_free_port) == 1;
	fclose(file);
}

static void gather_netfilter(struct osp_doctor_facts *facts)
{
	FILE *file = fopen("/proc/sys/net/netfilter/nf_log_all_netns", "re");
	unsigned int all = 0;

	if (!file)
		return;
	facts->users_netfilter_logged = fscanf(file, "%u", &all) == 1 && all;
	fclose(file);
}

/* Looks for ParallelCluster's clustermgtd, and for the first dynamic node in slurm.conf. */
static void gather_clustermgtd(struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	size_t count = 0;
	const struct osp_slurm_word *words = osp_slurm_conf_words(doctor->conf, &count);

	facts->ends_drained = osp_drained_are_ended(doctor->conf, root_folder());
	facts->recheck_enabled = is_enabled("timers", "onespine-recheck.timer");
	for (size_t i = 0; i < count && !facts->dynamic_node; i++)
		if (words[i].starts_line && !strcasecmp(words[i].key, "NodeName") &&
		    osp_is_dynamic_node(words[i].value))
			facts->dynamic_node = words[i].value;
}

static void gather_host(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	char cluster[OSP_CLUSTER_NAME_BYTES];

	facts->installed = osp_look_at_plugin(OSP_SHADOW_DIR, "select_cons_tres.so").state ==
				   OSP_PLUGIN_OURS &&
			   osp_look_at_plugin(OSP_PLUGIN_DIR, "job_submit_onespine.so").state ==
				   OSP_PLUGIN_OURS;
	gather_lacking(facts);
	gather_folders(doctor);
	gather_builds(doctor);
	gather_fabric(question->overlays, doctor);
	facts->plugstack_path =
		osp_doctor_keep(doctor, osp_plugstack_path(doctor->conf, facts->conf_path));
	osp_look_at_plugstack(facts->plugstack_path, question->overlays, &facts->spank);
	gather_trusted(doctor);
	if (facts->before_start)
		return;
	gather_gate(question, doctor);
	gather_proof(question, doctor);
	osp_doctor_gather_munge(doctor);
	gather_ports(facts);
	gather_netfilter(facts);
	gather_clustermgtd(doctor);
	osp_doctor_gather_fleet(doctor, root_folder());
	facts->hangs_unknowable = !osp_hang_can_be_judged("");
	osp_cluster_folder(doctor->conf, cluster);
	facts->rechecks_left = (uint32_t)osp_trials_left(cluster, NULL, NULL);
	facts->state_location_kind = local_file_system(
		osp_slurm_conf_value(doctor->conf, "StateSaveLocation", "/var/spool"));
	facts->topology_location_kind = local_file_system(facts->topology_path);
	if (question->ask)
		osp_doctor_ask(facts->conf_path, cluster,
			       facts->controller ? facts->topology_path : NULL, &facts->running);
	gather_starts(doctor);
	osp_doctor_gather_reach(question, doctor);
}

void osp_doctor_gather(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	struct osp_doctor_facts *facts = &doctor->facts;

	*doctor = (struct osp_doctor){0};
	*facts = (struct osp_doctor_facts){
		.conf_path = question->conf_path,
		.conf_error = &doctor->conf_error,
		.fetched = osp_slurm_conf_fetched(question->conf_path),
		.before_start = question->before_start,
		.slurm = SLURM_VERSION_NUMBER,
		.shadow_dir = OSP_SHADOW_DIR,
		.plugin_dir = OSP_PLUGIN_DIR,
		.slurm_plugins = OSP_SLURM_PLUGINS,
	};
	doctor->conf =
		osp_load_slurm_conf(question->conf_path, question->overlays, &doctor->conf_error);
	facts->conf = doctor->conf;
	if (!doctor->conf)
		return;
	facts->controller =
		question->controller || (!facts->fetched && osp_is_controller(doctor->conf));
	facts->node = question->node || osp_is_node(doctor->conf);
	gather_host(question, doctor);
}

void osp_doctor_free(struct osp_doctor *doctor)
{
	struct osp_running *running = &doctor->facts.running;

	free((char *)running->why);
	free((char *)running->version);
	free((char *)running->plugin_dir);
	free((char *)running->select_type);
	free((char *)running->job_submit);
	free((char *)running->trials);
	free((char *)running->quarantined);
	free((char *)running->block_ends);
	free((char *)running->launch_left);
	free((char *)running->gang_licenses);
	free((char *)running->block_partition);
	free((char *)running->old_places);
	free((char *)running->unreported);
	free((char *)running->crossing);
	osp_free_spank_line(&doctor->facts.spank);
	osp_config_free(doctor->config);
	osp_slurm_conf_free(doctor->conf);
	free(doctor->folders);
	free(doctor->taken);
	free(doctor->trusted);
	for (size_t i = 0; i < doctor->string_count; i++)
		free(doctor->strings[i]);
}
