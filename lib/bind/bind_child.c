/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_child.c - which of a node's processes this is, which GPUs it sees, and its plan */
#include "lib/bind/bind_child.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/environment.h"

#define NAME_BYTES	  128
#define INFORMATION_BYTES 4096
#define UNKNOWN		  (-1)

/* --- the child -------------------------------------------------------------------------------- */

static int read_number(char *const *environment, const char *name, unsigned long most,
		       uint32_t *number, struct osp_error *error)
{
	const char *text = osp_environment_value(environment, name);
	char *end;
	unsigned long value;

	if (!text || !*text)
		return osp_error_set(error,
				     "%s is not set; torchrun and its like set it for the "
				     "children that they start",
				     name);
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || *end || value > most)
		return osp_error_set(error, "%s=%.40s is no number from 0 to %lu", name, text,
				     most);
	*number = (uint32_t)value;
	return 0;
}

/* Returns whether Slurm gave this node's tasks masks of their own, so that nothing remains to be
 * divided. */
static bool slurm_bound_each(char *const *environment)
{
	const char *list = osp_environment_value(environment, "SLURM_CPU_BIND_LIST");
	size_t first;

	if (!list || !osp_environment_value(environment, "SLURM_LOCALID"))
		return false;
	first = strcspn(list, ",");
	for (list += first; *list; list += strcspn(list, ",")) {
		const char *other = ++list;

		if (strcspn(other, ",") != first || strncmp(other, other - first - 1, first) != 0)
			return true;
	}
	return false;
}

int osp_bind_child(char *const *environment, struct osp_bind_child *child, struct osp_error *error)
{
	if (read_number(environment, "LOCAL_RANK", OSP_BIND_TASKS_MAX - 1, &child->rank, error) <
		    0 ||
	    read_number(environment, "LOCAL_WORLD_SIZE", OSP_BIND_TASKS_MAX, &child->count, error) <
		    0)
		return -1;
	if (child->rank >= child->count)
		return osp_error_set(error, "LOCAL_RANK=%u is not below LOCAL_WORLD_SIZE=%u",
				     child->rank, child->count);
	if (child->count > 1 && slurm_bound_each(environment))
		return osp_error_set(error, "Slurm has bound each task already "
					    "(SLURM_CPU_BIND_LIST); left as it is");
	return 0;
}

/* --- what the driver says about GPUs ---------------------------------------------------------- */

/* Copies the value of "Name:   value" from the driver's text. Returns false if there is none. */
static bool find_value(const char *text, const char *name, char *value, size_t bytes)
{
	const char *at = strstr(text, name);

	if (!at)
		return false;
	at += strlen(name);
	at += strspn(at, ": \t");
	snprintf(value, bytes, "%.*s", (int)strcspn(at, "\r\n"), at);
	return true;
}

/* Finds the GPU of a bus id of the driver's, which has eight or four digits of domain, and
 * sometimes capitals. */
static int find_bus_id(const struct osp_machine *machine, const char *bus_id)
{
	size_t length = strlen(bus_id);
	uint32_t gpu;

	for (gpu = 0; gpu < machine->gpu_count; gpu++) {
		const char *own = machine->gpus[gpu].bus_id;
		size_t own_length = strlen(own);

		if (own_length <= length && strcasecmp(own, bus_id + length - own_length) == 0)
			return (int)gpu;
	}
	return UNKNOWN;
}

static bool read_information(const char *driver, const char *folder, char *text, size_t bytes)
{
	char path[512];
	size_t length;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "%s/gpus/%s/information", driver, folder) >=
	    sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(text, 1, bytes - 1, file);
	text[length] = '\0';
	fclose(file);
	return true;
}

struct driver_gpu {
	int gpu;	       /* by the machine's numbers */
	char minor[24];	       /* of its device file */
	char uuid[NAME_BYTES]; /* "GPU-..." */
};

struct osp_bind_driver {
	uint32_t count;
	struct driver_gpu gpus[]; /* as many as the machine has */
};

static void take_gpu(struct osp_bind_driver *driver, const struct osp_machine *machine,
		     const char *folder, const char *bus_id)
{
	struct driver_gpu *entry = &driver->gpus[driver->count];
	char text[INFORMATION_BYTES];

	entry->gpu = find_bus_id(machine, bus_id);
	if (entry->gpu == UNKNOWN || !read_information(folder, bus_id, text, sizeof(text)))
		return;
	find_value(text, "Device Minor", entry->minor, sizeof(entry->minor));
	find_value(text, "GPU UUID", entry->uuid, sizeof(entry->uuid));
	driver->count++;
}

struct osp_bind_driver *osp_bind_driver_read(const struct osp_machine *machine, const char *folder)
{
	struct osp_bind_driver *driver =
		calloc(1, sizeof(*driver) + machine->gpu_count * sizeof(driver->gpus[0]));
	struct dirent *entry;
	char path[512];
	DIR *gpus;

	snprintf(path, sizeof(path), "%s/gpus", folder);
	gpus = driver ? opendir(path) : NULL;
	while (gpus && driver->count < machine->gpu_count && (entry = readdir(gpus))) {
		if (entry->d_name[0] != '.')
			take_gpu(driver, machine, folder, entry->d_name);
	}
	if (gpus)
		closedir(gpus);
	return driver;
}

void osp_bind_driver_free(struct osp_bind_driver *driver)
{
	free(driver);
}

/* Finds a GPU by its UUID, which may be cut short. */
static int gpu_of_uuid(const struct osp_bind_driver *driver, const char *uuid)
{
	for (uint32_t i = 0; driver && i < driver->count; i++) {
		if (strncasecmp(driver->gpus[i].uuid, uuid, strlen(uuid)) == 0)
			return driver->gpus[i].gpu;
	}
	return UNKNOWN;
}

/* Finds a GPU by the number of its device file, by which Slurm counts. These need not be in the
 * order of bus ids. */
static int gpu_of_minor(const struct osp_machine *machine, const struct osp_bind_driver *driver,
			unsigned long minor)
{
	char number[24];

	snprintf(number, sizeof(number), "%lu", minor);
	for (uint32_t i = 0; driver && i < driver->count; i++) {
		if (strcmp(driver->gpus[i].minor, number) == 0)
			return driver->gpus[i].gpu;
	}
	return minor < machine->gpu_count ? (int)minor : UNKNOWN;
}

/* --- lists of GPUs ---------------------------------------------------------------------------- */

#define LIST_MOST 256

struct gpu_list {
	int gpus[LIST_MOST];		  /* by the machine's numbers */
	unsigned long numbers[LIST_MOST]; /* as written */
	size_t count;
};

/* Reads Slurm's own list of this step's GPUs, by the numbers of their device files. */
static void read_step_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
			   char *const *environment, struct gpu_list *list)
{
	const char *text = osp_environment_value(environment, "SLURM_STEP_GPUS");
	hwloc_bitmap_t numbers = hwloc_bitmap_alloc();
	int number;

	list->count = 0;
	if (!text)
		text = osp_environment_value(environment, "SLURM_JOB_GPUS");
	if (!numbers || !text || osp_machine_parse_cpus(text, numbers, NULL) < 0) {
		hwloc_bitmap_free(numbers);
		return;
	}
	for (number = hwloc_bitmap_first(numbers); number >= 0 && list->count < LIST_MOST;
	     number = hwloc_bitmap_next(numbers, number)) {
		list->numbers[list->count] = (unsigned long)number;
		list->gpus[list->count++] = gpu_of_minor(machine, driver, (unsigned long)number);
	}
	hwloc_bitmap_free(numbers);
}

static int in_step(const struct gpu_list *step, unsigned long number)
{
	size_t i;

	for (i = 0; i < step->count; i++)
		if (step->numbers[i] == number)
			return step->gpus[i];
	return UNKNOWN;
}

/*
 * Returns whether the numbers are places in the step's list. Inside a device cgroup GPUs are
 * counted anew from 0, so a number that is not one of the step's own shows it.
 */
static bool counted_anew(const char *list, const struct gpu_list *step)
{
	while (*list) {
		char *end;
		unsigned long number = strtoul(list, &end, 10);

		if (end == list || (*end && *end != ','))
			return false;
		if (in_step(step, number) == UNKNOWN)
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
}

static int gpu_of_word(const struct osp_machine *machine, const struct osp_bind_driver *driver,
		       const char *word, const struct gpu_list *step, bool anew)
{
	char *end;
	unsigned long number;

	if (strncmp(word, "GPU-", 4) == 0)
		return gpu_of_uuid(driver, word);
	if (strncmp(word, "MIG-GPU-", 8) == 0) { /* "MIG-GPU-<uuid>/1/0" */
		char uuid[NAME_BYTES];

		snprintf(uuid, sizeof(uuid), "%.*s", (int)strcspn(word + 4, "/"), word + 4);
		return gpu_of_uuid(driver, uuid);
	}
	number = strtoul(word, &end, 10);
	if (end == word || *end)
		return UNKNOWN;
	if (step->count)
		return anew ? (number < step->count ? step->gpus[number] : UNKNOWN)
			    : in_step(step, number);
	return number < machine->gpu_count ? (int)number : UNKNOWN;
}

static int add_words(const struct osp_machine *machine, const struct osp_bind_driver *driver,
		     const char *list, const struct gpu_list *step, hwloc_bitmap_t gpus)
{
	bool anew = step->count && counted_anew(list, step);
	char word[NAME_BYTES];

	for (; *list; list += *list == ',') {
		size_t length = strcspn(list, ",");
		int gpu;

		snprintf(word, sizeof(word), "%.*s", (int)length, list);
		gpu = length < sizeof(word) ? gpu_of_word(machine, driver, word, step, anew)
					    : UNKNOWN;
		if (gpu == UNKNOWN)
			return 0;
		if (hwloc_bitmap_set(gpus, (unsigned int)gpu))
			return -1;
		list += length;
	}
	return 1;
}

static const char *visible_list(char *const *environment)
{
	static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
					    "HIP_VISIBLE_DEVICES"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (osp_environment_value(environment, names[i]))
			return osp_environment_value(environment, names[i]);
	return NULL;
}

static int add_step(const struct gpu_list *step, hwloc_bitmap_t gpus)
{
	for (size_t i = 0; i < step->count; i++) {
		if (step->gpus[i] == UNKNOWN)
			return 0;
		if (hwloc_bitmap_set(gpus, (unsigned int)step->gpus[i]))
			return -1;
	}
	return step->count != 0;
}

int osp_bind_step_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
		       char *const *environment, hwloc_bitmap_t gpus)
{
	struct gpu_list step;

	read_step_gpus(machine, driver, environment, &step);
	return add_step(&step, gpus);
}

int osp_bind_visible_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
			  char *const *environment, hwloc_bitmap_t gpus)
{
	const char *list = visible_list(environment);
	struct gpu_list step;

	read_step_gpus(machine, driver, environment, &step);
	if (list && (strcmp(list, "NoDevFiles") == 0 || strcmp(list, "-1") == 0))
		return 1;
	if (list)
		return add_words(machine, driver, list, &step, gpus);
	if (step.count)
		return add_step(&step, gpus);
	if (machine->gpu_count && hwloc_bitmap_set_range(gpus, 0, (int)machine->gpu_count - 1))
		return -1;
	return 1;
}

/* --- the child's plan ------------------------------------------------------------------------- */

/* Deals the GPUs that all children see: evenly in order, or one GPU to several children. */
static int deal(hwloc_const_bitmap_t gpus, uint32_t count, hwloc_bitmap_t *sets)
{
	uint64_t all = (uint64_t)hwloc_bitmap_weight(gpus);
	uint64_t place = 0;
	uint32_t child;
	int gpu;

	for (gpu = hwloc_bitmap_first(gpus); gpu >= 0; gpu = hwloc_bitmap_next(gpus, gpu), place++)
		for (child = 0; child < count; child++) {
			bool has = all < count ? child * all / count == place
					       : place >= child * all / count &&
							 place < (child + 1) * all / count;

			if (has && hwloc_bitmap_set(sets[child], (unsigned int)gpu))
				return -1;
		}
	return 0;
}

/* Returns the plan in which each child has its part of `gpus`; NULL: nothing is known of them. */
static struct osp_bind_plan *plan_of(const struct osp_machine *machine,
				     hwloc_const_bitmap_t allowed,
				     const struct osp_bind_child *child, hwloc_const_bitmap_t gpus,
				     struct osp_error *error)
{
	uint32_t count = child->count;
	struct osp_bind_request request = {
		.task_count = count, .allowed = allowed, .silent = child->silent};
	hwloc_bitmap_t *sets = calloc(count, sizeof(*sets));
	struct osp_bind_plan *plan = NULL;
	bool done = sets;
	uint32_t i;

	for (i = 0; gpus && done && i < count; i++) {
		sets[i] = hwloc_bitmap_alloc();
		done = sets[i];
	}
	if (done && gpus)
		done = deal(gpus, count, sets) == 0;
	request.task_gpus = (const hwloc_const_bitmap_t *)sets;
	if (done)
		plan = osp_bind_plan(machine, &request, error);
	else
		osp_error_set(error, "out of memory");
	for (i = 0; sets && i < count; i++)
		hwloc_bitmap_free(sets[i]);
	free(sets);
	return plan;
}

/*
 * Returns the plan in which each child sees only its own GPUs and its siblings have the others, or
 * NULL if it does not fit what this child sees.
 */
static struct osp_bind_plan *plan_of_own(const struct osp_machine *machine,
					 hwloc_const_bitmap_t allowed,
					 const struct osp_bind_child *child,
					 hwloc_const_bitmap_t gpus, hwloc_const_bitmap_t among)
{
	struct osp_bind_plan *plan = plan_of(machine, allowed, child, among, NULL);

	if (plan && hwloc_bitmap_isequal(plan->tasks[child->rank].gpus, gpus))
		return plan;
	osp_bind_plan_free(plan);
	return NULL;
}

struct osp_bind_plan *osp_bind_child_plan(const struct osp_machine *machine,
					  hwloc_const_bitmap_t allowed,
					  const struct osp_bind_child *child,
					  hwloc_const_bitmap_t gpus, hwloc_const_bitmap_t among,
					  struct osp_error *error)
{
	hwloc_bitmap_t all = among ? hwloc_bitmap_dup(among) : hwloc_bitmap_alloc();
	int seen = gpus ? hwloc_bitmap_weight(gpus) : 0;
	struct osp_bind_plan *plan = NULL;

	if (all && !among && machine->gpu_count)
		hwloc_bitmap_set_range(all, 0, (int)machine->gpu_count - 1);
	if (all && seen > 0 && seen < hwloc_bitmap_weight(all) &&
	    (among || (uint32_t)seen < child->count) &&
	    child->count <= (uint32_t)hwloc_bitmap_weight(all))
		plan = plan_of_own(machine, allowed, child, gpus, all);
	hwloc_bitmap_free(all);
	return plan ? plan : plan_of(machine, allowed, child, gpus, error);
}
