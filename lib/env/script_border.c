/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_border.c - programs that do not pass all variables on: srun, ssh, containers */
#include "lib/env/script_private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

/* --- lists of exports ------------------------------------------------------------------------- */

/* Returns whether all variables pass: the list has ALL, and not after NONE, or a shell makes one of
 * its words (slurm 25.11 src/srun/launch.c, _build_user_env()). */
static bool passes_all(const char *list)
{
	size_t length;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (*list == '$' || *list == '`' || (length == 3 && !strncasecmp(list, "ALL", 3)))
			return true;
		if (length == 4 && !strncasecmp(list, "NONE", 4))
			return false;
	}
	return false;
}

bool osp_reading_hide_but(struct osp_reading *reading, const char *list)
{
	if (passes_all(list))
		return true;
	list = osp_arena_copy(&reading->script->arena, list, strlen(list));
	if (list)
		osp_course_hide_all(&reading->courses, list);
	return false;
}

void osp_reading_exports(struct osp_reading *reading, const char *list)
{
	bool known = list && !osp_flow_now_may_not_run(&reading->courses.flow);

	reading->exports =
		known ? osp_arena_copy(&reading->script->arena, list, strlen(list)) : NULL;
}

/* --- the programs ----------------------------------------------------------------------------- */

/* Hides what the script has set from the tasks of an srun that has no --export, where sbatch or the
 * environment gives it one. */
static void cross_srun(struct osp_reading *reading, const struct osp_shell_word *words,
		       size_t count)
{
	if (!reading->exports)
		return;
	for (size_t i = 0; i < count && *words[i].text == '-'; i++) {
		if (!strncmp(words[i].text, "--export", 8) &&
		    (!words[i].text[8] || words[i].text[8] == '='))
			return;
		i += osp_srun_option_takes_next(words[i].text);
	}
	osp_reading_hide_but(reading, reading->exports);
}

/* Adds the name in an option that gives a container a variable: -e A, -eA, --env A, --env=A, also
 * with a value. Returns how many words the option has; 0: it is none. */
static size_t note_passed(struct osp_text *passed, const struct osp_shell_word *words, size_t count)
{
	const char *text = words->text, *name = NULL;
	size_t taken = 1;

	if (!strcmp(text, "-e") || !strcmp(text, "--env")) {
		name = count > 1 ? words[1].text : "";
		taken = count > 1 ? 2 : 1;
	} else if (!strncmp(text, "--env=", 6)) {
		name = text + 6;
	} else if (!strncmp(text, "-e", 2)) {
		name = text + 2;
	}
	if (!name)
		return 0;
	osp_text_add_bytes(passed, name, strcspn(name, "="));
	osp_text_add(passed, ",");
	return taken;
}

/* Hides from a container of docker's what its options do not name, also with --env-file, whose
 * lines are not known. Does nothing if they may be in a variable, or with podman's --env-host. */
static void cross_docker(struct osp_reading *reading, const struct osp_shell_word *words,
			 size_t count)
{
	struct osp_text passed = OSP_TEXT_INIT;
	size_t taken;
	bool known = true;

	osp_text_add(&passed, ",");
	for (size_t i = 0; i < count && known; i += taken ? taken : 1) {
		taken = note_passed(&passed, words + i, count - i);
		known = taken || !((words[i].unexpanded && *words[i].text == '$') ||
				   !strcmp(words[i].text, "--env-host") ||
				   !strcmp(words[i].text, "--env-host=true"));
	}
	if (known && !passed.failed)
		osp_course_hide_all(
			&reading->courses,
			osp_arena_copy(&reading->script->arena, passed.data, passed.length_bytes));
	osp_text_free(&passed);
}

/* Hides all from a container of apptainer's with --cleanenv. */
static void cross_apptainer(struct osp_reading *reading, const struct osp_shell_word *words,
			    size_t count)
{
	static const char *const closed[] = {"-e", "--cleanenv", "-C", "--containall", NULL};
	static const char *const verbs[] = {"exec", "run", "shell", "-s", "-q", NULL};

	for (size_t i = 0; i < count; i++) {
		if (osp_shell_is_one_of(words[i].text, closed)) {
			osp_course_hide_all(&reading->courses, NULL);
			return;
		}
		if (*words[i].text != '-' && !osp_shell_is_one_of(words[i].text, verbs) &&
		    (!i || *words[i - 1].text != '-' || strchr(words[i - 1].text, '=') ||
		     !strcmp(words[i - 1].text, "--nv")))
			return; /* the image */
	}
}

void osp_reading_border(struct osp_reading *reading, const char *program,
			const struct osp_shell_word *words, size_t count)
{
	static const char *const docker[] = {"docker", "podman", NULL};
	static const char *const apptainer[] = {"apptainer", "singularity", NULL};

	if (!strcmp(program, "srun"))
		cross_srun(reading, words, count);
	else if (osp_shell_is_remote(program))
		osp_course_hide_all(&reading->courses, NULL);
	else if (osp_shell_is_one_of(program, docker))
		cross_docker(reading, words, count);
	else if (osp_shell_is_one_of(program, apptainer))
		cross_apptainer(reading, words, count);
}

bool osp_border_leads_on(const struct osp_shell_word *words, size_t index)
{
	static const char *const leaders[] = {"srun",	 "env",	    "exec",    "nohup",	  "sudo",
					      "command", "time",    "timeout", "nice",	  "numactl",
					      "taskset", "stdbuf",  "mpirun",  "mpiexec", "setsid",
					      "strace",	 "builtin", "then",    NULL};
	const char *text = words[index].text;

	return *text == '-' || isdigit((unsigned char)*text) ||
	       osp_shell_is_one_of(osp_shell_base_name(text), leaders) ||
	       (index && *words[index - 1].text == '-' && !strchr(words[index - 1].text, '='));
}
