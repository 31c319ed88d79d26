/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu.h - loads a GPU: a context, the kernels, memory, time
 *
 * For the checks gpu_*.c, which run in children that the runner watches, because any call here may
 * hang. A function that returns false has reported the failure; the process is then spoilt for the
 * next check. One thread.
 */
#ifndef OSP_GPU_H
#define OSP_GPU_H

#include "check/check.h"
#include "check/gpu/cuda.h"
#include "kernels/kernels.h"

#define OSP_GPU_PIECES_MAX 64

struct osp_gpu_session {
	const struct osp_unit *unit;
	int device;
	osp_cuda_context context;
	osp_cuda_module module;
	osp_cuda_stream stream;
	osp_cuda_event begin;
	osp_cuda_event end;
	osp_cuda_memory report;
	const char *image;
	int capability; /* 10 * major + minor */
	int driver;	/* cuDriverGetVersion() */
	int sms;
	unsigned int shared_bytes; /* the most that a block may use */
	size_t l2_bytes;	   /* the cache; 0: unknown */
	unsigned int start_ms;	   /* the driver's start */
	unsigned int context_ms;
	unsigned int load_ms; /* the time to load the kernels */
};

/*
 * Waits, in the first `fabric_grace_s` after boot, until CUDA no longer answers that the system is
 * not yet initialised (802): the fabric manager sets up the NVLink fabric of A100 to B300 with
 * NVSwitches. Waits at most a minute, and half of the time until `until_ms` (0: no such end).
 * Children ask, because the answer stays with its process.
 */
void osp_gpus_wait_ready(const struct osp_check_context *context, uint64_t until_ms);

/* Returns whether CUDA still answers so. For a check's still_ill. */
int osp_gpus_still_not_ready(struct osp_check_context *context);

/* Returns the session of this child's GPU, made by the first check that asks. NULL if it cannot be
 * made. */
struct osp_gpu_session *osp_gpu_begin(struct osp_check_context *context);

/* Returns the sessions of all whole GPUs of the context, in its order; *count of them. NULL as
 * above, and if there are fewer than `least`, after reporting a SKIP. */
struct osp_gpu_session *osp_gpu_begin_all(struct osp_check_context *context, size_t least,
					  size_t *count);

/* Returns true if `result` is no error. Otherwise reports it: `what` names the call on this GPU. */
bool osp_gpu_right(struct osp_check_context *context, const struct osp_gpu_session *session,
		   int result, const char *what);

/* Returns a kernel by its name; NULL if this image lacks it, which is not reported. */
osp_cuda_function osp_gpu_kernel(const struct osp_gpu_session *session, const char *name);

/* Returns the number of blocks that fill every SM; 0 after an error, which was reported. */
unsigned int osp_gpu_blocks(struct osp_check_context *context,
			    const struct osp_gpu_session *session, osp_cuda_function kernel,
			    unsigned int shared_bytes);

bool osp_gpu_launch(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_function kernel, unsigned int blocks, unsigned int shared_bytes,
		    const struct osp_work *work);

/* Empties the report on the GPU. osp_gpu_read_report() reads it once all earlier work has ended. */
bool osp_gpu_clear_report(struct osp_check_context *context, const struct osp_gpu_session *session);
bool osp_gpu_read_report(struct osp_check_context *context, const struct osp_gpu_session *session,
			 struct osp_report *report);

/* Starts and stops a clock on the session's stream: the GPU time of the work given to it between
 * the two calls, in ms. */
bool osp_gpu_clock_begin(struct osp_check_context *context, const struct osp_gpu_session *session);
bool osp_gpu_clock_end(struct osp_check_context *context, const struct osp_gpu_session *session,
		       double *elapsed_ms);

/* Copies to the GPU, and returns when the copy is done. */
bool osp_gpu_upload(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_memory to, const void *from, size_t bytes);

/* --- memory ----------------------------------------------------------------------------------- */

/* Pieces of GPU memory. They take no memory from others, and leave room for others. */
struct osp_gpu_pieces {
	osp_cuda_memory at[OSP_GPU_PIECES_MAX];
	size_t bytes[OSP_GPU_PIECES_MAX];
	size_t count;
	size_t all_bytes;
};

/*
 * Takes up to `most_bytes` of the free memory (0: all), in pieces of at most `piece_bytes`; less if
 * the driver gives less. Returns false if there is none at all, which is reported.
 */
bool osp_gpu_take(struct osp_check_context *context, const struct osp_gpu_session *session,
		  size_t most_bytes, size_t piece_bytes, struct osp_gpu_pieces *pieces);
void osp_gpu_give_back(struct osp_gpu_pieces *pieces);

/* Counts the SMs that a report has seen. */
unsigned int osp_gpu_sms_seen(const struct osp_report *report);

#endif
