/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the commands of `onespine` and their options, in one table
 *
 * The table is the only place that names an option: parsing, --help, completion for bash and zsh
 * and the test of the man page all read it. Nothing here knows Slurm. One thread.
 */
#ifndef OSP_OPTIONS_H
#define OSP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

enum osp_command_id {
	OSP_TOPOLOGY_IMPORT,
	OSP_TOPOLOGY_SHOW,
	OSP_TOPOLOGY_CHECK,
	OSP_TOPOLOGY_DISCOVER,
	OSP_TOPOLOGY_WATCH,
	OSP_TOPOLOGY_SURVEY,
	OSP_TOPOLOGY_ACCEPT,
	OSP_CONFIG_CHECK,
	OSP_CONFIG_SHOW,
	OSP_FIT,
	OSP_WHY,
	OSP_MAP,
	OSP_LAYOUT,
	OSP_AUDIT,
	OSP_SET,
	OSP_HOSTS,
	OSP_BIND,
	OSP_BIND_RUN,
	OSP_ENV,
	OSP_CHECK,
	OSP_DOCTOR,
	OSP_SETUP,
	OSP_GATE_PROLOG,
	OSP_GATE_EPILOG,
	OSP_GATE_KEY,
	OSP_HISTORY,
	OSP_RECHECK,
	OSP_QUARANTINE,
	OSP_REPRODUCE,
	OSP_COMPLETION,
	OSP_HELP,
	OSP_COMMAND_COUNT,
};

enum osp_option_id {
	OSP_OPTION_FROM,
	OSP_OPTION_SOURCES,
	OSP_OPTION_INTERVAL,
	OSP_OPTION_RESERVATION,
	OSP_OPTION_TO,
	OSP_OPTION_NAME_MAP,
	OSP_OPTION_TAG,
	OSP_OPTION_ALLOW_MISSING,
	OSP_OPTION_LEVELS,
	OSP_OPTION_COLUMNS,
	OSP_OPTION_ADAPTERS,
	OSP_OPTION_OUTPUT,
	OSP_OPTION_NODES,
	OSP_OPTION_GANG,
	OSP_OPTION_NODELIST,
	OSP_OPTION_EXCLUDE,
	OSP_OPTION_FIT_CONSTRAINT,
	OSP_OPTION_FIT_TASKS,
	OSP_OPTION_FIT_TASKS_PER_NODE,
	OSP_OPTION_FIT_CPUS_PER_TASK,
	OSP_OPTION_FIT_GPUS,
	OSP_OPTION_FIT_GRES,
	OSP_OPTION_FIT_MEM,
	OSP_OPTION_FIT_EXCLUSIVE,
	OSP_OPTION_FIT_TIME,
	OSP_OPTION_FIT_BEGIN,
	OSP_OPTION_FIT_RESERVATION,
	OSP_OPTION_FIT_LICENSES,
	OSP_OPTION_FIT_ACCOUNT,
	OSP_OPTION_FIT_QOS,
	OSP_OPTION_FIT_EXTRA,
	OSP_OPTION_GANG_DOMAINS,
	OSP_OPTION_GANG_SEGMENT,
	OSP_OPTION_GANG_LAYOUT,
	OSP_OPTION_GANG_KEEP,
	OSP_OPTION_FIT_SPARES,
	OSP_OPTION_FREE,
	OSP_OPTION_SVG,
	OSP_OPTION_WIDTH,
	OSP_OPTION_MAP_JOB,
	OSP_OPTION_MAP_USER,
	OSP_OPTION_PARTITION,
	OSP_OPTION_TOPOLOGY,
	OSP_OPTION_STATE,
	OSP_OPTION_SHOW_NODES,
	OSP_OPTION_SET_GANG,
	OSP_OPTION_HOSTS,
	OSP_OPTION_FORMAT,
	OSP_OPTION_TASKS_PER_NODE,
	OSP_OPTION_KEY_FILE,
	OSP_OPTION_ONLY,
	OSP_OPTION_BIND_TOPOLOGY,
	OSP_OPTION_TASKS,
	OSP_OPTION_GPUS_PER_TASK,
	OSP_OPTION_CPUSET,
	OSP_OPTION_BIND_SVG,
	OSP_OPTION_VERBOSE,
	OSP_OPTION_FOR,
	OSP_OPTION_WITH,
	OSP_OPTION_SCRIPT,
	OSP_OPTION_DATA,
	OSP_OPTION_SITE,
	OSP_OPTION_ROOT,
	OSP_OPTION_DEPTH,
	OSP_OPTION_GPUS,
	OSP_OPTION_ONLY_CHECKS,
	OSP_OPTION_BUDGET,
	OSP_OPTION_THRESHOLDS,
	OSP_OPTION_FRESH,
	OSP_OPTION_CHECK_DRY_RUN,
	OSP_OPTION_REPAIRED,
	OSP_OPTION_LIST,
	OSP_OPTION_EXPLAIN,
	OSP_OPTION_HEAD,
	OSP_OPTION_NODE,
	OSP_OPTION_LOGIN,
	OSP_OPTION_DRY_RUN,
	OSP_OPTION_UNDO,
	OSP_OPTION_NO_GATE,
	OSP_OPTION_UNITS,
	OSP_OPTION_LOGROTATE,
	OSP_OPTION_BEFORE_START,
	OSP_OPTION_OFFLINE,
	OSP_OPTION_CLOUD,
	OSP_OPTION_MOUNTS,
	OSP_OPTION_WRITE,
	OSP_OPTION_RULES,
	OSP_OPTION_FOLDER,
	OSP_OPTION_SINCE,
	OSP_OPTION_FIGURES,
	OSP_OPTION_PROGRAM,
	OSP_OPTION_LAYOUT,
	OSP_OPTION_LAYOUT_SCRIPT,
	OSP_OPTION_LAYOUT_NODES,
	OSP_OPTION_GPUS_PER_NODE,
	OSP_OPTION_MODEL,
	OSP_OPTION_JOB,
	OSP_OPTION_KEEP,
	OSP_OPTION_DP_WEIGHT,
	OSP_OPTION_LAYOUT_SVG,
	OSP_OPTION_AUDIT_LAYOUT,
	OSP_OPTION_JSON,
	OSP_OPTION_HELP,
	OSP_OPTION_VERSION,
	OSP_OPTION_COUNT,
};

/* What a shell completes for a value. */
enum osp_complete {
	OSP_COMPLETE_NOTHING,
	OSP_COMPLETE_FILE,
	OSP_COMPLETE_WORDS, /* the words named in the table */
	OSP_COMPLETE_PARTITION,
	OSP_COMPLETE_JOB,
	OSP_COMPLETE_NODE,
};

struct osp_option {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* the name of its value in the help; NULL: it takes none */
	bool argument_optional;
	unsigned int commands; /* bit n is set if command n has the option */
	enum osp_complete complete;
	const char *words; /* the words that it can be, separated by blanks */
	const char *help;
};

struct osp_command {
	const char *name;      /* "topology import" */
	const char *arguments; /* as in the synopsis; "": none */
	int arguments_least;
	int arguments_most;
	enum osp_complete complete; /* what a shell completes for the arguments */
	const char *words;
	const char *summary; /* one line */
	const char *details; /* a paragraph for --help; "": none */
	const char *answers; /* the meaning of exit status 1; NULL: it is never 1 */
};

/* One parsed command line. The strings belong to argv or to the table. */
struct osp_call {
	enum osp_command_id command;
	const char *values[OSP_OPTION_COUNT]; /* NULL: not given; "" for one without a value */
	char **arguments;
	int argument_count;
};

const struct osp_command *osp_command(enum osp_command_id id);
const struct osp_option *osp_option(enum osp_option_id id);
bool osp_command_has(enum osp_command_id command, enum osp_option_id option);

/*
 * Parses argv[1 ..] into `call`. Returns 0, or -1 with a sentence in `error`. --help gives OSP_HELP
 * with the command in `arguments`; the caller looks up --version in `values`. May reorder argv.
 */
int osp_options_parse(int argc, char **argv, struct osp_call *call, struct osp_error *error);

/* Finds a command by one or two words. Returns -1 with the nearest right one in `error`. *used is
 * how many of the words name it. A group's name alone ("topology") is refused, and the error names
 * its commands. */
int osp_command_find(char **words, int count, enum osp_command_id *id, int *used,
		     struct osp_error *error);

/* Adds an option's synopsis: "-N, --nodes=COUNT" */
void osp_option_synopsis(const struct osp_option *option, struct osp_text *text);

/* Adds the --help of one command, and of all (the list of commands). */
void osp_help_command(enum osp_command_id id, struct osp_text *text);
void osp_help_all(struct osp_text *text);

/* Adds `words`, broken at blanks, with each line indented by `indent`. */
void osp_help_wrap(struct osp_text *text, const char *words, size_t indent);

/* Adds the completion script for bash, and for zsh. */
void osp_completion_bash(struct osp_text *text);
void osp_completion_zsh(struct osp_text *text);

#endif
