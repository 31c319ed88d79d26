/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the options of `onespine`'s commands, in one table; commands.c has the commands */
#include "tools/command/options.h"
#include "tools/command/topology_sources.h"

#define BIT(command) (1u << (command))
#define ON_FILES                                                                                   \
	(BIT(OSP_FIT) | BIT(OSP_WHY) | BIT(OSP_MAP) | BIT(OSP_AUDIT) | BIT(OSP_HOSTS) |            \
	 BIT(OSP_LAYOUT))
#define ALL_COMMANDS (BIT(OSP_COMMAND_COUNT) - 1)
#define PRINTS_JSON                                                                                \
	(ON_FILES | BIT(OSP_TOPOLOGY_SHOW) | BIT(OSP_TOPOLOGY_DISCOVER) |                          \
	 BIT(OSP_TOPOLOGY_SURVEY) | BIT(OSP_TOPOLOGY_CHECK) | BIT(OSP_CONFIG_CHECK) |              \
	 BIT(OSP_CONFIG_SHOW) | BIT(OSP_SET) | BIT(OSP_BIND) | BIT(OSP_ENV) | BIT(OSP_CHECK) |     \
	 BIT(OSP_DOCTOR) | BIT(OSP_SETUP) | BIT(OSP_HISTORY) | BIT(OSP_RECHECK) |                  \
	 BIT(OSP_QUARANTINE) | BIT(OSP_GATE_KEY))

#define SOURCE_WORD(word, help, ...) word " "
#define SOURCE_HELP(word, help, ...) word " (" help "), "

static const struct osp_option options[OSP_OPTION_COUNT] = {
	[OSP_OPTION_FROM] = {.name = "from",
			     .argument = "KIND",
			     .commands = BIT(OSP_TOPOLOGY_IMPORT),
			     .complete = OSP_COMPLETE_WORDS,
			     .words = OSP_TOPOLOGY_SOURCES(SOURCE_WORD) "onespine",
			     .help = "The kind of the FILEs: " OSP_TOPOLOGY_SOURCES(
				     SOURCE_HELP) "or onespine."},
	[OSP_OPTION_SOURCES] =
		{.name = "from",
		 .argument = "SOURCE[,SOURCE]",
		 .commands = BIT(OSP_TOPOLOGY_DISCOVER) | BIT(OSP_TOPOLOGY_WATCH),
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "ec2 infiniband nvlink topograph:",
		 .help = "ec2 (DescribeInstanceTopology, with the keys that an SDK would find), "
			 "infiniband (runs ibnetdiscover), topograph:FILE (what topograph writes), "
			 "nvlink (what nodes report to the watch), or several. nvlink beside "
			 "another source adds a level to its answer."},
	[OSP_OPTION_INTERVAL] = {.name = "interval",
				 .argument = "SECONDS",
				 .commands = BIT(OSP_TOPOLOGY_WATCH),
				 .help = "Ask at least once in SECONDS; 300 by default."},
	[OSP_OPTION_RESERVATION] = {.name = "reservation",
				    .argument = "IDS",
				    .commands = BIT(OSP_TOPOLOGY_SURVEY) | BIT(OSP_DOCTOR),
				    .help = "Capacity reservations, as cr-0123,cr-4567; with "
					    "doctor --cloud, those in which the nodes should run."},
	[OSP_OPTION_TO] = {.name = "to",
			   .argument = "KIND",
			   .commands = BIT(OSP_TOPOLOGY_IMPORT),
			   .complete = OSP_COMPLETE_WORDS,
			   .words = "onespine topology.conf topology.yaml",
			   .help = "The kind to write: onespine (the default), topology.conf, or "
				   "topology.yaml (Slurm 25.05 and later)."},
	[OSP_OPTION_NAME_MAP] = {.name = "nodes",
				 .argument = "MAP",
				 .commands = BIT(OSP_TOPOLOGY_IMPORT) | BIT(OSP_TOPOLOGY_DISCOVER) |
					     BIT(OSP_TOPOLOGY_WATCH) | BIT(OSP_DOCTOR),
				 .complete = OSP_COMPLETE_FILE,
				 .help = "Node names by id: a file of two columns, or the JSON of "
					 "describe-instances; with infiniband the ids are GUIDs of "
					 "adapters or host names."},
	[OSP_OPTION_TAG] =
		{.name = "tag",
		 .argument = "NAME",
		 .commands = BIT(OSP_TOPOLOGY_IMPORT),
		 .help = "With a MAP in JSON: the tag that holds the node name, instead of "
			 "the private DNS name."},
	[OSP_OPTION_ALLOW_MISSING] = {.name = "allow-missing",
				      .commands = BIT(OSP_TOPOLOGY_IMPORT),
				      .help = "Leave out, with a warning, an entry that lacks a "
					      "topology or a name, or contradicts an earlier one."},
	[OSP_OPTION_LEVELS] =
		{.name = "levels",
		 .argument = "LIST",
		 .commands = BIT(OSP_TOPOLOGY_IMPORT),
		 .help = "Names of the levels, bottom first; leaf,spine,core by default."},
	[OSP_OPTION_COLUMNS] =
		{.name = "columns",
		 .argument = "LIST",
		 .commands = BIT(OSP_TOPOLOGY_IMPORT),
		 .help = "With csv: the host's column, then those of its switches, top "
			 "first; by the header's names by default, else in its order."},
	[OSP_OPTION_ADAPTERS] =
		{.name = "adapters",
		 .argument = "PATTERN",
		 .commands = BIT(OSP_TOPOLOGY_IMPORT) | BIT(OSP_TOPOLOGY_DISCOVER) |
			     BIT(OSP_TOPOLOGY_WATCH),
		 .help = "With infiniband: only adapters whose name matches, as mlx5_[0-7]; those "
			 "of a storage network would join separate domains."},
	[OSP_OPTION_OUTPUT] = {.name = "output",
			       .letter = 'o',
			       .argument = "FILE",
			       .commands = BIT(OSP_TOPOLOGY_IMPORT) | BIT(OSP_TOPOLOGY_DISCOVER) |
					   BIT(OSP_TOPOLOGY_WATCH),
			       .complete = OSP_COMPLETE_FILE,
			       .help = "Write to FILE, whole or not at all, instead of standard "
				       "output."},
	[OSP_OPTION_SHOW_NODES] = {.name = "nodes",
				   .commands = BIT(OSP_TOPOLOGY_SHOW),
				   .help = "A line for each node instead: where its place comes "
					   "from, when it was asked, and whether it holds."},
	[OSP_OPTION_NODES] = {.name = "nodes",
			      .letter = 'N',
			      .argument = "COUNT",
			      .commands = BIT(OSP_FIT),
			      .help = "Size of the gang: a number, or LEAST-MOST."},
	[OSP_OPTION_GANG] = {.name = "gang",
			     .argument = "LEVEL",
			     .argument_optional = true,
			     .commands = BIT(OSP_FIT),
			     .complete = OSP_COMPLETE_WORDS,
			     .words = "leaf spine core zone",
			     .help = "Level that holds the gang; the partition's by default. "
				     "LEVEL,prefer: that level or the next one up with room, at "
				     "most the partition's."},
	[OSP_OPTION_NODELIST] = {.name = "nodelist",
				 .letter = 'w',
				 .argument = "HOSTLIST",
				 .complete = OSP_COMPLETE_NODE,
				 .commands = BIT(OSP_FIT),
				 .help = "Nodes that must be in the gang."},
	[OSP_OPTION_EXCLUDE] = {.name = "exclude",
				.letter = 'x',
				.argument = "HOSTLIST",
				.complete = OSP_COMPLETE_NODE,
				.commands = BIT(OSP_FIT),
				.help = "Nodes that must not be in the gang."},
	[OSP_OPTION_FIT_CONSTRAINT] = {.name = "constraint",
				       .letter = 'C',
				       .argument = "FEATURES",
				       .commands = BIT(OSP_FIT),
				       .help = "Only nodes with these features."},
	[OSP_OPTION_FIT_TASKS] =
		{.name = "ntasks",
		 .letter = 'n',
		 .argument = "COUNT",
		 .commands = BIT(OSP_FIT),
		 .help = "Tasks; slurmctld judges this option and those that follow."},
	[OSP_OPTION_FIT_TASKS_PER_NODE] = {.name = "ntasks-per-node",
					   .argument = "COUNT",
					   .commands = BIT(OSP_FIT),
					   .help = "Tasks of a node."},
	[OSP_OPTION_FIT_CPUS_PER_TASK] = {.name = "cpus-per-task",
					  .letter = 'c',
					  .argument = "COUNT",
					  .commands = BIT(OSP_FIT),
					  .help = "Cores of a task."},
	[OSP_OPTION_FIT_GPUS] = {.name = "gpus",
				 .letter = 'G',
				 .argument = "[TYPE:]COUNT",
				 .commands = BIT(OSP_FIT),
				 .help = "GPUs of the whole gang."},
	[OSP_OPTION_FIT_GRES] = {.name = "gres",
				 .argument = "LIST",
				 .commands = BIT(OSP_FIT),
				 .help = "GPUs and other resources of each node, as gpu:h100:8."},
	[OSP_OPTION_FIT_MEM] = {.name = "mem",
				.argument = "SIZE",
				.commands = BIT(OSP_FIT),
				.help = "Memory of each node, as 900G."},
	[OSP_OPTION_FIT_EXCLUSIVE] = {.name = "exclusive",
				      .argument = "WHOM",
				      .argument_optional = true,
				      .commands = BIT(OSP_FIT),
				      .help = "The gang shares its nodes with no other job."},
	[OSP_OPTION_FIT_TIME] = {.name = "time",
				 .letter = 't',
				 .argument = "TIME",
				 .commands = BIT(OSP_FIT),
				 .help = "Time limit."},
	[OSP_OPTION_FIT_BEGIN] = {.name = "begin",
				  .letter = 'b',
				  .argument = "TIME",
				  .commands = BIT(OSP_FIT),
				  .help = "Not before this time."},
	[OSP_OPTION_FIT_RESERVATION] = {.name = "reservation",
					.argument = "NAME",
					.commands = BIT(OSP_FIT),
					.help = "Nodes of this reservation."},
	[OSP_OPTION_FIT_LICENSES] = {.name = "licenses",
				     .letter = 'L',
				     .argument = "LIST",
				     .commands = BIT(OSP_FIT),
				     .help = "Licenses."},
	[OSP_OPTION_FIT_ACCOUNT] = {.name = "account",
				    .letter = 'A',
				    .argument = "NAME",
				    .commands = BIT(OSP_FIT),
				    .help = "The account that pays."},
	[OSP_OPTION_FIT_QOS] = {.name = "qos",
				.letter = 'q',
				.argument = "NAME",
				.commands = BIT(OSP_FIT),
				.help = "The quality of service."},
	[OSP_OPTION_FIT_EXTRA] = {.name = "extra",
				  .argument = "EXPRESSION",
				  .commands = BIT(OSP_FIT),
				  .help = "Only nodes whose Extra fits, where Slurm looks at it."},
	[OSP_OPTION_GANG_DOMAINS] = {.name = "gang-domains",
				     .argument = "MAX",
				     .commands = BIT(OSP_FIT) | BIT(OSP_SET),
				     .help = "In at most MAX domains of the level, as few as can "
					     "be."},
	[OSP_OPTION_GANG_SEGMENT] =
		{.name = "gang-segment",
		 .argument = "LEVEL:NODES",
		 .commands = BIT(OSP_FIT) | BIT(OSP_SET),
		 .help = "In sets of NODES nodes, each in one domain of a lower level, as leaf:16; "
			 "nested with commas."},
	[OSP_OPTION_GANG_LAYOUT] = {.name = "gang-layout",
				    .argument = "AXES",
				    .commands = BIT(OSP_FIT) | BIT(OSP_SET),
				    .help = "The parallel groups, as tp8,pp8,dp8: tp, cp and ep "
					    "groups are kept together by segments."},
	[OSP_OPTION_GANG_KEEP] =
		{.name = "gang-keep",
		 .argument = "GROUP:LEVEL",
		 .commands = BIT(OSP_FIT) | BIT(OSP_SET),
		 .help = "Beside --gang-layout: each such group in one domain of a lower level, "
			 "as pp:leaf; several with commas."},
	[OSP_OPTION_FIT_SPARES] = {.name = "gang-spares",
				   .argument = "COUNT",
				   .commands = BIT(OSP_FIT),
				   .help = "COUNT more nodes; COUNT/segment: COUNT more in each "
					   "segment. slurmctld decides if policy allows them."},
	[OSP_OPTION_FREE] = {.name = "free",
			     .argument = "HOSTLIST",
			     .complete = OSP_COMPLETE_NODE,
			     .commands = BIT(OSP_FIT),
			     .help = "With --topology: take these nodes as idle, all others as "
				     "busy, and ask no Slurm."},
	[OSP_OPTION_SVG] = {.name = "svg",
			    .argument = "FILE",
			    .commands = BIT(OSP_MAP),
			    .complete = OSP_COMPLETE_FILE,
			    .help = "Write the map as an SVG picture to FILE, and print no map."},
	[OSP_OPTION_WIDTH] = {.name = "width",
			      .argument = "COLUMNS",
			      .commands = BIT(OSP_MAP),
			      .help = "Width of the map; the terminal's, or 100, by default."},
	[OSP_OPTION_MAP_JOB] =
		{.name = "job",
		 .argument = "JOB[,JOB...]",
		 .commands = BIT(OSP_MAP),
		 .complete = OSP_COMPLETE_JOB,
		 .help = "Show these jobs alone; the number of an array shows all its tasks."},
	[OSP_OPTION_MAP_USER] = {.name = "user",
				 .letter = 'u',
				 .argument = "NAME",
				 .commands = BIT(OSP_MAP),
				 .help = "Show this user's jobs alone."},
	[OSP_OPTION_PARTITION] = {.name = "partition",
				  .letter = 'p',
				  .argument = "NAME[,NAME...]",
				  .commands = BIT(OSP_FIT) | BIT(OSP_MAP),
				  .complete = OSP_COMPLETE_PARTITION,
				  .help = "Only the nodes of these partitions."},
	[OSP_OPTION_TOPOLOGY] = {.name = "topology",
				 .argument = "FILE",
				 .commands = ON_FILES,
				 .complete = OSP_COMPLETE_FILE,
				 .help = "Use this topology instead of the one in force."},
	[OSP_OPTION_STATE] =
		{.name = "state",
		 .argument = "FILE",
		 .commands = ON_FILES,
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Use a state saved by 'onespine map --json' instead of asking "
			 "Slurm."},
	[OSP_OPTION_SET_GANG] = {.name = "gang",
				 .argument = "REQUEST",
				 .commands = BIT(OSP_SET),
				 .complete = OSP_COMPLETE_WORDS,
				 .words = "leaf spine core zone off",
				 .help = "The new request: LEVEL, LEVEL@TIME, LEVEL,prefer or "
					 "off."},
	[OSP_OPTION_HOSTS] = {.name = "nodes",
			      .argument = "HOSTLIST",
			      .commands = BIT(OSP_HOSTS),
			      .help = "These hosts instead of a job's."},
	[OSP_OPTION_FORMAT] = {.name = "format",
			       .argument = "KIND",
			       .commands = BIT(OSP_HOSTS),
			       .complete = OSP_COMPLETE_WORDS,
			       .words = "plain torchrun mpirun slurm",
			       .help = "plain (a host a line, the default), torchrun (with the "
				       "node's rank), mpirun (for --map-by seq --hostfile) or "
				       "slurm (SLURM_HOSTFILE, for srun -m arbitrary)."},
	[OSP_OPTION_TASKS_PER_NODE] =
		{.name = "tasks-per-node",
		 .argument = "COUNT",
		 .commands = BIT(OSP_HOSTS),
		 .help = "With slurm and mpirun: lines for each host, 1 by default."},
	[OSP_OPTION_KEY_FILE] = {.name = "key-file",
				 .argument = "FILE",
				 .complete = OSP_COMPLETE_FILE,
				 .commands = BIT(OSP_GATE_KEY),
				 .help = "The file of keys (default: gate.key beside the site's "
					 "thresholds.yaml)."},
	[OSP_OPTION_ONLY] = {.name = "only",
			     .argument = "HOST",
			     .complete = OSP_COMPLETE_NODE,
			     .commands = BIT(OSP_HOSTS),
			     .help = "Print this host alone; with torchrun, print its options "
				     "without its name."},
	[OSP_OPTION_BIND_TOPOLOGY] =
		{.name = "topology",
		 .argument = "XML",
		 .commands = BIT(OSP_BIND),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "The machine: an XML file of hwloc (lstopo machine.xml) or of NCCL "
			 "(NCCL_TOPO_DUMP_FILE)."},
	[OSP_OPTION_TASKS] = {.name = "tasks",
			      .argument = "COUNT",
			      .commands = BIT(OSP_BIND),
			      .help = "Tasks on the node; one for each GPU by default."},
	[OSP_OPTION_GPUS_PER_TASK] =
		{.name = "gpus-per-task",
		 .argument = "COUNT",
		 .commands = BIT(OSP_BIND),
		 .help = "GPUs of each task; by default all GPUs are shared evenly."},
	[OSP_OPTION_CPUSET] = {.name = "cpuset",
			       .argument = "LIST",
			       .commands = BIT(OSP_BIND),
			       .help = "CPUs that may be used, as Linux lists them: 0-15,32-47."},
	[OSP_OPTION_BIND_SVG] = {.name = "svg",
				 .argument = "PICTURE",
				 .commands = BIT(OSP_BIND),
				 .complete = OSP_COMPLETE_FILE,
				 .help = "Write the plan as an SVG picture to PICTURE."},
	[OSP_OPTION_VERBOSE] = {.name = "verbose",
				.letter = 'v',
				.commands = BIT(OSP_BIND_RUN),
				.help = "Say on standard error what was bound, and why."},
	[OSP_OPTION_FOR] = {.name = "for",
			    .argument = "TYPE",
			    .commands = BIT(OSP_ENV) | BIT(OSP_BIND),
			    .help = "Answer for a type of the catalogue, as p5.48xlarge, instead "
				    "of this node."},
	[OSP_OPTION_WITH] = {.name = "with",
			     .argument = "LIST",
			     .commands = BIT(OSP_ENV),
			     .help = "Facts that hold, as nccl=2.21,ofi=1.9,nodes=4,container=yes; "
				     "an empty value is unknown."},
	[OSP_OPTION_SCRIPT] = {.name = "script",
			       .argument = "FILE",
			       .commands = BIT(OSP_ENV),
			       .complete = OSP_COMPLETE_FILE,
			       .help = "Say what is wrong with the settings of a job script (- is "
				       "standard input)."},
	[OSP_OPTION_DATA] =
		{.name = "data",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_ENV) | BIT(OSP_BIND),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Folder of our instances/ and rules/, instead of the installed "
			 "one."},
	[OSP_OPTION_SITE] =
		{.name = "site",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_ENV) | BIT(OSP_BIND),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Folder of the site's instances.d/ and rules.d/, instead of the "
			 "one in /etc."},
	[OSP_OPTION_ROOT] =
		{.name = "root",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_ENV),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Look at the files below FOLDER, as those of an unpacked image, "
			 "instead of this node's."},
	[OSP_OPTION_DEPTH] =
		{.name = "depth",
		 .argument = "DEPTH",
		 .commands = BIT(OSP_CHECK) | BIT(OSP_RECHECK),
		 .complete = OSP_COMPLETE_WORDS,
		 .words = "passive quick full",
		 .help = "passive (the default) loads no GPU, quick loads each for some seconds, "
			 "full for minutes; recheck looks as deep as it can."},
	[OSP_OPTION_GPUS] = {.name = "gpus",
			     .argument = "LIST",
			     .commands = BIT(OSP_CHECK),
			     .help = "Only these GPUs: numbers in the order of the PCI bus, ranges "
				     "or UUIDs (0-3,5)."},
	[OSP_OPTION_ONLY_CHECKS] = {.name = "only",
				    .argument = "NAMES",
				    .commands = BIT(OSP_CHECK),
				    .help = "Only these checks, separated by commas."},
	[OSP_OPTION_BUDGET] = {.name = "budget",
			       .argument = "SECONDS",
			       .commands = BIT(OSP_CHECK),
			       .help = "End after SECONDS; a check that has not finished is an "
				       "error, not a failure."},
	[OSP_OPTION_THRESHOLDS] =
		{.name = "thresholds",
		 .argument = "FILE",
		 .commands = BIT(OSP_CHECK),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Use the limits of FILE instead of the site's thresholds.yaml."},
	[OSP_OPTION_FRESH] = {.name = "fresh",
			      .argument = "SECONDS",
			      .commands = BIT(OSP_CHECK),
			      .help = "Check nothing if a pass of this depth, no older than "
				      "SECONDS, still holds: same boot, driver and GPUs, no XID "
				      "and no new hardware error since."},
	[OSP_OPTION_CHECK_DRY_RUN] = {.name = "dry-run",
				      .commands = BIT(OSP_CHECK),
				      .help = "Print failures, but keep nothing and exit with 0."},
	[OSP_OPTION_REPAIRED] = {.name = "repaired",
				 .commands = BIT(OSP_CHECK),
				 .help = "After a repair, as root: count the kernel's records and "
					 "the counters so far as seen, then check."},
	[OSP_OPTION_LIST] = {.name = "list",
			     .commands = BIT(OSP_CHECK),
			     .help = "Name the checks and what each measures, and run none."},
	[OSP_OPTION_EXPLAIN] =
		{.name = "explain",
		 .argument = "NAME",
		 .commands = BIT(OSP_CHECK),
		 .help = "Explain a check, its limits and what to do, and run none."},
	[OSP_OPTION_HEAD] = {.name = "head",
			     .commands = BIT(OSP_SETUP),
			     .help = "This host runs slurmctld."},
	[OSP_OPTION_NODE] = {.name = "node",
			     .commands = BIT(OSP_SETUP),
			     .help = "This host runs slurmd. If its files are slurmctld's, shared "
				     "or sent, nothing changes."},
	[OSP_OPTION_LOGIN] = {.name = "login",
			      .commands = BIT(OSP_SETUP),
			      .help = "Jobs are submitted from this host; as --node."},
	[OSP_OPTION_DRY_RUN] = {.name = "dry-run",
				.commands = BIT(OSP_SETUP) | BIT(OSP_RECHECK),
				.help = "Say what would be changed, and change nothing."},
	[OSP_OPTION_UNDO] =
		{.name = "undo",
		 .commands = BIT(OSP_SETUP),
		 .help = "Take back exactly what was done here, as onespine.setup records it."},
	[OSP_OPTION_NO_GATE] = {.name = "no-gate",
				.commands = BIT(OSP_SETUP),
				.help = "With --head: set up no gate. If there is no "
					"onespine.yaml, one is begun with depth: off."},
	[OSP_OPTION_UNITS] =
		{.name = "units",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_SETUP),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Folder of systemd's units, for a drop-in of slurmctld that runs doctor "
			 "--before-start; /etc/systemd/system where systemd runs."},
	[OSP_OPTION_LOGROTATE] =
		{.name = "logrotate",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_SETUP),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Folder of logrotate's files, for the gate's log unless a package brought "
			 "one; /etc/logrotate.d where systemd runs."},
	[OSP_OPTION_BEFORE_START] =
		{.name = "before-start",
		 .commands = BIT(OSP_DOCTOR),
		 .help = "Only what would let slurmctld start without placing gangs, or not "
			 "start at all; for a systemd unit of slurmctld."},
	[OSP_OPTION_OFFLINE] = {.name = "offline",
				.commands = BIT(OSP_DOCTOR),
				.help = "Do not ask the slurmctld that runs."},
	[OSP_OPTION_CLOUD] =
		{.name = "cloud",
		 .commands = BIT(OSP_DOCTOR),
		 .help = "Ask EC2 about the nodes' instances too, by calls that only read."},
	[OSP_OPTION_MOUNTS] =
		{.name = "mounts",
		 .argument = "FILE",
		 .commands = BIT(OSP_DOCTOR),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "With --cloud: /proc/mounts of a node, if this host mounts other file "
			 "systems."},
	[OSP_OPTION_WRITE] =
		{.name = "write",
		 .argument = "FILE",
		 .commands = BIT(OSP_DOCTOR),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Write the lines that slurm.conf lacks to FILE (- is standard output), to "
			 "be included there; change those that it has with other values yourself."},
	[OSP_OPTION_RULES] = {.name = "list",
			      .commands = BIT(OSP_DOCTOR),
			      .help = "Name what is looked at, and look at nothing."},
	[OSP_OPTION_FOLDER] =
		{.name = "folder",
		 .argument = "FOLDER",
		 .commands = BIT(OSP_HISTORY),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Read this folder instead of those that onespine.yaml names."},
	[OSP_OPTION_SINCE] = {.name = "since",
			      .argument = "TIME",
			      .commands = BIT(OSP_HISTORY),
			      .help = "Only runs of the last TIME, as 7-0 for 7 days."},
	[OSP_OPTION_FIGURES] =
		{.name = "figures",
		 .commands = BIT(OSP_HISTORY),
		 .help = "Show every figure, not only those that moved by 5 % or more."},
	[OSP_OPTION_PROGRAM] = {.name = "program",
				.argument = "FILE",
				.commands = BIT(OSP_RECHECK),
				.complete = OSP_COMPLETE_FILE,
				.help = "Run FILE on the node, with the arguments check --json "
					"--depth=DEPTH, instead of this program."},
	[OSP_OPTION_LAYOUT] =
		{.name = "layout",
		 .argument = "AXES",
		 .commands = BIT(OSP_LAYOUT) | BIT(OSP_HOSTS),
		 .help = "Sizes of the parallel axes, as tp8,pp8,dp8: tp, cp, pp, dp, dpr "
			 "(replicas of dp), ep, etp; and order=megatron, tp-pp-dp, torchtitan, "
			 "vllm or deepspeed. dp is by default what is left."},
	[OSP_OPTION_LAYOUT_SCRIPT] =
		{.name = "script",
		 .argument = "FILE",
		 .commands = BIT(OSP_LAYOUT),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Read layout and model from the flags of Megatron-LM, Megatron-Bridge or "
			 "TorchTitan in a job script (- is standard input)."},
	[OSP_OPTION_LAYOUT_NODES] = {.name = "nodes",
				     .letter = 'N',
				     .argument = "COUNT",
				     .commands = BIT(OSP_LAYOUT),
				     .help = "Nodes of the job; by default as many as the layout "
					     "takes."},
	[OSP_OPTION_GPUS_PER_NODE] = {.name = "gpus-per-node",
				      .argument = "COUNT",
				      .commands = BIT(OSP_LAYOUT) | BIT(OSP_HOSTS) | BIT(OSP_FIT),
				      .help = "GPUs of a node; the script's, or 8, by default."},
	[OSP_OPTION_MODEL] =
		{.name = "model",
		 .argument = "KEYS",
		 .commands = BIT(OSP_LAYOUT),
		 .help = "The model and its step, as h=12288,l=96,s=2048,b=1,M=64; onespine(1) has "
			 "the keys. Bytes are shown where h, l and s are known."},
	[OSP_OPTION_JOB] = {.name = "job",
			    .argument = "JOB",
			    .commands = BIT(OSP_LAYOUT),
			    .complete = OSP_COMPLETE_JOB,
			    .help = "On the nodes of this job."},
	[OSP_OPTION_KEEP] = {.name = "keep",
			     .argument = "GROUP:LEVEL",
			     .commands = BIT(OSP_LAYOUT) | BIT(OSP_HOSTS),
			     .help = "Groups that must lie in one domain of a level, as pp:leaf; "
				     "several with commas."},
	[OSP_OPTION_DP_WEIGHT] = {.name = "dp-weight",
				  .argument = "NUMBER",
				  .commands = BIT(OSP_LAYOUT) | BIT(OSP_HOSTS),
				  .help = "Weight of gradients that cross, from 0 to 1; pipelines "
					  "that cross have the rest. 0.3 by default."},
	[OSP_OPTION_LAYOUT_SVG] =
		{.name = "svg",
		 .argument = "FILE",
		 .commands = BIT(OSP_LAYOUT),
		 .complete = OSP_COMPLETE_FILE,
		 .help = "Write both arrangements as an SVG picture to FILE, and print no table."},
	[OSP_OPTION_AUDIT_LAYOUT] =
		{.name = "layout",
		 .commands = BIT(OSP_AUDIT),
		 .help = "Show, too, how many domains a parallel group of each gang with a layout "
			 "touches at most: in the best order of its nodes (placed) and in that of "
			 "its ranks (ranked)."},
	[OSP_OPTION_JSON] = {.name = "json", .commands = PRINTS_JSON, .help = "Print JSON."},
	[OSP_OPTION_HELP] = {.name = "help",
			     .letter = 'h',
			     .commands = ALL_COMMANDS,
			     .help = "Explain the command."},
	[OSP_OPTION_VERSION] = {.name = "version",
				.letter = 'V',
				.commands = ALL_COMMANDS,
				.help = "Print the version."},
};

const struct osp_option *osp_option(enum osp_option_id id)
{
	return &options[id];
}

bool osp_command_has(enum osp_command_id command, enum osp_option_id option)
{
	return options[option].commands & BIT(command);
}
