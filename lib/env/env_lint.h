/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_lint.h - what a job script sets, and what the rules say about it
 *
 * Reads text and never runs it. A setting is
 *
 *	A=b                     alone or before a command
 *	export A=b              and declare, typeset, readonly, local; setenv A b of csh
 *	env A=b command
 *	#SBATCH --export=A=b    in a comment that begins a line, before the first command
 *	srun --export=ALL,A=b   and sbatch, salloc
 *	mpirun -x A=b           and mpiexec -env A b, -genv A b
 *	docker run -e A=b       and podman, apptainer, singularity with --env
 *	bash -c 'export A=b'    and ssh host 'export A=b; cmd', eval 'A=b'; texts in texts too
 *	X=$(A=b command)
 *	cat >F <<END            the body, if the script runs or sources F after it
 *	: ${A:=b}               and A=${A:-b}: b, if nobody has said otherwise
 *	O="--export=A=b"        options in a variable or an array, for all of these programs
 *
 * A value made of variables that the script has set before, each to one value, gets these values:
 * I=eth0; A=$I. It stays unknown if it is set again, in a loop or a function, after one of them has
 * changed. What the script's own shell substitutes in a text for another, as $(hostname) in
 * bash -c "export A=$(hostname)", is unknown too. The options of sbatch, srun and training programs
 * are read too (lib/env/script_options.h).
 *
 * A setting ends where the script unsets it, sets it anew or no longer exports it (unset A, A=c,
 * export -n A); `env -u A`, or a value that a command brings itself, hides it from that command. So
 * do programs that do not pass it on: `env -i`, `exec -c`, ssh, docker without -e, apptainer
 * --cleanenv, and srun and sbatch whose --export has no ALL and does not name it (SLURM_EXPORT_ENV
 * and #SBATCH --export count for srun). A
 * setting that ended before a program got it is gone: the lint reports nothing about it. A setting
 * in a branch, or one that a branch may unset, is in doubt. Programs are all commands but those
 * that lib/env/script_flow.h knows as none.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ENV_LINT_H
#define OSP_ENV_LINT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/env/rules.h"
#include "lib/env/script_options.h"
#include "lib/env/variables.h"

#define OSP_SCRIPT_BYTES_MAX	((size_t)4 * 1024 * 1024) /* Slurm's own max_script_size */
#define OSP_SCRIPT_SETTINGS_MAX 20000

struct osp_setting {
	const char *name;
	const char *value;
	bool unexpanded; /* the shell still substitutes something */
	bool extends;	 /* and that is only what the variable had before: A=b:$A */
	bool adds;	 /* that is in it: A=b:$A, A=$B$A, A+=b */
	bool fallback;	 /* only if nothing was set before: A=${A:-b} */
	bool own;	 /* it is not exported: an unknown name is then the script's own */
	bool in_step;	 /* each task of an srun sets it itself: srun bash -c 'A=b' */
	bool one_node;	 /* of an srun --nodes=1 */
	bool gone;	 /* it is unset or set anew before a program starts */
	bool everywhere; /* each program that the script starts gets it */
	enum osp_doubt doubt;
	int line;
	int column;
};

struct osp_script;

/* Reads a script. Returns NULL with `error` set if it is larger than the limits or memory ran
 * out. */
struct osp_script *osp_script_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error);
void osp_script_free(struct osp_script *script); /* NULL is allowed */
size_t osp_script_count(const struct osp_script *script);
/* Returns a setting, in the order of the text. */
const struct osp_setting *osp_script_at(const struct osp_script *script, size_t index);
const struct osp_script_options *osp_script_options(const struct osp_script *script);
/* Returns the first line that ends as lines of DOS do (CR LF), or 0. */
int osp_script_dos_line(const struct osp_script *script);

struct osp_finding {
	const struct osp_rule
		*rule; /* of the rules, or made for this finding (V1, V2, S1 to S16) */
	const struct osp_setting *setting; /* NULL: severity missing, without a line */
	const char *value;		   /* missing: the value to set */
	const char *variable;		   /* missing: what to set; else the setting's */
	bool certain; /* false: only if the rule's unknown conditions hold (see setting->doubt) */
};

struct osp_findings;

/*
 * Returns what the rules find against the script's settings, which of its variables nothing reads
 * (`variables`; NULL: not asked), and what its options do that users do not mean
 * (lib/env/script_shape.h), sorted by line and column; then the rules of severity missing that hold
 * and whose variable the script does not set. The number of nodes that the script asks for is used
 * as the fact `nodes` if that is unknown. The script, the rules and the variables must outlive the
 * result. Returns NULL with `error` set if memory ran out.
 */
struct osp_findings *osp_lint(const struct osp_rule_set *rules,
			      const struct osp_variables *variables, const struct osp_facts *facts,
			      const struct osp_script *script, struct osp_error *error);
void osp_findings_free(struct osp_findings *findings); /* NULL is allowed */
size_t osp_findings_count(const struct osp_findings *findings);
const struct osp_finding *osp_findings_at(const struct osp_findings *findings, size_t index);

/* Returns whether a finding holds wherever the script runs: it is certain, and its setting not in
 * doubt. */
bool osp_finding_holds(const struct osp_finding *finding);

/* Returns whether a finding says of a setting on some nodes what the one before it (NULL: none)
 * says of it on others: only the condition and the cure differ. */
bool osp_finding_says_same(const struct osp_finding *before, const struct osp_finding *finding);

#endif
