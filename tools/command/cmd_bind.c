/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_bind.c - onespine bind: which cores, memory and NICs each task of a node gets, and why */
#include "onespine_config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bind/bind_child.h"
#include "lib/bind/bind_process.h"
#include "tools/command/bind_type.h"
#include "tools/picture/bind.h"
#include "tools/command/command.h"
#include "host/files.h"

/* --- onespine bind ---------------------------------------------------------------------------- */

static int parse_count(const char *name, const char *text, uint32_t most, uint32_t *count,
		       struct osp_error *error)
{
	char *end;
	unsigned long value;

	if (!text)
		return 0;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *text == '+' || value < 1 ||
	    value > most)
		return osp_error_set(error, "--%s=%.40s: a number from 1 to %u is expected", name,
				     text, most);
	*count = (uint32_t)value;
	return 0;
}

/* Opens this machine, the file's, or, without a file, that of the type (NULL: none). */
static struct osp_machine *open_machine(const char *path, const struct osp_machine_shape *shape,
					struct osp_error *error)
{
	struct osp_machine *machine;
	size_t bytes;
	char *text;

	if (!path)
		return shape ? osp_machine_make(shape, error) : osp_machine_here(error);
	text = osp_read_input(path, OSP_MACHINE_XML_BYTES_MAX, &bytes, error);
	if (!text)
		return NULL;
	machine = osp_machine_read_as(osp_input_name(path), text, bytes, shape, error);
	free(text);
	return machine;
}

/* Returns the CPUs that may be used: --cpuset, else this process's CPUs if the machine is this
 * one. */
static hwloc_bitmap_t find_allowed(const struct osp_call *call, const struct osp_machine *machine,
				   struct osp_error *error)
{
	const char *list = call->values[OSP_OPTION_CPUSET];
	struct osp_error inner = {.text = ""};
	hwloc_bitmap_t allowed;

	if (!list && !call->values[OSP_OPTION_BIND_TOPOLOGY] && !call->values[OSP_OPTION_FOR])
		return osp_bind_own_cpus(error);
	allowed = list ? hwloc_bitmap_alloc() : hwloc_bitmap_dup(machine->allowed_cpus);
	if (!allowed) {
		osp_error_set(error, "out of memory");
	} else if (list && osp_machine_parse_cpus(list, allowed, &inner) < 0) {
		osp_error_set(error, "--cpuset, column %d: %s", inner.column, inner.text);
		hwloc_bitmap_free(allowed);
		allowed = NULL;
	}
	return allowed;
}

static int write_svg(const struct osp_bind_view *view, const char *path)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_bind_svg(view, &text);
	return osp_save_text(&text, path);
}

/* Adds to JSON what is assumed. */
static json_t *json_of(const struct osp_bind_view *view, const char *assumed)
{
	json_t *root = osp_bind_json(view);

	if (root && assumed)
		json_object_set_new(root, "assumed", json_string(assumed));
	return root;
}

static int show(const struct osp_call *call, const struct osp_bind_view *view, const char *assumed)
{
	struct osp_text text = OSP_TEXT_INIT;
	const char *svg = call->values[OSP_OPTION_BIND_SVG];
	int status = svg ? write_svg(view, svg) : OSP_EXIT_YES;

	if (status != OSP_EXIT_YES)
		return status;
	if (call->values[OSP_OPTION_JSON])
		return osp_print_json(json_of(view, assumed), status);
	if (svg)
		return status;
	osp_bind_text(view, &text);
	if (assumed)
		osp_text_printf(&text, "%s.\n", assumed);
	return osp_print_text(&text, status);
}

int osp_run_bind(const struct osp_call *call)
{
	const char *path = call->values[OSP_OPTION_BIND_TOPOLOGY];
	struct osp_error error = {.text = ""};
	struct osp_bind_request request = {.task_count = 0};
	struct osp_bind_type type;
	int named = osp_bind_type_find(call, &type, &error);
	struct osp_machine *machine =
		named < 0 ? NULL : open_machine(path, named ? &type.shape : NULL, &error);
	hwloc_bitmap_t allowed = machine ? find_allowed(call, machine, &error) : NULL;
	struct osp_bind_plan *plan = NULL;
	char name[PATH_MAX];
	int status = OSP_EXIT_UNABLE;

	request.allowed = allowed;
	if (allowed) {
		request.task_count = machine->gpu_count ? machine->gpu_count : 1;
		if (parse_count("tasks", call->values[OSP_OPTION_TASKS], OSP_BIND_TASKS_MAX,
				&request.task_count, &error) == 0 &&
		    parse_count("gpus-per-task", call->values[OSP_OPTION_GPUS_PER_TASK],
				OSP_MACHINE_DEVICES_MAX, &request.gpus_per_task, &error) == 0)
			plan = osp_bind_plan(machine, &request, &error);
	}
	if (plan) {
		struct osp_bind_view view = {path	 ? osp_input_words(path, name, sizeof(name))
					     : named > 0 ? type.name
							 : "this machine",
					     machine, plan, allowed};

		status = show(call, &view, named > 0 ? type.assumed.data : NULL);
	} else {
		status = osp_say_error(&error);
	}
	osp_text_free(&type.assumed);
	osp_bind_plan_free(plan);
	hwloc_bitmap_free(allowed);
	osp_machine_free(machine);
	return status;
}

/* --- onespine bind run ------------------------------------------------------------------------ */

static int bind_to(const struct osp_bind_task *task, bool verbose, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	int rc = osp_bind_set_cpus(task->cpus, error);

	if (rc == 0)
		rc = osp_bind_set_memory(task->memory, error);
	if (verbose && rc == 0) {
		osp_text_add(&text, "CPUs ");
		osp_bind_add_list(&text, task->cpus);
		osp_text_add(&text, ", memory of NUMA node ");
		osp_bind_add_list(&text, task->memory);
		osp_text_printf(&text, " preferred: %s", task->reason);
		fprintf(stderr, "onespine: bind: %s\n", text.failed ? "" : text.data);
		osp_text_free(&text);
	}
	return rc;
}

static int plan_and_bind(const struct osp_machine *machine, hwloc_const_bitmap_t allowed,
			 const struct osp_bind_child *child, bool verbose, struct osp_error *error)
{
	hwloc_bitmap_t gpus = hwloc_bitmap_alloc();
	struct osp_bind_plan *plan = NULL;
	struct osp_bind_driver *driver = osp_bind_driver_read(machine, OSP_BIND_DRIVER);
	int known = gpus ? osp_bind_visible_gpus(machine, driver, environ, gpus) : -1;
	int rc = -1;

	if (known < 0)
		osp_error_set(error, "out of memory");
	else
		plan = osp_bind_child_plan(machine, allowed, child, known ? gpus : NULL, NULL,
					   error);
	if (plan)
		rc = bind_to(&plan->tasks[child->rank], verbose, error);
	osp_bind_plan_free(plan);
	osp_bind_driver_free(driver);
	hwloc_bitmap_free(gpus);
	return rc;
}

/* Opens the node as onespine.so is configured to see it; a container may lack that file. */
static struct osp_machine *find_machine(struct osp_error *error)
{
	const char *path = getenv("ONESPINE_TOPOLOGY");

	if (path && access(path, R_OK) == 0)
		return open_machine(path, NULL, error);
	return osp_machine_here(error);
}

static int bind_child(bool verbose, struct osp_error *error)
{
	struct osp_bind_child child = {.silent = !verbose};
	struct osp_machine *machine;
	hwloc_bitmap_t allowed;
	int rc = -1;

	if (osp_bind_child(environ, &child, error) < 0)
		return -1;
	allowed = osp_bind_own_cpus(error);
	machine = allowed ? find_machine(error) : NULL;
	if (machine)
		rc = plan_and_bind(machine, allowed, &child, verbose, error);
	hwloc_bitmap_free(allowed);
	osp_machine_free(machine);
	return rc;
}

/* Runs the command, bound or not. */
int osp_run_bind_run(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};

	if (bind_child(call->values[OSP_OPTION_VERBOSE] != NULL, &error) < 0)
		fprintf(stderr, "onespine: bind: not bound: %s\n", error.text);
	fflush(NULL);
	execvp(call->arguments[0], call->arguments);
	error.text[0] = '\0';
	osp_error_set(&error, "%.200s: %s", call->arguments[0], strerror(errno));
	osp_say_error(&error);
	return errno == ENOENT ? 127 : 126;
}
