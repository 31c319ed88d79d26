/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cuda.h - the CUDA driver's interface, loaded at run time
 *
 * libcuda.so.1 is opened by name and never linked, and no CUDA header is needed: names, numbers and
 * layouts are those of the driver API's stable binary interface (cuda.h of CUDA 11 to 13). A
 * function that a driver lacks returns OSP_CUDA_NO_FUNCTION. One thread.
 */
#ifndef OSP_CUDA_H
#define OSP_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define OSP_CUDA_LIBRARY "libcuda.so.1"

/*
 * What a call returns. An error that a kernel causes stays with its process: every later call
 * returns it too (cuda.h of CUDA 13.0, "leaves the process in an inconsistent state").
 */
enum osp_cuda_result {
	OSP_CUDA_OK = 0,
	OSP_CUDA_OUT_OF_MEMORY = 2,
	OSP_CUDA_UNAVAILABLE = 46,
	OSP_CUDA_NO_DEVICE = 100,
	OSP_CUDA_INVALID_IMAGE = 200,
	OSP_CUDA_NO_BINARY = 209, /* the image has none for this GPU */
	OSP_CUDA_ECC = 214,	  /* an uncorrectable error of memory */
	OSP_CUDA_INVALID_PTX = 218,
	OSP_CUDA_NVLINK = 220, /* an uncorrectable error of NVLink */
	OSP_CUDA_UNSUPPORTED_PTX = 222,
	OSP_CUDA_CONTAINED = 226, /* an error of the hardware, contained to the process that met
				     it */
	OSP_CUDA_OPERATING_SYSTEM = 304,
	OSP_CUDA_NOT_FOUND = 500,
	OSP_CUDA_ILLEGAL_ADDRESS = 700,
	OSP_CUDA_PEER_ALREADY = 704,
	OSP_CUDA_TOO_MANY_PEERS = 711,
	OSP_CUDA_STACK = 714, /* a hardware error while a kernel ran */
	OSP_CUDA_ILLEGAL_INSTRUCTION = 715,
	OSP_CUDA_LAUNCH_FAILED =
		719, /* to 719: alignment, address space, program counter, any exception */
	OSP_CUDA_NOT_PERMITTED = 800,
	OSP_CUDA_NOT_READY = 802, /* the fabric manager has not set up the NVLink fabric */
	OSP_CUDA_DRIVER_MISMATCH = 803,
	OSP_CUDA_NO_FUNCTION = -1, /* ours */
};

/* Attributes of a device. */
#define OSP_CUDA_SMS	      16
#define OSP_CUDA_L2_BYTES     38
#define OSP_CUDA_MAJOR	      75
#define OSP_CUDA_MINOR	      76
#define OSP_CUDA_SHARED_BYTES 97 /* the most that a block may ask for */
/* Attribute of a function: the shared memory that it may get beyond the usual. */
#define OSP_CUDA_FUNCTION_SHARED 8
#define OSP_CUDA_STREAM_OWN	 1 /* does not wait for the default stream */

typedef uint64_t osp_cuda_memory;
typedef struct osp_cuda_context_ *osp_cuda_context;
typedef struct osp_cuda_module_ *osp_cuda_module;
typedef struct osp_cuda_function_ *osp_cuda_function;
typedef struct osp_cuda_stream_ *osp_cuda_stream;
typedef struct osp_cuda_event_ *osp_cuda_event;

/* name here, the driver's name, parameters, arguments */
#define OSP_CUDA_CALLS(X)                                                                          \
	X(init, "cuInit", (unsigned int flags), (flags))                                           \
	X(driver_version, "cuDriverGetVersion", (int *version), (version))                         \
	X(count, "cuDeviceGetCount", (int *count), (count))                                        \
	X(device, "cuDeviceGet", (int *device, int index), (device, index))                        \
	X(attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device),              \
	  (value, attribute, device))                                                              \
	X(context_take, "cuDevicePrimaryCtxRetain", (osp_cuda_context * context, int device),      \
	  (context, device))                                                                       \
	X(context_use, "cuCtxSetCurrent", (osp_cuda_context context), (context))                   \
	X(module_load, "cuModuleLoadData", (osp_cuda_module * module, const void *image),          \
	  (module, image))                                                                         \
	X(find, "cuModuleGetFunction",                                                             \
	  (osp_cuda_function * function, osp_cuda_module module, const char *name),                \
	  (function, module, name))                                                                \
	X(function_set, "cuFuncSetAttribute",                                                      \
	  (osp_cuda_function function, int attribute, int value), (function, attribute, value))    \
	X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                \
	  (int *blocks, osp_cuda_function function, int threads, size_t shared_bytes),             \
	  (blocks, function, threads, shared_bytes))                                               \
	X(launch, "cuLaunchKernel",                                                                \
	  (osp_cuda_function function, unsigned int blocks, unsigned int blocks_y,                 \
	   unsigned int blocks_z, unsigned int threads, unsigned int threads_y,                    \
	   unsigned int threads_z, unsigned int shared_bytes, osp_cuda_stream stream,              \
	   void **parameters, void **extra),                                                       \
	  (function, blocks, blocks_y, blocks_z, threads, threads_y, threads_z, shared_bytes,      \
	   stream, parameters, extra))                                                             \
	X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * all_bytes),               \
	  (free_bytes, all_bytes))                                                                 \
	X(allocate, "cuMemAlloc_v2", (osp_cuda_memory * memory, size_t bytes), (memory, bytes))    \
	X(release, "cuMemFree_v2", (osp_cuda_memory memory), (memory))                             \
	X(host_allocate, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned int flags),      \
	  (memory, bytes, flags))                                                                  \
	X(host_release, "cuMemFreeHost", (void *memory), (memory))                                 \
	X(set_words, "cuMemsetD32Async",                                                           \
	  (osp_cuda_memory memory, unsigned int word, size_t count, osp_cuda_stream stream),       \
	  (memory, word, count, stream))                                                           \
	X(to_gpu, "cuMemcpyHtoDAsync_v2",                                                          \
	  (osp_cuda_memory to, const void *from, size_t bytes, osp_cuda_stream stream),            \
	  (to, from, bytes, stream))                                                               \
	X(to_host, "cuMemcpyDtoHAsync_v2",                                                         \
	  (void *to, osp_cuda_memory from, size_t bytes, osp_cuda_stream stream),                  \
	  (to, from, bytes, stream))                                                               \
	X(inside, "cuMemcpyDtoDAsync_v2",                                                          \
	  (osp_cuda_memory to, osp_cuda_memory from, size_t bytes, osp_cuda_stream stream),        \
	  (to, from, bytes, stream))                                                               \
	X(to_peer, "cuMemcpyPeerAsync",                                                            \
	  (osp_cuda_memory to, osp_cuda_context to_context, osp_cuda_memory from,                  \
	   osp_cuda_context from_context, size_t bytes, osp_cuda_stream stream),                   \
	  (to, to_context, from, from_context, bytes, stream))                                     \
	X(can_peer, "cuDeviceCanAccessPeer", (int *can, int device, int peer),                     \
	  (can, device, peer))                                                                     \
	X(enable_peer, "cuCtxEnablePeerAccess", (osp_cuda_context peer, unsigned int flags),       \
	  (peer, flags))                                                                           \
	X(disable_peer, "cuCtxDisablePeerAccess", (osp_cuda_context peer), (peer))                 \
	X(make_stream, "cuStreamCreate", (osp_cuda_stream * stream, unsigned int flags),           \
	  (stream, flags))                                                                         \
	X(wait, "cuStreamSynchronize", (osp_cuda_stream stream), (stream))                         \
	X(make_event, "cuEventCreate", (osp_cuda_event * event, unsigned int flags),               \
	  (event, flags))                                                                          \
	X(record, "cuEventRecord", (osp_cuda_event event, osp_cuda_stream stream),                 \
	  (event, stream))                                                                         \
	X(elapsed, "cuEventElapsedTime",                                                           \
	  (float *milliseconds, osp_cuda_event begin, osp_cuda_event end),                         \
	  (milliseconds, begin, end))                                                              \
	X(error_name, "cuGetErrorName", (int result, const char **name), (result, name))

/* osp_cuda_init(0) and so on: they return the driver's answer. */
#define OSP_CUDA_DECLARE(name, symbol, parameters, arguments) int osp_cuda_##name parameters;
OSP_CUDA_CALLS(OSP_CUDA_DECLARE)
#undef OSP_CUDA_DECLARE

/* Loads the library once a process. Returns NULL if it is loaded, else why not, in words. */
const char *osp_cuda_load(void);

/* Returns "CUDA_ERROR_NO_DEVICE (100)". The string lives until the next call. */
const char *osp_cuda_words(int result);

#endif
