/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu.c - loads a GPU: a context, the kernels, memory, time */
#include "check/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/gpu/gpu_image.h"
#include "check/base/gpus.h"
#include "check/gpu/gpu_unit.h"
#include "check/base/pass_store.h"
#include "lib/base/text.h"

#define READY_TRY_MS 1000 /* between tries while the fabric is set up */
#define READY_MS     60000
#define MIB	     ((size_t)1024 * 1024)

extern char **environ;

/* --- errors ----------------------------------------------------------------------------------- */

static const char *subject_of(const struct osp_check_context *context,
			      const struct osp_gpu_session *session)
{
	if (session)
		return session->unit->subject;
	return context->unit ? context->unit->subject : "";
}

/* Returns the name of an error that only the hardware causes; NULL for others. */
static const char *hardware_error(int result)
{
	switch (result) {
	case OSP_CUDA_ECC:
		return "uncorrectable memory error";
	case OSP_CUDA_NVLINK:
		return "uncorrectable NVLink error";
	case OSP_CUDA_CONTAINED:
		return "contained hardware error";
	case OSP_CUDA_STACK:
		return "hardware stack error";
	default:
		return NULL;
	}
}

/*
 * Returns whether `result` is an exception of a kernel. Our kernels read and write only what they
 * are given, so on a healthy GPU they cause none. It may still be the aftermath of another
 * program's error, so a second process has to meet it too, and a GPU that others use is not judged
 * by it.
 */
static bool is_exception(const struct osp_check_context *context,
			 const struct osp_gpu_session *session, int result)
{
	return (result == OSP_CUDA_ILLEGAL_ADDRESS ||
		(result >= OSP_CUDA_ILLEGAL_INSTRUCTION && result <= OSP_CUDA_LAUNCH_FAILED)) &&
	       session && !session->unit->busy && !context->library_kernels;
}

static void report_exception(struct osp_check_context *context, const char *subject, int result,
			     const char *what)
{
	struct osp_result reported = {
		.verdict = OSP_VERDICT_ERROR, .cure = OSP_CURE_RESET_GPU, .twice = true};

	snprintf(reported.subject, sizeof(reported.subject), "%s", subject);
	snprintf(reported.value, sizeof(reported.value), "kernels break");
	snprintf(reported.why, sizeof(reported.why), "%s: %s", what, osp_cuda_words(result));
	context->report(context, &reported);
}

static bool session_is_confidential(const struct osp_check_context *context)
{
	return context->unit_count && context->units[0].confidential;
}

/* Reports error 802. A second look decides whether it stays, but for GPUs in confidential mode:
 * until somebody sets them ready they take no work, and are well. */
static void report_not_ready(struct osp_check_context *context, const char *subject, int result,
			     const char *what)
{
	bool confidential = session_is_confidential(context);
	struct osp_result reported = {
		.verdict = OSP_VERDICT_ERROR, .cure = OSP_CURE_ASK, .later = !confidential};

	snprintf(reported.subject, sizeof(reported.subject), "%s", subject);
	snprintf(reported.value, sizeof(reported.value), "not set up");
	snprintf(reported.why, sizeof(reported.why),
		 "%s: %s: the fabric manager has not set up the NVLink fabric, or does not run%s",
		 what, osp_cuda_words(result),
		 confidential ? "; or the GPUs are not set ready (nvidia-smi conf-compute -srs 1)"
			      : "");
	context->report(context, &reported);
}

static void report_error(struct osp_check_context *context, const char *subject, int result,
			 const char *what)
{
	context->spoilt = true;
	switch (result) {
	case OSP_CUDA_ECC:
	case OSP_CUDA_NVLINK:
	case OSP_CUDA_CONTAINED:
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, subject,
			       hardware_error(result), NULL, NULL, "%s: %s", what,
			       osp_cuda_words(result));
		break;
	case OSP_CUDA_STACK: /* a library's kernel may use up its own stack */
		osp_result_add(context,
			       context->library_kernels ? OSP_VERDICT_ERROR : OSP_VERDICT_FAIL,
			       OSP_CURE_RESET_GPU, subject, hardware_error(result), NULL, NULL,
			       "%s: %s", what, osp_cuda_words(result));
		break;
	case OSP_CUDA_NOT_READY:
		report_not_ready(context, subject, result, what);
		break;
	case OSP_CUDA_OUT_OF_MEMORY:
		osp_result_error(context, subject, "%s: %s: other programs hold the GPU's memory",
				 what, osp_cuda_words(result));
		break;
	case OSP_CUDA_UNAVAILABLE:
		osp_result_error(context, subject,
				 "%s: %s: another program has the GPU for itself, or its compute "
				 "mode forbids programs",
				 what, osp_cuda_words(result));
		break;
	case OSP_CUDA_NOT_PERMITTED:
	case OSP_CUDA_OPERATING_SYSTEM:
	case OSP_CUDA_NO_DEVICE:
		osp_result_error(context, subject,
				 "%s: %s: the driver gives this user no GPU (permissions of "
				 "/dev/nvidia*, devices of the job)",
				 what, osp_cuda_words(result));
		break;
	default:
		osp_result_error(context, subject, "%s: %s", what, osp_cuda_words(result));
	}
}

bool osp_gpu_right(struct osp_check_context *context, const struct osp_gpu_session *session,
		   int result, const char *what)
{
	if (result == OSP_CUDA_OK)
		return true;
	if (is_exception(context, session, result)) {
		context->spoilt = true;
		report_exception(context, subject_of(context, session), result, what);
	} else {
		report_error(context, subject_of(context, session), result, what);
	}
	return false;
}

/* --- start ------------------------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Removes variables that a user or a site sets for programs, because they would change the
 * measurement. */
static void clear_environment(void)
{
	static const char *const starts[] = {"CUDA_", "CUBLAS", "NCCL_", "NVIDIA_"};
	size_t at = 0;

	while (environ && environ[at]) {
		const char *entry = environ[at];
		bool theirs = false;
		char name[256];

		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			theirs = theirs || begins_with(entry, starts[i]);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(entry, "="), entry);
		if (!theirs || unsetenv(name))
			at++;
	}
}

/*
 * A CUDA program turns to an MPS daemon wherever one listens, by default in /tmp, where any user
 * may start one. While the daemon serves another user the program waits, which would look like a
 * hang. So CUDA is given this folder, which is never made and which only root could make.
 */
#define NO_MPS OSP_RUN_DIR "/no-mps"

/* Sets which GPUs CUDA sees. It numbers them in this order, from 0; if `count` is 0 it sees all. */
static bool set_environment(const struct osp_unit *const *units, size_t count)
{
	char *visible = calloc(count + 1, sizeof(units[0]->uuid) + 1);
	bool set;

	if (!visible)
		return false;
	clear_environment();
	for (size_t i = 0; i < count; i++) {
		strcat(visible, i ? "," : "");
		strcat(visible, units[i]->uuid);
	}
	set = (!count || !setenv("CUDA_VISIBLE_DEVICES", visible, 1)) &&
	      !setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1) &&
	      !setenv("CUDA_CACHE_DISABLE", "1", 1) &&
	      !setenv("CUDA_MPS_PIPE_DIRECTORY", NO_MPS, 1);
	free(visible);
	return set;
}

/* Returns cuInit()'s answer, in a child. It concerns the whole system. */
static int try_init(const void *unused)
{
	(void)unused;
	if (osp_cuda_load() || !set_environment(NULL, 0))
		return OSP_CUDA_OK; /* the checks report it */
	return osp_cuda_init(0);
}

void osp_gpus_wait_ready(const struct osp_check_context *context, uint64_t until_ms)
{
	const struct osp_limit *grace = osp_check_limit(context, OSP_LIMIT_FABRIC_GRACE_S, NULL);
	uint64_t now_ms = osp_now_ms(), end_ms = now_ms + READY_MS;
	struct osp_guard guard;
	int answer;

	if (!grace || context->uptime_s >= (uint64_t)grace->value)
		return;
	if (until_ms && (until_ms - now_ms) / 2 < READY_MS)
		end_ms = now_ms + (until_ms - now_ms) / 2;
	if (context->deadline_most_ms && now_ms + context->deadline_most_ms < end_ms)
		end_ms = now_ms + context->deadline_most_ms;
	while (osp_now_ms() < end_ms && osp_guard_start(&guard, try_init, NULL) == 0 &&
	       osp_guard_collect(&guard, end_ms, &answer) == 1 && answer == OSP_CUDA_NOT_READY)
		usleep((context->deadline_most_ms ? 10 : READY_TRY_MS) * 1000);
}

int osp_gpus_still_not_ready(struct osp_check_context *context)
{
	(void)context;
	return try_init(NULL) == OSP_CUDA_NOT_READY;
}

static bool start_driver(struct osp_check_context *context, const struct osp_unit *const *units,
			 size_t count, int *driver, unsigned int *start_ms)
{
	const char *why = osp_cuda_load();
	uint64_t begun_ms;
	int devices = 0, result;

	if (why) {
		context->spoilt = true;
		osp_result_error(context, units[0]->subject, "libcuda: %s", why);
		return false;
	}
	if (!set_environment(units, count)) {
		osp_result_error(context, units[0]->subject, "out of memory");
		return false;
	}
	begun_ms = osp_now_ms();
	result = osp_cuda_init(0);
	*start_ms = (unsigned int)(osp_now_ms() - begun_ms);
	if (!osp_gpu_right(context, NULL, result, "cuInit") ||
	    !osp_gpu_right(context, NULL, osp_cuda_driver_version(driver), "cuDriverGetVersion") ||
	    !osp_gpu_right(context, NULL, osp_cuda_count(&devices), "cuDeviceGetCount"))
		return false;
	if ((size_t)devices == count)
		return true;
	context->spoilt = true;
	osp_result_error(context, context->unit ? context->unit->subject : "",
			 "CUDA sees %d of %zu GPUs", devices, count);
	return false;
}

/* Loads the best image that the driver accepts. */
static int load_module(struct osp_gpu_session *session)
{
	const char *only = getenv("ONESPINE_TEST_IMAGE"); /* for tests/gpu/run: by its name */
	struct osp_gpu_image image;
	int result = OSP_CUDA_NO_BINARY;

	for (size_t i = 0; osp_gpu_image_get(i, session->capability, session->driver, &image);
	     i++) {
		if (only && strcmp(only, image.name) != 0)
			continue;
		result = osp_cuda_module_load(&session->module, image.data);
		session->image = image.name;
		if (result != OSP_CUDA_NO_BINARY && result != OSP_CUDA_INVALID_PTX &&
		    result != OSP_CUDA_UNSUPPORTED_PTX)
			break;
	}
	return result;
}

static bool ask_attributes(struct osp_check_context *context, struct osp_gpu_session *session)
{
	int major = 0, minor = 0, shared_bytes = 0, l2_bytes = 0;

	if (!osp_gpu_right(context, session,
			   osp_cuda_attribute(&major, OSP_CUDA_MAJOR, session->device),
			   "cuDeviceGetAttribute") ||
	    !osp_gpu_right(context, session,
			   osp_cuda_attribute(&minor, OSP_CUDA_MINOR, session->device),
			   "cuDeviceGetAttribute") ||
	    !osp_gpu_right(context, session,
			   osp_cuda_attribute(&session->sms, OSP_CUDA_SMS, session->device),
			   "cuDeviceGetAttribute") ||
	    !osp_gpu_right(
		    context, session,
		    osp_cuda_attribute(&shared_bytes, OSP_CUDA_SHARED_BYTES, session->device),
		    "cuDeviceGetAttribute"))
		return false;
	session->capability = major * 10 + minor;
	session->shared_bytes = (unsigned int)shared_bytes;
	if (osp_cuda_attribute(&l2_bytes, OSP_CUDA_L2_BYTES, session->device) == OSP_CUDA_OK &&
	    l2_bytes > 0)
		session->l2_bytes = (size_t)l2_bytes;
	return true;
}

static bool start_session(struct osp_check_context *context, const struct osp_unit *unit, int index,
			  int driver, struct osp_gpu_session *session)
{
	uint64_t begun_ms = osp_now_ms();

	session->unit = unit;
	session->driver = driver;
	if (!osp_gpu_right(context, session, osp_cuda_device(&session->device, index),
			   "cuDeviceGet") ||
	    !ask_attributes(context, session) ||
	    !osp_gpu_right(context, session,
			   osp_cuda_context_take(&session->context, session->device),
			   "cuDevicePrimaryCtxRetain") ||
	    !osp_gpu_right(context, session, osp_cuda_context_use(session->context),
			   "cuCtxSetCurrent"))
		return false;
	session->context_ms = (unsigned int)(osp_now_ms() - begun_ms);
	begun_ms = osp_now_ms();
	if (!osp_gpu_right(context, session, load_module(session), "cuModuleLoadData"))
		return false;
	session->load_ms = (unsigned int)(osp_now_ms() - begun_ms);
	return osp_gpu_right(context, session,
			     osp_cuda_make_stream(&session->stream, OSP_CUDA_STREAM_OWN),
			     "cuStreamCreate") &&
	       osp_gpu_right(context, session, osp_cuda_make_event(&session->begin, 0),
			     "cuEventCreate") &&
	       osp_gpu_right(context, session, osp_cuda_make_event(&session->end, 0),
			     "cuEventCreate") &&
	       osp_gpu_right(context, session,
			     osp_cuda_allocate(&session->report, sizeof(struct osp_report)),
			     "cuMemAlloc");
}

struct osp_gpu_session *osp_gpu_begin(struct osp_check_context *context)
{
	static struct osp_gpu_session session;
	static bool begun;
	int driver;

	if (begun)
		return &session;
	if (!start_driver(context, &context->unit, 1, &driver, &session.start_ms) ||
	    !start_session(context, context->unit, 0, driver, &session))
		return NULL;
	begun = true;
	return &session;
}

struct osp_gpu_session *osp_gpu_begin_all(struct osp_check_context *context, size_t least,
					  size_t *count)
{
	static struct osp_gpu_session sessions[OSP_GPUS_MAX];
	static size_t begun;
	const struct osp_unit *units[OSP_GPUS_MAX];
	unsigned int start_ms;
	int driver;

	*count = 0;
	for (size_t i = 0; i < context->unit_count && *count < OSP_GPUS_MAX; i++)
		if (context->units[i].whole)
			units[(*count)++] = &context->units[i];
	if (*count < least) {
		osp_result_skip(context, "%zu whole GPU%s here, %zu %s needed", *count,
				osp_plural_s(*count), least, least == 1 ? "is" : "are");
		return NULL;
	}
	if (begun)
		return sessions;
	if (!start_driver(context, units, *count, &driver, &start_ms))
		return NULL;
	for (size_t i = 0; i < *count; i++)
		if (!start_session(context, units[i], (int)i, driver, &sessions[i]))
			return NULL;
	begun = *count;
	return sessions;
}

/* --- kernels ---------------------------------------------------------------------------------- */

osp_cuda_function osp_gpu_kernel(const struct osp_gpu_session *session, const char *name)
{
	osp_cuda_function kernel;

	return osp_cuda_find(&kernel, session->module, name) == OSP_CUDA_OK ? kernel : NULL;
}

unsigned int osp_gpu_blocks(struct osp_check_context *context,
			    const struct osp_gpu_session *session, osp_cuda_function kernel,
			    unsigned int shared_bytes)
{
	int blocks = 0;

	if (!osp_gpu_right(context, session,
			   osp_cuda_occupancy(&blocks, kernel, OSP_THREADS, shared_bytes),
			   "cuOccupancyMaxActiveBlocksPerMultiprocessor"))
		return 0;
	return (unsigned int)(session->sms * (blocks > 0 ? blocks : 1));
}

bool osp_gpu_launch(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_function kernel, unsigned int blocks, unsigned int shared_bytes,
		    const struct osp_work *work)
{
	struct osp_work copy = *work;
	void *parameters[] = {&copy};

	copy.report = session->report;
	return osp_gpu_right(context, session,
			     osp_cuda_launch(kernel, blocks, 1, 1, OSP_THREADS, 1, 1, shared_bytes,
					     session->stream, parameters, NULL),
			     "cuLaunchKernel");
}

bool osp_gpu_clear_report(struct osp_check_context *context, const struct osp_gpu_session *session)
{
	return osp_gpu_right(context, session,
			     osp_cuda_set_words(session->report, 0, sizeof(struct osp_report) / 4,
						session->stream),
			     "cuMemsetD32Async");
}

bool osp_gpu_read_report(struct osp_check_context *context, const struct osp_gpu_session *session,
			 struct osp_report *report)
{
	return osp_gpu_right(
		       context, session,
		       osp_cuda_to_host(report, session->report, sizeof(*report), session->stream),
		       "cuMemcpyDtoHAsync") &&
	       osp_gpu_right(context, session, osp_cuda_wait(session->stream),
			     "cuStreamSynchronize");
}

bool osp_gpu_clock_begin(struct osp_check_context *context, const struct osp_gpu_session *session)
{
	return osp_gpu_right(context, session, osp_cuda_record(session->begin, session->stream),
			     "cuEventRecord");
}

bool osp_gpu_clock_end(struct osp_check_context *context, const struct osp_gpu_session *session,
		       double *elapsed_ms)
{
	float milliseconds = 0;

	if (!osp_gpu_right(context, session, osp_cuda_record(session->end, session->stream),
			   "cuEventRecord") ||
	    !osp_gpu_right(context, session, osp_cuda_wait(session->stream),
			   "cuStreamSynchronize") ||
	    !osp_gpu_right(context, session,
			   osp_cuda_elapsed(&milliseconds, session->begin, session->end),
			   "cuEventElapsedTime"))
		return false;
	*elapsed_ms = (double)milliseconds;
	return true;
}

bool osp_gpu_upload(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_memory to, const void *from, size_t bytes)
{
	return osp_gpu_right(context, session, osp_cuda_to_gpu(to, from, bytes, session->stream),
			     "cuMemcpyHtoDAsync") &&
	       osp_gpu_right(context, session, osp_cuda_wait(session->stream),
			     "cuStreamSynchronize");
}

unsigned int osp_gpu_sms_seen(const struct osp_report *report)
{
	unsigned int count = 0;

	for (size_t i = 0; i < OSP_SMS_MAX / 32; i++)
		count += (unsigned int)__builtin_popcount(report->seen[i]);
	return count;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Returns how much memory may be taken. Some is left for other programs, and half of it if there
 * are any now. */
static size_t room_left(const struct osp_gpu_session *session, size_t free_bytes, size_t all_bytes)
{
	size_t kept = all_bytes / 50;

	if (session->unit->busy)
		kept = free_bytes / 2;
	return free_bytes > kept ? free_bytes - kept : 0;
}

bool osp_gpu_take(struct osp_check_context *context, const struct osp_gpu_session *session,
		  size_t most_bytes, size_t piece_bytes, struct osp_gpu_pieces *pieces)
{
	size_t free_bytes = 0, all_bytes = 0, left;

	memset(pieces, 0, sizeof(*pieces));
	if (!osp_gpu_right(context, session, osp_cuda_memory_info(&free_bytes, &all_bytes),
			   "cuMemGetInfo"))
		return false;
	left = room_left(session, free_bytes, all_bytes);
	if (most_bytes && most_bytes < left)
		left = most_bytes;
	while (left >= 64 * 1024 && pieces->count < OSP_GPU_PIECES_MAX) {
		size_t bytes = (left < piece_bytes ? left : piece_bytes) & ~(size_t)0xffff;
		int result = osp_cuda_allocate(&pieces->at[pieces->count], bytes);

		if (result == OSP_CUDA_OUT_OF_MEMORY && bytes >= MIB) {
			piece_bytes = bytes / 2;
			continue;
		}
		if (result == OSP_CUDA_OUT_OF_MEMORY)
			break;
		if (!osp_gpu_right(context, session, result, "cuMemAlloc")) {
			osp_gpu_give_back(pieces);
			return false;
		}
		pieces->bytes[pieces->count++] = bytes;
		pieces->all_bytes += bytes;
		left -= bytes;
	}
	if (pieces->count)
		return true;
	osp_result_error(context, subject_of(context, session),
			 "no memory is free: %zu of %zu MiB; other programs hold it",
			 free_bytes / MIB, all_bytes / MIB);
	return false;
}

void osp_gpu_give_back(struct osp_gpu_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		osp_cuda_release(pieces->at[i]);
	pieces->count = 0;
}
