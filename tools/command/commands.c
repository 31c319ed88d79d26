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
		 .summary = "turn what a cloud or a fabric manager says into a topology file",
		 .details =
			 "Reads FILEs (- is standard input; several are pages of one answer) and "
			 "writes one topology. Nothing is written unless all of it is right."},
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
		 .details = "Asks for the places of Slurm's nodes that run, or of a MAP's. With "
			    "-o the answer is compared with what FILE holds, over the nodes that "
			    "could not have changed: where more than 10 % of them lose their "
			    "place or move it is held, with exit status 3, and FILE stays as it "
			    "is. FILE.asked says when the places were asked for.",
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
		 .details =
			 "Before anything is launched: asks EC2 for the reservations' places and "
			 "sizes. Where the place of one is known only above its spine, none of its "
			 "instances counts.",
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
		     .summary = "would such a gang start now, and where?",
		     .details = "Asks slurmctld, as sbatch --test-only does, and says what sbatch "
				"would refuse; with files, looks at the nodes that are idle in "
				"them. Jobs that wait with a higher priority are not looked at.",
		     .answers = "it would not start now"},
	[OSP_WHY] =
		{.name = "why",
		 .arguments = "[JOB]",
		 .arguments_most = 1,
		 .complete = OSP_COMPLETE_JOB,
		 .summary = "why a gang waits, where it runs, or what became of it",
		 .details =
			 "Without a JOB: each of your waiting jobs in a line, for root everyone's.",
		 .answers = "there is no such job"},
	[OSP_MAP] = {.name = "map",
		     .arguments = "",
		     .summary = "draw the fabric: spines, leaves, nodes by state and job",
		     .details = "Up to 1,024 nodes each has its own cell; above that, each leaf, "
				"and the ten "
				"largest jobs are named, or those of --job and --user."},
	[OSP_LAYOUT] =
		{.name = "layout",
		 .arguments = "",
		 .summary = "what a training job's parallel groups send over which level",
		 .details =
			 "Works out a layout twice, with data and with pipelines inside the lower "
			 "level: how far apart the ranks of a group are, over how many domains it "
			 "lies, what it sends a step, the segments, and the order of nodes. "
			 "Without --topology and --job nothing is known of the fabric.",
		 .answers = "the topology is too small, or groups cannot lie together as asked"},
	[OSP_AUDIT] =
		{.name = "audit",
		 .arguments = "",
		 .summary = "is every running gang really where it asked to be?",
		 .details = "Looks at where the nodes are, not at what the scheduler says. Jobs of "
			    "partitions in advise mode are listed apart and are no violation.",
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
		      .summary = "which cores, memory and NICs each task of a node gets, and why",
		      .details = "Plans only. Without --topology: for this machine, inside the "
				 "CPUs that this process may use."},
	[OSP_BIND_RUN] =
		{.name = "bind run",
		 .arguments = "COMMAND...",
		 .arguments_least = 1,
		 .arguments_most = 100000,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "bind this child of a launcher near its GPUs, then run COMMAND",
		 .details = "LOCAL_RANK and LOCAL_WORLD_SIZE say which child it is. Cores are "
			    "set, memory is preferred. Whatever goes wrong is said in a line, and "
			    "COMMAND runs all the same; its exit status is that of COMMAND."},
	[OSP_ENV] = {.name = "env",
		     .arguments = "[FILE...]",
		     .arguments_most = 100000,
		     .complete = OSP_COMPLETE_FILE,
		     .summary = "which variables a job needs here, which do harm, and why",
		     .details =
			     "Without --for: of this node and this environment. Runs nothing, and "
			     "what no file says stays unknown. FILEs are further scripts of "
			     "--script.",
		     .answers = "a setting was found that makes jobs fail"},
	[OSP_CHECK] =
		{.name = "check",
		 .arguments = "",
		 .summary = "is this node fit to carry a job?",
		 .details = "Looks at GPUs, links, network, host and mounts, and changes nothing; "
			    "deeper than passive it loads the GPUs. Each check runs in a process "
			    "of its own: a crash or a hang ends only that. When something failed, "
			    "the last line is a reason for Slurm.",
		 .answers = "at least one check failed: the node should not carry a job"},
	[OSP_HISTORY] =
		{.name = "history",
		 .arguments = "[NODE|UUID...]",
		 .complete = OSP_COMPLETE_NODE,
		 .arguments_most = 100000,
		 .summary = "what earlier checks say of a node or a GPU: strikes, lemons, trends",
		 .details =
			 "Reads what 'onespine check' kept as root, on this node and in the "
			 "shared folder. NODE is a node's name or an instance's id; of a UUID the "
			 "start is enough. Without one: all that have failed.",
		 .answers = "a lemon is among them: failures above the policy's strikes"},
	[OSP_DOCTOR] =
		{.name = "doctor",
		 .arguments = "",
		 .summary = "what could keep Onespine from working here, and the cure",
		 .details = "Looks at slurm.conf and what it includes, the plugins in PluginDir, "
			    "plugstack.conf and our own files on this host, and asks the slurmctld "
			    "that runs whether it takes gangs. Changes nothing.",
		 .answers = "something is wrong; warnings alone are none"},
	[OSP_SETUP] =
		{.name = "setup",
		 .arguments = "",
		 .summary = "put Onespine's lines into this host's Slurm files, or take them out",
		 .details =
			 "Writes what slurm.conf lacks into slurm-onespine.conf beside it and "
			 "includes that, and names onespine.so in plugstack.conf. What a person "
			 "has to change is printed. Run again it changes nothing. Where slurmctld "
			 "would not start with it, nothing is changed at all.",
		 .answers = "something is left for a person to do"},
	[OSP_GATE_PROLOG] =
		{.name = "gate prolog",
		 .arguments = "",
		 .summary = "the former name of 'onespine-gate prolog', which it executes",
		 .details = "For Prologs of slurmd that were written for it; from 0.4 on it is no "
			    "more: write onespine-gate prolog, with its path, as 'onespine "
			    "doctor' names it.",
		 .answers =
			 "this node failed and could not report it: the job must not start here"},
	[OSP_GATE_EPILOG] = {.name = "gate epilog",
			     .arguments = "",
			     .summary =
				     "the former name of 'onespine-gate epilog', which it executes",
			     .details = "For Epilogs of slurmd that were written for it; from 0.4 "
					"on it is no more."},
	[OSP_GATE_KEY] =
		{.name = "gate key",
		 .arguments = "[new|add|use|drop] [NAME]",
		 .arguments_most = 2,
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "new add use drop",
		 .summary = "make, show and change the gate's key, where Slurm has no MUNGE",
		 .details = "For root. Without a word: which keys there are, and which one seals. "
			    "'new' makes the file. To change the key without a stop: 'add' a key, "
			    "'use' it, 'drop' the old ones, and copy the file to all nodes after "
			    "each of the three. NAME is the new key's; by default the day.",
		 .answers = "without a word: there is no file"},
	[OSP_RECHECK] =
		{.name = "recheck",
		 .arguments = "[NODE]...",
		 .complete = OSP_COMPLETE_NODE,
		 .arguments_most = RECHECK_NODES_MAX,
		 .summary = "check drained nodes again and give back those that are well",
		 .details =
			 "For root, on a host where srun works. Tries the nodes named, or all "
			 "that are drained for a reason that begins with 'onespine: '; others' "
			 "drains are never touched. Each is checked in full depth inside a "
			 "maintenance reservation; a node that does not pass is drained again. One "
			 "that was given back too often stays out unless it is named.",
		 .answers = "at least one node was not given back; with --dry-run: would not be "
			    "checked"},
	[OSP_QUARANTINE] =
		{.name = "quarantine",
		 .arguments = "[show | end | return NODE...]",
		 .arguments_most = RECHECK_NODES_MAX,
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "show end return",
		 .summary = "bad instances that ParallelCluster's clustermgtd must not end yet",
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
		 .arguments_most = REPRODUCE_JOBS_MAX,
		 .complete = OSP_COMPLETE_FILE,
		 .summary = "Slurm's files and the jobs without Onespine, for a case with Slurm's "
			    "makers",
		 .details =
			 "Writes a new FOLDER: slurm.conf and what it includes without our lines "
			 "and without passwords, a line of sbatch for each JOB (default: all that "
			 "run or wait), nodes, reservations and versions. A gang that runs gets "
			 "its nodes by --nodelist, one that waits --switches. Changes nothing. "
			 "Users' programs, paths and names of jobs are left out; look at the rest "
			 "before you send it."},
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
