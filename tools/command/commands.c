/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.c - the commands of `onespine`, in one table */
#include "tools/command/options.h"

#define RECHECK_NODES_MAX  4096
#define REPRODUCE_JOBS_MAX 1000

static const struct osp_command commands[OSP_COMMAND_COUNT] = {
	[OSP_TOPOLOGY_IMPORT] =
		{.name = "topology import",
		 .arguments = "FILE...",
		 .arguments_least = 1,
		 .arguments_most = 100000,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "make a topology file from the answer of a cloud or a fabric manager",
		 .details =
			 "Reads FILEs (- is standard input; several are pages of one answer) and "
			 "writes one topology. If anything in them is wrong, nothing is written."},
	[OSP_TOPOLOGY_SHOW] = {.name = "topology show",
			       .arguments = "[FILE]",
			       .arguments_most = 1,
			       .complete = OSP_COMPLETE_FILE,
			       .summary = "list levels, domains and nodes of a topology",
			       .details = "Without FILE: the topology in force."},
	[OSP_TOPOLOGY_CHECK] =
		{.name = "topology check",
		 .arguments = "[FILE]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "say what is right and wrong with a topology",
		 .details = "Without FILE: the topology in force. Where slurmctld answers, also "
			    "names the nodes that only one of the two knows.",
		 .answers = "the file is refused, or does not match Slurm's nodes"},
	[OSP_TOPOLOGY_DISCOVER] =
		{.name = "topology discover",
		 .arguments = "",
		 .summary = "ask a cloud or a fabric where the nodes are",
		 .details = "Asks for the places of Slurm's nodes that run, or of those in MAP. "
			    "With -o the answer is compared with FILE, for the nodes that could "
			    "not have changed: if more than 10 % of them lose their place or move, "
			    "the answer is held, the exit status is 3, and FILE stays as it is. "
			    "FILE.asked says when the places were asked for.",
		 .answers = "no answer, or a wrong one; the last good one stays"},
	[OSP_TOPOLOGY_WATCH] =
		{.name = "topology watch",
		 .arguments = "",
		 .summary = "ask again and again where the nodes are, as a service",
		 .details =
			 "Asks as topology discover does, every interval and at once when a node "
			 "runs anew, has booted or is another instance, and writes the topology in "
			 "force, or FILE. Runs until a signal ends it; "
			 "onespine-topology-watch.service runs it."},
	[OSP_TOPOLOGY_SURVEY] =
		{.name = "topology survey",
		 .arguments = "",
		 .summary = "say which gangs a capacity reservation can hold on one spine",
		 .details = "Before anything is launched: asks EC2 for the reservations' places "
			    "and sizes. If EC2 knows the place of a reservation only above its "
			    "spine, none of its instances counts.",
		 .answers = "none of its instances is on a known spine"},
	[OSP_TOPOLOGY_ACCEPT] =
		{.name = "topology accept",
		 .arguments = "[FILE]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "put the answer that was held in force",
		 .details = "Puts FILE.held in force as FILE; without FILE, that of the "
			    "topology in force.",
		 .answers = "what was held cannot be put in force"},
	[OSP_CONFIG_CHECK] =
		{.name = "config check",
		 .arguments = "[FILE]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "say what is right and wrong with onespine.yaml",
		 .details =
			 "Without FILE: onespine.yaml beside slurm.conf. Where slurmctld answers, "
			 "also checks the names of partitions.",
		 .answers = "the file is refused, or names what does not exist"},
	[OSP_CONFIG_SHOW] =
		{.name = "config show",
		 .arguments = "[FILE]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "print the configuration in force, and where each value is from",
		 .details = "Without FILE: onespine.yaml beside slurm.conf."},
	[OSP_FIT] = {.name = "fit",
		     .arguments = "",
		     .summary = "say if there is room for such a gang now, and where",
		     .details = "Asks slurmctld, as sbatch --test-only does, and says what sbatch "
				"would refuse; with files, looks at the nodes that are idle in "
				"them. Answers as if no job waited: \"would start now\" means "
				"that there is room; jobs that wait and come first may take it "
				"before.",
		     .answers = "it would not start now"},
	[OSP_WHY] = {.name = "why",
		     .arguments = "[JOB]",
		     .arguments_most = 1,
		     .complete = OSP_COMPLETE_JOB,
		     .summary = "say why a gang waits, where it runs, or how it ended",
		     .details = "Without a JOB: one line for each of your waiting jobs; for root, "
				"for everyone's.",
		     .answers = "there is no such job"},
	[OSP_MAP] = {.name = "map",
		     .arguments = "",
		     .summary = "draw the fabric: spines, leaves, nodes by state and job",
		     .details = "Up to 1,024 nodes, each node has a cell of its own; above that, "
				"each leaf has one. The ten largest jobs are named, or those of "
				"--job and --user."},
	[OSP_LAYOUT] =
		{.name = "layout",
		 .arguments = "",
		 .summary = "show what a training job's parallel groups send over which level",
		 .details = "Works out a layout twice, with data and with pipelines inside the "
			    "lower level: how far apart the ranks of a group are, over how many "
			    "domains it lies, what it sends a step, the segments, and the order of "
			    "nodes. Without --topology and --job it knows nothing of the fabric.",
		 .answers = "the topology is too small, or groups cannot lie together as asked"},
	[OSP_AUDIT] =
		{.name = "audit",
		 .arguments = "",
		 .summary = "say if every running gang is where it asked to be",
		 .details = "Looks at where the nodes are, not at what the scheduler says. Jobs of "
			    "partitions in advise mode are listed separately and are no violation.",
		 .answers = "at least one gang is spread over several domains"},
	[OSP_SET] = {.name = "set",
		     .arguments = "JOB",
		     .arguments_least = 1,
		     .arguments_most = 1,
		     .complete = OSP_COMPLETE_JOB,
		     .summary = "change what a pending gang asks for",
		     .details = "For the job's owner, operators and administrators.",
		     .answers = "slurmctld refused it"},
	[OSP_HOSTS] =
		{.name = "hosts",
		 .arguments = "[JOB]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_JOB,
		 .summary = "list a job's hosts in the order of the fabric, for launchers",
		 .details = "Without JOB and --nodes: the hosts of the job that this runs in "
			    "(SLURM_JOB_NODELIST). Those of a gang are in the order of its node "
			    "ranks (ONESPINE_NODE_RANK), unless --topology or --layout asks for "
			    "another. For other hosts: warns where consecutive ranks change the "
			    "switch more often in Slurm's order. With --layout: in the order that "
			    "'onespine layout' finds for these parallel groups.",
		 .answers = "there is no such job, or the host of --only is not among its hosts"},
	[OSP_BIND] = {.name = "bind",
		      .arguments = "",
		      .complete = OSP_COMPLETE_WORDS,
		      .words = "run",
		      .summary =
			      "show which cores, memory and NICs each task of a node gets, and why",
		      .details = "Plans only. Without --topology: for this machine, inside the "
				 "CPUs that this process may use."},
	[OSP_BIND_RUN] = {.name = "bind run",
			  .arguments = "COMMAND...",
			  .arguments_least = 1,
			  .arguments_most = 100000,
			  .complete = OSP_COMPLETE_FILE,
			  .summary =
				  "bind this child of a launcher near its GPUs, then run COMMAND",
			  .details =
				  "LOCAL_RANK and LOCAL_WORLD_SIZE say which child it is. Cores "
				  "are set, memory is preferred. If something goes wrong, one line "
				  "says so and COMMAND still runs; the exit status is COMMAND's."},
	[OSP_ENV] = {.name = "env",
		     .arguments = "[FILE...]",
		     .arguments_most = 100000,
		     .complete = OSP_COMPLETE_FILE,
		     .summary = "show which variables a job needs here, which do harm, and why",
		     .details = "Without --for: for this node and this environment. Runs no "
				"program: a fact that no file shows stays unknown. FILEs are "
				"further scripts of --script.",
		     .answers = "a setting was found that makes jobs fail"},
	[OSP_CHECK] = {.name = "check",
		       .arguments = "",
		       .summary = "say if this node is fit to run a job",
		       .details = "Looks at GPUs, links, network, host and mounts, and changes "
				  "nothing; deeper than passive it loads the GPUs. Each check runs "
				  "in a process of its own: a crash or a hang ends only that. If a "
				  "check failed, the last line is a reason for Slurm.",
		       .answers = "at least one check failed: the node should not carry a job"},
	[OSP_HISTORY] =
		{.name = "history",
		 .arguments = "[NODE|UUID...]",
		 .complete = OSP_COMPLETE_NODE,
		 .arguments_most = 100000,
		 .summary = "show earlier checks of a node or a GPU: strikes, lemons, trends",
		 .details =
			 "Reads what 'onespine check' kept as root, on this node and in the shared "
			 "folder. NODE is a node's name or an instance's id; the first characters "
			 "of a UUID are enough. Without any: all nodes and GPUs that have failed.",
		 .answers = "a lemon is among them: failures above the policy's strikes"},
	[OSP_DOCTOR] =
		{.name = "doctor",
		 .arguments = "",
		 .summary = "find what could keep Onespine from working here, and the cure",
		 .details = "Looks at slurm.conf and what it includes, the plugins in PluginDir, "
			    "plugstack.conf and our own files on this host, and asks the slurmctld "
			    "that runs whether it takes gangs. Changes nothing.",
		 .answers = "something is wrong; warnings alone are none"},
	[OSP_SETUP] =
		{.name = "setup",
		 .arguments = "",
		 .summary = "put Onespine's lines into this host's Slurm files, or take them out",
		 .details =
			 "Writes the lines that slurm.conf lacks into slurm-onespine.conf beside "
			 "it, includes that file, and names onespine.so in plugstack.conf. Prints "
			 "the changes that a person has to make. A second run changes nothing. If "
			 "slurmctld would not start with the result, no file is changed.",
		 .answers = "something is left for a person to do"},
	[OSP_GATE_PROLOG] =
		{.name = "gate prolog",
		 .arguments = "",
		 .summary = "the former name of 'onespine-gate prolog', which it executes",
		 .details = "For Prologs of slurmd that call it. Release 0.4 removes it: call "
			    "onespine-gate prolog by its path, which 'onespine doctor' names.",
		 .answers =
			 "this node failed and could not report it: the job must not start here"},
	[OSP_GATE_EPILOG] = {.name = "gate epilog",
			     .arguments = "",
			     .summary =
				     "the former name of 'onespine-gate epilog', which it executes",
			     .details =
				     "For Epilogs of slurmd that call it. Release 0.4 removes it."},
	[OSP_GATE_KEY] =
		{.name = "gate key",
		 .arguments = "[new|add|use|drop] [NAME]",
		 .arguments_most = 2,
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "new add use drop",
		 .summary = "make, show and change the gate's key, where Slurm has no MUNGE",
		 .details = "For root. Without an argument: lists the keys and names the one that "
			    "seals. 'new' makes the file. To change the key without a stop: 'add' "
			    "a key, 'use' it, 'drop' the old ones, and copy the file to all nodes "
			    "after each of the three. NAME is the new key's; by default the day.",
		 .answers = "without an argument: there is no file"},
	[OSP_RECHECK] =
		{.name = "recheck",
		 .arguments = "[NODE]...",
		 .complete = OSP_COMPLETE_NODE,
		 .arguments_most = RECHECK_NODES_MAX,
		 .summary = "check drained nodes again and give back those that are well",
		 .details = "For root, on a host where srun works. Checks the named nodes, or all "
			    "that are drained for a reason that begins with 'onespine: '; it never "
			    "touches a node that somebody else drained. Each node is checked in "
			    "full depth inside a maintenance reservation; a node that does not "
			    "pass is drained again. A node that was given back too often stays out "
			    "unless it is named.",
		 .answers = "at least one node was not given back; with --dry-run: would not be "
			    "checked"},
	[OSP_QUARANTINE] =
		{.name = "quarantine",
		 .arguments = "[show | end | return NODE...]",
		 .arguments_most = RECHECK_NODES_MAX,
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "show end return",
		 .summary =
			 "list bad instances that ParallelCluster's clustermgtd must not end yet",
		 .details = "Lists the nodes that the gate keeps out of use instead of draining "
			    "them (gate: {quarantine: K} in onespine.yaml). show: the text for a "
			    "case with the cloud's support. end: drain the node, so that "
			    "clustermgtd ends its instance. return: let jobs start there again. "
			    "NODE is a node's name or an instance's id.",
		 .answers = "slurmctld did not take a change"},
	[OSP_REPRODUCE] =
		{.name = "reproduce",
		 .arguments = "FOLDER [JOB]...",
		 .arguments_least = 1,
		 .arguments_most =
			 REPRODUCE_JOBS_MAX,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "write Slurm's files and jobs without Onespine, for a bug report to "
			    "SchedMD",
		 .details = "Writes a new FOLDER: slurm.conf and what it includes without our "
			    "lines and without passwords, a line of sbatch for each JOB (default: "
			    "all that run or wait), nodes, reservations and versions. A gang that "
			    "runs is written with its nodes (--nodelist), a gang that waits with "
			    "--switches. Changes nothing. Users' programs, paths and names of jobs "
			    "are left out; look at the rest before you send it."},
	[OSP_COMPLETION] = {.name = "completion",
			    .arguments = "SHELL",
			    .arguments_least = 1,
			    .arguments_most = 1,
			    .complete = OSP_COMPLETE_WORDS,
			    .words = "bash zsh",
			    .summary = "print the completion script of a shell",
			    .details = "SHELL is bash or zsh."},
	[OSP_HELP] = {.name = "help",
		      .arguments = "[COMMAND]",
		      .arguments_most = 2,
		      .complete = OSP_COMPLETE_WORDS,
		      .words = "topology config fit why map layout audit set hosts bind env check "
			       "doctor setup gate history recheck quarantine completion",
		      .summary = "explain a command",
		      .details = ""},
};

const struct osp_command *osp_command(enum osp_command_id id)
{
	return &commands[id];
}
