/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modes.c - --gang-env and --gang-bind, and how the user's choice reaches the tasks' nodes */
#include "spank/modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "spank/user_binding.h"
#include "spank/options.h"

/* The name begins with SLURM_ because --export=NONE lets such names through, in every release. */
#define STEP_VARIABLE "SLURM_ONESPINE_STEP"

/* The variables into which Slurm puts the options of sbatch and salloc for their job. An srun
 * inside would take them for its own options, which win over our variables. */
#define OUTER_ENV  OSP_JOB_OUTER(gang_env)
#define OUTER_BIND OSP_JOB_OUTER(gang_bind)

/* What the command line says. */
static struct osp_modes said;

/* --- the options ------------------------------------------------------------------------------ */

static int take_env(int val, const char *value, int remote)
{
	struct osp_error error = {.text = ""};

	(void)val;
	if (!osp_env_mode_parse("--gang-env", value ? value : "", &said.env, &error)) {
		said.env_said = true;
		return 0;
	}
	if (remote)
		return 0;
	slurm_error("%s", error.text);
	return -1;
}

static int take_bind(int val, const char *value, int remote)
{
	struct osp_error error = {.text = ""};

	(void)val;
	if (!osp_bind_mode_parse("--gang-bind", value ? value : "", &said.bind, &error)) {
		said.bind_said = true;
		return 0;
	}
	if (remote)
		return 0;
	slurm_error("%s", error.text);
	return -1;
}

int osp_modes_register(spank_t spank)
{
	memset(&said, 0, sizeof(said));
	if (osp_option_register(spank, OSP_JOB_GANG_ENV, take_env))
		return -1;
	return osp_option_register(spank, OSP_JOB_GANG_BIND, take_bind);
}

/* --- sbatch, salloc, srun --------------------------------------------------------------------- */

void osp_modes_begin(void)
{
	unsetenv(STEP_VARIABLE);
	if (getenv(OSP_ENV_VARIABLE))
		unsetenv(OUTER_ENV);
	if (getenv(OSP_BIND_VARIABLE))
		unsetenv(OUTER_BIND);
	osp_user_binding_look();
}

/*
 * Reports a bad variable. Returns -1 if a job is being submitted; otherwise 0, and the variable
 * does not count.
 */
static int refuse(const struct osp_error *error)
{
	slurm_error("%s", error->text);
	return getenv("SLURM_JOB_ID") ? 0 : -1;
}

/* Takes values of the environment if the command line gave none. */
static int take_variables(void)
{
	const char *env = said.env_said ? NULL : getenv(OSP_ENV_VARIABLE);
	const char *bind = said.bind_said ? NULL : getenv(OSP_BIND_VARIABLE);
	struct osp_error error = {.text = ""};

	if (env) {
		if (osp_env_mode_parse(OSP_ENV_VARIABLE, env, &said.env, &error))
			return refuse(&error);
		said.env_said = true;
	}
	if (bind) {
		if (osp_bind_mode_parse(OSP_BIND_VARIABLE, bind, &said.bind, &error))
			return refuse(&error);
		said.bind_said = true;
	}
	return 0;
}

int osp_modes_send(void)
{
	/* sbatch --export=NONE lets nothing but SLURM_ through */
	bool is_batch = spank_context() == S_CTX_ALLOCATOR;

	if (take_variables())
		return -1;
	if (said.env_said) {
		setenv(OSP_ENV_VARIABLE, osp_env_mode_name(said.env), 1);
		if (is_batch)
			setenv(OUTER_ENV, osp_env_mode_name(said.env), 1);
	}
	if (said.bind_said) {
		setenv(OSP_BIND_VARIABLE, osp_bind_mode_name(said.bind), 1);
		if (is_batch)
			setenv(OUTER_BIND, osp_bind_mode_name(said.bind), 1);
	}
	return 0;
}

/* Writes "env=auto;bind=;inherited=0;with=--cpu-bind". */
void osp_modes_hand_on(spank_t spank)
{
	const struct osp_user_binding *chosen = osp_user_binding_find(spank);
	char value[256];

	snprintf(value, sizeof(value), "env=%s;bind=%s;inherited=%d;with=%s",
		 said.env_said ? osp_env_mode_name(said.env) : "",
		 said.bind_said ? osp_bind_mode_name(said.bind) : "", chosen->inherited,
		 chosen->bound_with);
	setenv(STEP_VARIABLE, value, 1);
	if (chosen->inherited && !*chosen->bound_with &&
	    !(said.bind_said && said.bind == OSP_BIND_OFF))
		slurm_spank_log("onespine: SLURM_CPU_BIND is in the environment of the step "
				"around this one, whose tasks it binds to the same CPUs; "
				"--cpu-bind says what is meant, and unset SLURM_CPU_BIND ends it");
}

/* --- slurmstepd ------------------------------------------------------------------------------- */

/* Reads the word after "KEY=" in srun's variable, up to the next ';'. */
static const char *field(const char *value, const char *key, char *word, size_t bytes)
{
	const char *at = strstr(value, key);

	at = at ? at + strlen(key) : "";
	snprintf(word, bytes, "%.*s", (int)strcspn(at, ";"), at);
	return word;
}

static void take_env_word(struct osp_modes *modes, const char *word)
{
	if (!modes->env_said && *word &&
	    !osp_env_mode_parse(OSP_ENV_VARIABLE, word, &modes->env, NULL))
		modes->env_said = true;
}

static void take_bind_word(struct osp_modes *modes, const char *word)
{
	if (!modes->bind_said && *word &&
	    !osp_bind_mode_parse(OSP_BIND_VARIABLE, word, &modes->bind, NULL))
		modes->bind_said = true;
}

void osp_modes_take(spank_t spank, struct osp_modes *modes)
{
	char value[256], word[64];

	*modes = said;
	if (spank_getenv(spank, STEP_VARIABLE, value, sizeof(value)) == ESPANK_SUCCESS) {
		modes->client_reported = true;
		take_env_word(modes, field(value, "env=", word, sizeof(word)));
		take_bind_word(modes, field(value, ";bind=", word, sizeof(word)));
		modes->inherited = *field(value, ";inherited=", word, sizeof(word)) == '1';
		field(value, ";with=", modes->bound_with, sizeof(modes->bound_with));
	} else {
		if (spank_getenv(spank, OUTER_ENV, value, sizeof(value)) == ESPANK_SUCCESS)
			take_env_word(modes, value);
		if (spank_getenv(spank, OUTER_BIND, value, sizeof(value)) == ESPANK_SUCCESS)
			take_bind_word(modes, value);
	}
	if (spank_getenv(spank, OSP_ENV_VARIABLE, value, sizeof(value)) == ESPANK_SUCCESS)
		take_env_word(modes, value);
	if (spank_getenv(spank, OSP_BIND_VARIABLE, value, sizeof(value)) == ESPANK_SUCCESS)
		take_bind_word(modes, value);
}

void osp_modes_leave(spank_t spank, const struct osp_modes *modes)
{
	spank_unsetenv(spank, OUTER_ENV);
	spank_unsetenv(spank, OUTER_BIND);
	if (modes->env_said)
		spank_setenv(spank, OSP_ENV_VARIABLE, osp_env_mode_name(modes->env), 1);
	if (modes->bind_said)
		spank_setenv(spank, OSP_BIND_VARIABLE, osp_bind_mode_name(modes->bind), 1);
}

void osp_modes_tidy(spank_t spank)
{
	spank_unsetenv(spank, STEP_VARIABLE);
}
