/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu.h - loading a GPU: a context, the kernels, memory, time
 *
 * For the checks gpu_*.c, which run in children that the runner watches: any call here may hang.
 * Every failure has been reported when a function returns false; the process is then spoilt for the
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
	unsigned int shared_bytes; /* that a block may use */
	size_t l2_bytes;	   /* of cache; 0: unknown */
	unsigned int start_ms;	   /* of the driver */
	unsigned int context_ms;
	unsigned int load_ms; /* of the kernels */
};

/*
 * Waits, in the first `fabric_grace_s` after boot, until CUDA no longer answers that the system is
 * not yet initialised (802): the fabric manager sets up the NVLink fabric, of A100 to B300 with
 * NVSwitches. At most a minute, and half of what is left until `until_ms` (0: no such end).
 * Children ask, for the answer sticks to its process.
 */
void osp_gpus_wait_ready(const struct osp_check_context *context, uint64_t until_ms);

/* Does CUDA still say so? For a check's still_ill. */
int osp_gpus_still_not_ready(struct osp_check_context *context);

/* The session of this child's GPU, made by the first check that asks. NULL when it cannot be. */
struct osp_gpu_session *osp_gpu_begin(struct osp_check_context *context);

/* Sessions of all whole GPUs of the context, in its order; *count of them. NULL as above, and when
 * there are fewer than `least`: then a SKIP was reported. */
struct osp_gpu_session *osp_gpu_begin_all(struct osp_check_context *context, size_t least,
					  size_t *count);

/* True when `result` is no error. Else reports it, for `what` was done on this GPU. */
bool osp_gpu_right(struct osp_check_context *context, const struct osp_gpu_session *session,
		   int result, const char *what);

/* A kernel by its name; NULL and nothing reported when this image has none of the name. */
osp_cuda_function osp_gpu_kernel(const struct osp_gpu_session *session, const char *name);

/* Blocks that fill every SM; 0 after an error, which was reported. */
unsigned int osp_gpu_blocks(struct osp_check_context *context,
			    const struct osp_gpu_session *session, osp_cuda_function kernel,
			    unsigned int shared_bytes);

bool osp_gpu_launch(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_function kernel, unsigned int blocks, unsigned int shared_bytes,
		    const struct osp_work *work);

/* The report on the GPU: emptied, and read once everything before has ended. */
bool osp_gpu_clear_report(struct osp_check_context *context, const struct osp_gpu_session *session);
bool osp_gpu_read_report(struct osp_check_context *context, const struct osp_gpu_session *session,
			 struct osp_report *report);

/* GPU time between the two calls, in ms, of what was given to the session's stream. */
bool osp_gpu_clock_begin(struct osp_check_context *context, const struct osp_gpu_session *session);
bool osp_gpu_clock_end(struct osp_check_context *context, const struct osp_gpu_session *session,
		       double *elapsed_ms);

/* Copies to the GPU, done when it returns. */
bool osp_gpu_upload(struct osp_check_context *context, const struct osp_gpu_session *session,
		    osp_cuda_memory to, const void *from, size_t bytes);

/* --- memory ----------------------------------------------------------------------------------- */

/* Pieces of GPU memory; nobody else's is touched, and room is left for others. */
struct osp_gpu_pieces {
	osp_cuda_memory at[OSP_GPU_PIECES_MAX];
	size_t bytes[OSP_GPU_PIECES_MAX];
	size_t count;
	size_t all_bytes;
};

/*
 * Takes up to `most_bytes` of what is free (0: all), in pieces of at most `piece_bytes`; less when
 * the driver gives less. false when there is none at all, which is reported.
 */
bool osp_gpu_take(struct osp_check_context *context, const struct osp_gpu_session *session,
		  size_t most_bytes, size_t piece_bytes, struct osp_gpu_pieces *pieces);
void osp_gpu_give_back(struct osp_gpu_pieces *pieces);

/* SMs that a report has seen. */
unsigned int osp_gpu_sms_seen(const struct osp_report *report);

#endif
