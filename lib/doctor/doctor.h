/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.h - finds what could make enforcement, the gate or the options silently absent, and the
 * cure
 *
 * The caller gathers facts about one host (tools/setup/doctor_facts.c): slurm.conf, the contents of
 * the folders that it names, the answers of a running slurmctld. Every finding is decided here,
 * from the facts alone: a table of rules, each with a name, its condition, a sentence and a cure.
 *
 * Any thread; reads no file.
 */
#ifndef OSP_DOCTOR_H
#define OSP_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/conf/slurm_conf.h"

/* --- facts ------------------------------------------------------------------------------------ */

enum osp_plugin_state {
	OSP_PLUGIN_ABSENT,
	OSP_PLUGIN_BROKEN, /* unreadable, or no plugin of Slurm */
	OSP_PLUGIN_OTHERS, /* Slurm's own, or somebody else's */
	OSP_PLUGIN_OURS,
};

struct osp_plugin_file {
	enum osp_plugin_state state;
	uint32_t version;  /* of the Slurm it was built for, 0xMMmmuu */
	char onespine[24]; /* its release of Onespine; "": it does not tell */
};

/* One directory of PluginDir. */
struct osp_plugin_folder {
	const char *path;
	bool exists;
	struct osp_plugin_file select;	   /* select_cons_tres.so */
	struct osp_plugin_file job_submit; /* job_submit_onespine.so */
	bool select_kept, job_submit_kept; /* a build for the installed Slurm that should replace it
					      is kept beside it (tools/setup/builds.h) */
};

/* A file or folder that root or slurmctld trusts. */
struct osp_trusted_file {
	const char *path;
	bool exists;
	bool safe; /* it belongs to root or SlurmUser, and nobody else may write it */
};

/* A file that somebody needs but cannot read. */
struct osp_unread_file {
	const char *path;
	const char *slurm_user; /* slurmctld's user; NULL: any user's sbatch, salloc and srun */
};

/* The line of plugstack.conf that names onespine.so. */
struct osp_spank_line {
	bool named;
	bool required;
	bool included; /* the line is in a file that plugstack.conf includes */
	const char *path;
	const char *file; /* the file with the line */
	int line;
	struct osp_plugin_file plugin;
};

/* The parts of which packages bring each alone (debian/, packaging/onespine.spec). */
enum osp_part {
	OSP_PART_PLACEMENT = 1,	  /* job_submit_onespine.so and the shadow */
	OSP_PART_SPANK = 2,	  /* onespine.so */
	OSP_PART_GATE = 4,	  /* onespine-gate */
	OSP_PART_ENVIRONMENT = 8, /* onespine_node.so */
};

/* Whether a slurmctld was asked. */
enum osp_ctld { OSP_NOT_ASKED, OSP_NO_ANSWER, OSP_ANSWERED };
enum osp_probe {
	OSP_PROBE_UNKNOWN, /* the answer says neither */
	OSP_PROBE_OURS,	   /* job_submit_onespine.so answered; it does so only with the shadow */
	OSP_PROBE_STOCK,
};

struct osp_running {
	enum osp_ctld asked;
	const char *why; /* OSP_NO_ANSWER: in words */
	const char *version;
	const char *plugin_dir;
	const char *select_type;
	const char *job_submit;
	bool prolog_alloc;
	bool prolog_defer_batch;
	const char *trials; /* hostlist: in reservations of rechecks that have ended; NULL: none */
	const char *quarantined; /* hostlist: in quarantine (lib/gate/quarantine.h); NULL: none */
	const char *old_places;	 /* hostlist: running nodes that have booted since a cloud reported
				their places; NULL: none */
	const char *unreported;	 /* hostlist: running nodes that have not reported their place since
				they booted; NULL: none */
	const char *crossing; /* what reports contradict in the topology, in words; NULL: nothing */
	/* Of the reservations for the ends of Capacity Blocks, names; NULL: there are none. */
	const char *block_ends;
	/* The first partition with nodes in these of which a job has no limit if it names none. */
	const char *block_partition;
	const char *gang_licenses; /* as slurmctld has it, "onespine:1"; NULL: it has none */
	const char *launch_left; /* reservations of launches with which no gang waits; NULL: none */
	enum osp_probe probe;
};

/* How a script of slurmd's runs the gate. */
enum osp_gate_call {
	OSP_GATE_NOT_CALLED,
	OSP_GATE_CALLED,	  /* `onespine-gate prolog`, or a script of ours */
	OSP_GATE_CALLED_FORMERLY, /* `onespine gate prolog`, which executes it until release 0.4 */
};

/* A program that slurmd's Prolog or Epilog is, or that runs the gate for it, but that cannot be
 * executed. */
struct osp_gate_broken {
	const char *program; /* NULL: none */
	const char *file;    /* slurm.conf, a script or a folder of scripts, which names it */
	bool exists;
};

/* What onespine.yaml asks of the gate; all zero if there is none. */
struct osp_doctor_gate {
	bool on;
	uint32_t budget_s;
	uint32_t spares_max;
	uint32_t quarantine; /* nodes, and for how many hours */
	uint32_t quarantine_h;
	bool evidence_local; /* in some partition */
	bool history_shared;
	const char *program;	   /* onespine-gate, as installed */
	enum osp_gate_call prolog; /* from slurmd's Prolog, or from a file that it runs */
	enum osp_gate_call epilog;
	struct osp_gate_broken prolog_broken, epilog_broken;
	bool config_exists; /* onespine.yaml beside slurm.conf */
	bool config_roots;  /* only root may write it: else the gate ignores it */
};

struct osp_doctor_facts {
	const struct osp_slurm_conf *conf; /* NULL: `conf_error` says why */
	const char *conf_path;
	const struct osp_error *conf_error;
	bool fetched;		/* slurm.conf is slurmd's copy of what slurmctld sent */
	bool controller;	/* slurmctld runs on this host, or is about to */
	bool node;		/* slurmd does: jobs run here, and so the gate */
	bool before_start;	/* judge only what makes slurmctld's start useless */
	uint32_t slurm;		/* version of the Slurm that this build is for */
	const char *shadow_dir; /* the folder of this build's shadow */
	const char *plugin_dir;
	const char *slurm_plugins; /* Slurm's own directory */
	bool installed;		   /* the shadow is in shadow_dir, job_submit in plugin_dir */
	unsigned int lacks; /* the parts (enum osp_part) whose packages are not on this host; 0 if
			       this build was not made for packages (configure --enable-packages) */

	const struct osp_plugin_folder *folders; /* PluginDir's, in order */
	size_t folder_count;
	struct osp_spank_line spank;
	const char *plugstack_path;
	const struct osp_trusted_file *trusted;
	size_t trusted_count;
	const struct osp_unread_file *unread;
	size_t unread_count;
	const char *node_part_error; /* why onespine_node.so cannot be loaded here; NULL: it can */
	const struct osp_error *rules_error; /* in the site's rules or types; NULL: none */
	const struct osp_error *thresholds_error; /* in the site's thresholds.yaml; NULL: none */

	const char
		*late_gpus; /* "gpu0, gpu3": late to start three times in this boot; NULL: none */

	const char *config_path;
	bool config_exists;
	bool holds_gangs; /* it says without_match: hold */
	bool config_sent; /* slurm.conf includes it as it is now (lib/policy/node_policy.h) */
	const struct osp_error *config_error; /* NULL: right, or not checked */
	/* The levels and partitions it names that do not exist (lib/policy/config_names.h): first
	 * levels, then partitions missing from slurm.conf, which somebody may have made since. */
	const struct osp_error *unknown_names;
	uint32_t unknown_levels, unknown_partitions;
	const char *topology_path;
	const struct osp_error *topology_error;
	/* The copies of what slurmctld took last, if our file differs from it or is wrong; NULL:
	 * the same, none, or unknown. */
	const char *config_copy;
	const char *topology_copy;
	bool copies_hidden; /* the caller may not look there */
	/* What `topology watch` left beside the topology, in seconds since 1970; 0: unknown. */
	int64_t held_s; /* when an answer was held; 0: none is */
	/* when a cloud last reported where nodes are; 0: no place is a cloud's; -1: nobody knows */
	int64_t asked_s;
	const char *unasked; /* why the cloud cannot be asked where a node is that starts; NULL */
	const char *kept; /* nodes whose places were kept since, as calls about them failed; NULL */
	int64_t kept_s;	  /* when the oldest of these was reported; 0: nobody knows */
	int64_t now_s;	  /* on this host */
	uint32_t watch_interval_s; /* watch.interval_s of onespine.yaml */
	bool reserves_block_ends;  /* watch.block_ends of onespine.yaml */
	const char *launch_groups; /* watch.launch_groups of onespine.yaml; NULL: off */
	const char *fleet_groups;  /* the same as ParallelCluster's own file has it; NULL: it is
				      not clear, or cannot be read here */
	const char *fleet_unclear; /* why it is not clear; NULL: it is */
	bool fleet_several;	   /* ParallelCluster launches some nodes into one of several */
	bool launches;		   /* nodes are launched for gangs of some partition */
	uint32_t report_port;	   /* watch.report_port of onespine.yaml; 0: off */
	bool watch_enabled;	   /* systemd starts onespine-topology-watch.service at boot */
	const char *uncovered;	   /* hostlist of slurm.conf's nodes in no domain; NULL: none */
	uint32_t uncovered_count;
	const char *asleep;	      /* hostlist: nodes that nobody wakes; NULL: none */
	const char *asleep_partition; /* the first partition with any */
	uint32_t node_count;	      /* of slurm.conf */
	bool topology_yaml;	      /* Slurm reads topology.yaml, and no longer topology.conf */

	/* About the munged on this host; NULL: there is none, or Slurm does not use it. */
	const char *munge_version; /* "0.5.15" */
	const char *munge_fix;	   /* CVE-2026-25506, if its package's changelog names it; "" if
				      there is no changelog; else NULL */
	uint32_t munge_outdated;   /* process of a munged whose file was replaced since; 0: none */
	bool munge_looked_at;
	bool munge_answers;
	const char *munge_socket;
	const char *gate_key_file;   /* the gate's keys, instead of MUNGE; NULL: it uses MUNGE */
	const char *gate_key_wrong;  /* why they cannot be used; NULL: they can, or it is unknown */
	bool gate_key_missing;	     /* because there is no such file */
	bool gate_key_hidden;	     /* the caller may not read them, as nobody but root should */
	const char *report_key_file; /* the keys of reports; NULL: MUNGE, or there are none */
	const char *report_key_wrong;	 /* why they cannot be used; NULL: they can, or unknown */
	bool report_key_missing;	 /* because there is no such file */
	const char *state_location_kind; /* a local file system, "ext4"; NULL: shared or unknown */
	const char *topology_location_kind; /* the same of the topology */
	struct osp_running running;
	struct osp_doctor_gate gate;
	bool binds;		  /* there are GPUs, and a partition whose steps are bound */
	bool cores_confined;	  /* cgroup.conf has ConstrainCores=yes */
	bool recheck_enabled;	  /* systemd starts onespine-recheck.timer at boot */
	bool ends_drained;	  /* their instances, by clustermgtd (lib/conf/clustermgtd.h) */
	const char *dynamic_node; /* the first of ParallelCluster's dynamic nodes; NULL: none */
	uint32_t rechecks_left;	  /* nodes that a killed recheck still held */
	uint32_t first_free_port; /* net.ipv4.ip_unprivileged_port_start; 0: unknown, or all free */
	bool first_free_port_known;
	bool users_netfilter_logged; /* net.netfilter.nf_log_all_netns is not 0 */
	const struct osp_cloud_facts
		*cloud;	       /* lib/doctor/cloud_facts.h; NULL: no cloud was asked */
	bool hangs_unknowable; /* this host reports neither pressure (PSI) nor delays
				  (lib/health/hang.h) */
};

/* --- findings --------------------------------------------------------------------------------- */

enum osp_doctor_finding_level {
	OSP_DOCTOR_WRONG,   /* something that should work does not */
	OSP_DOCTOR_WARNING, /* it works, but could work better or stop working */
};

struct osp_doctor_finding {
	const char *name; /* of the rule */
	enum osp_doctor_finding_level level;
	const char *sentence;
	const char *cure;
	const char
		*line; /* "Key=Value" that slurm.conf does not have at all, so that a file of ours
			  may set it; NULL: a person has to change something */
	bool setup_writes; /* the line, though it is a warning's */
};

struct osp_doctor_findings {
	struct osp_doctor_finding *items;
	uint32_t count;
	uint32_t room;
	uint32_t looked_at; /* rules that were judged */
	struct osp_arena arena;
	bool failed;
};

#define OSP_DOCTOR_FINDINGS_INIT                                                                   \
	{                                                                                          \
		NULL, 0, 0, 0, OSP_ARENA_INIT, false                                               \
	}

/* Returns the version of the Slurm that is installed, by its own plugin in one of PluginDir's
 * directories; 0 if none of them has it. */
uint32_t osp_doctor_slurm(const struct osp_plugin_folder *folders, size_t count);

/*
 * Returns whether this host's site takes the part: its package is here, or slurm.conf or
 * plugstack.conf names what is in it. Rules about other parts find nothing. Of the gate,
 * `gate.prolog` and `gate.epilog` must be known.
 */
bool osp_takes_part(const struct osp_doctor_facts *facts, enum osp_part part);

/*
 * Returns the packages that could be of use on this host, that it lacks and that nothing names,
 * each with what the host does not do without it: "onespine-gate (nodes are not checked before a
 * job)"; "" if there are none. The caller frees it with free(); NULL if memory ran out.
 */
char *osp_doctor_lacking(const struct osp_doctor_facts *facts);

/* Judges the facts by every rule, in the table's order. Returns 0, or -1 if memory ran out. */
int osp_doctor_judge(const struct osp_doctor_facts *facts, struct osp_doctor_findings *findings);
void osp_doctor_findings_free(struct osp_doctor_findings *findings);

/* Returns the number of findings of that level. */
uint32_t osp_doctor_count(const struct osp_doctor_findings *findings,
			  enum osp_doctor_finding_level level);

/*
 * Returns the lines that slurm.conf does not have at all and without which something is wrong, for
 * a file that slurm.conf includes; "" if there are none. The caller frees it with free(); NULL if
 * memory ran out.
 */
char *osp_doctor_piece(const struct osp_doctor_findings *findings);

/* Returns the name and the one-line explanation of a rule, to list them; NULL past the end. */
const char *osp_doctor_rule(size_t index, const char **explanation);

#endif
