/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcuda.c - a libcuda.so.1 without a GPU: H100s of 2 SMs, healthy unless told otherwise
 *
 * Kernels run on the CPU (cpu.c); time is virtual, made of what they move and compute. The GPUs are
 * those of CUDA_VISIBLE_DEVICES, by the UUIDs of the fake NVML. ONESPINE_FAKE_CUDA holds faults
 * (words.h), and of GPU N, or of all without "gpuN.":
 *
 *	driver=12020           what cuDriverGetVersion() tells (12080)
 *	capability=80          10 * major + minor (90)
 *	gpuN.flip=OFFSET       a bit of this byte of memory is always 1
 *	gpuN.alias=OFFSET      a word there is written wherever one 64 KiB further is
 *	gpuN.sm=K, .sm_tensor=K, .sm_shared=K   SM K is broken
 *	gpuN.unseen=K          SM K never gets a block
 *	gpuN.hbm=P, .tensor=P, .host=P   per cent of the healthy speed
 *	gpuN.hbm_once=P        in the first process that asks
 *	gpuN.host_flip         copies from the host spoil a bit
 *	gpuN.used=P            per cent of memory that others hold
 *	linkA-B=P, linkA-B.flip, linkA-B.dead   copies from GPU A to B: speed, a bit spoilt, none
 *	linkA-B.none           B cannot be reached from A
 *	gpuN.link=P            per cent of the speed of copies between it and any other
 *	linkA-B.cold=P         the first three copies of a process run at P per cent: links awake
 *			       slowly
 *	l2=KIB                 of cache (16): what is read again and fits there comes three times as
 *			       fast
 *	not_ready=N            the first N processes that ask are told 802: the fabric is being set
 *			       up
 *	ready_s=N              all are, until the node has been up so long
 *	missing=N              CUDA does not see GPU N
 *	no_peers               no GPU reaches another
 *	pcie_stuck             copies straight from GPU to GPU never end; NCCL makes some unless
 *			       NCCL_P2P_LEVEL=NVL
 *	peers_most=N           a GPU has at most so many connections to others
 *	contexts               NVML counts the processes that have a context (words.h)
 *	exclusive              with "contexts": a GPU is for one process at a time
 *	gpuN.prohibited        no program may compute on it
 *
 * ONESPINE_FAKE_CUDA_KIB: each GPU's memory (1280: little more than the check tflops needs, as most
 * of what a test computes goes through all of it).
 */
#include "check/gpu/cuda.h"

#include "tests/fake/cpu.h"
#include "tests/fake/libcuda.h"
#include "tests/fake/words.h"

#define EXPORT	   __attribute__((visibility("default")))
#define GPUS_MAX   8
#define SMS	   2
#define BLOCKS_MAX 128
#define GRAIN	   256

/* Healthy speeds, in bytes or products per ns. */
#define HBM	 3000.0
#define HOST	 55.0
#define LINK	 396.0
#define PRODUCTS 600000.0 /* of fp8 */

struct osp_cuda_context_ {
	int gpu; /* of the node */
	bool taken;
	char *memory;
	struct {
		size_t at, bytes;
	} blocks[BLOCKS_MAX];
	size_t block_count;
	double ns; /* of the default stream */
	bool slow_once;
};

struct osp_cuda_module_ {
	struct osp_cuda_context_ *context;
	const char *ptx; /* NULL: a fat binary */
};

struct osp_cuda_function_ {
	fake_kernel kernel;
	struct osp_cuda_context_ *context;
};

struct osp_cuda_stream_ {
	struct osp_cuda_context_ *context;
	double ns;
};

struct osp_cuda_event_ {
	double ns;
};

static struct osp_cuda_context_ contexts[GPUS_MAX];
static int device_count = -1;
static struct osp_cuda_context_ *current;

/* The memory of each GPU. */
static size_t memory_bytes(void)
{
	static size_t bytes;
	const char *kib = getenv("ONESPINE_FAKE_CUDA_KIB");

	if (!bytes)
		bytes = (kib ? strtoul(kib, NULL, 10) : 1280) * 1024;
	return bytes;
}

/* --- what is broken --------------------------------------------------------------------------- */

static long reported(int gpu, const char *key, long healthy)
{
	char word[64];
	long value;

	snprintf(word, sizeof(word), "gpu%d.%s", gpu, key);
	if (fake_word(FAKE_CUDA_WORDS, word, &value) || fake_word(FAKE_CUDA_WORDS, key, &value))
		return value;
	return healthy;
}

static long link_reported(int from, int to, const char *key, long healthy)
{
	char word[64];
	long value;

	snprintf(word, sizeof(word), "link%d-%d%s", from, to, key);
	return fake_word(FAKE_CUDA_WORDS, word, &value) ? value : healthy;
}

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = fake_entered(FAKE_CUDA_WORDS, __func__);                              \
		if (state_)                                                                        \
			return state_;                                                             \
	} while (0)

/* Memory cells that are broken are so after whatever was done. */
static void spoil_memory(struct osp_cuda_context_ *context)
{
	long flip = reported(context->gpu, "flip", -1), alias = reported(context->gpu, "alias", -1);

	if (flip >= 0 && (size_t)flip < memory_bytes())
		context->memory[flip] |= 0x20;
	if (alias >= 0 && (size_t)alias + 0x10010 < memory_bytes())
		memcpy(context->memory + alias, context->memory + alias + 0x10000, 16);
}

/* --- start ------------------------------------------------------------------------------------ */

/* "GPU-0000000N-..." is GPU N of the node, "MIG-000000NI-..." an instance of it. */
static void find_devices(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	long missing = reported(-1, "missing", -1);

	device_count = 0;
	for (int gpu = 0; !visible && gpu < GPUS_MAX; gpu++)
		contexts[device_count++].gpu = gpu;
	while (visible && *visible && device_count < GPUS_MAX) {
		int gpu = -1;

		if (strncmp(visible, "GPU-", 4) == 0)
			gpu = visible[11] - '0';
		else if (strncmp(visible, "MIG-", 4) == 0)
			gpu = visible[10] - '0';
		if (gpu >= 0 && gpu < GPUS_MAX && gpu != missing)
			contexts[device_count++].gpu = gpu;
		visible += strcspn(visible, ",");
		visible += *visible == ',';
	}
}

/* Calls: no header declares them, as in CUDA's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* An MPS daemon that serves another user lets this one wait. */
static void wait_for_mps(void)
{
	const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
	char control[512];

	snprintf(control, sizeof(control), "%s/control", folder ? folder : "/tmp/nvidia-mps");
	while (access(control, F_OK) == 0)
		pause();
}

/* How many processes have asked before; each leaves a byte in ONESPINE_FAKE_MARK. */
static long count_asked(void)
{
	const char *mark = getenv("ONESPINE_FAKE_MARK");
	int file = mark ? open(mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	long asked = file >= 0 ? (long)lseek(file, 0, SEEK_END) : 0;

	if (file >= 0 && write(file, ".", 1) < 1)
		asked = 0;
	if (file >= 0)
		close(file);
	return asked;
}

/* Of the node that the checks are shown. */
static long uptime_s(void)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	char path[512];
	double uptime = 1e9;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/uptime", root ? root : "");
	file = fopen(path, "re");
	if (file && fscanf(file, "%lf", &uptime) != 1)
		uptime = 1e9;
	if (file)
		fclose(file);
	return (long)uptime;
}

EXPORT int cuInit(unsigned int flags)
{
	long asked = reported(-1, "not_ready", 0) ? count_asked() : 0;

	ENTER();
	wait_for_mps();
	(void)flags;
	if (asked < reported(-1, "not_ready", 0) || uptime_s() < reported(-1, "ready_s", 0))
		return OSP_CUDA_NOT_READY;
	find_devices();
	return device_count ? OSP_CUDA_OK : OSP_CUDA_NO_DEVICE;
}

EXPORT int cuDriverGetVersion(int *version)
{
	ENTER();
	*version = (int)reported(-1, "driver", 12080);
	return OSP_CUDA_OK;
}

EXPORT int cuDeviceGetCount(int *count)
{
	ENTER();
	*count = device_count;
	return device_count < 0 ? 3 : OSP_CUDA_OK;
}

EXPORT int cuDeviceGet(int *device, int index)
{
	ENTER();
	*device = index;
	return index < device_count ? OSP_CUDA_OK : 101;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	long capability = reported(contexts[device].gpu, "capability", 90);

	ENTER();
	switch (attribute) {
	case OSP_CUDA_SMS:
		*value = SMS;
		return OSP_CUDA_OK;
	case OSP_CUDA_MAJOR:
		*value = (int)capability / 10;
		return OSP_CUDA_OK;
	case OSP_CUDA_MINOR:
		*value = (int)capability % 10;
		return OSP_CUDA_OK;
	case OSP_CUDA_L2_BYTES:
		*value = (int)reported(contexts[device].gpu, "l2", 16) * 1024;
		return OSP_CUDA_OK;
	case OSP_CUDA_SHARED_BYTES:
		*value = 16 * 1024;
		return OSP_CUDA_OK;
	default:
		return 1;
	}
}

EXPORT int cuDevicePrimaryCtxRetain(osp_cuda_context *context, int device)
{
	ENTER();
	*context = &contexts[device];
	if ((reported(-1, "exclusive", 0) && fake_count_contexts(contexts[device].gpu)) ||
	    reported(contexts[device].gpu, "prohibited", 0))
		return OSP_CUDA_UNAVAILABLE;
	fake_note_context(contexts[device].gpu);
	if (!contexts[device].taken) {
		contexts[device].memory = fake_memory(memory_bytes());
		contexts[device].taken = true;
		contexts[device].slow_once =
			reported(contexts[device].gpu, "hbm_once", 0) && fake_first();
	}
	return OSP_CUDA_OK;
}

EXPORT int cuCtxSetCurrent(osp_cuda_context context)
{
	ENTER();
	current = context;
	return OSP_CUDA_OK;
}

EXPORT int cuGetErrorName(int result, const char **name)
{
	static const struct {
		int result;
		const char *name;
	} names[] = {
		{2, "CUDA_ERROR_OUT_OF_MEMORY"},
		{46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
		{100, "CUDA_ERROR_NO_DEVICE"},
		{209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
		{214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
		{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
		{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		{226, "CUDA_ERROR_CONTAINED"},
		{304, "CUDA_ERROR_OPERATING_SYSTEM"},
		{700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{711, "CUDA_ERROR_TOO_MANY_PEERS"},
		{714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
		{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
		{716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
		{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
		{718, "CUDA_ERROR_INVALID_PC"},
		{719, "CUDA_ERROR_LAUNCH_FAILED"},
		{800, "CUDA_ERROR_NOT_PERMITTED"},
		{802, "CUDA_ERROR_SYSTEM_NOT_READY"},
		{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
	};

	ENTER();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].result == result) {
			*name = names[i].name;
			return OSP_CUDA_OK;
		}
	return 1;
}

/* --- modules ---------------------------------------------------------------------------------- */

/* The PTX version that came with a CUDA release, times ten. */
static int ptx_of_driver(long driver)
{
	static const struct {
		long driver;
		int ptx;
	} known[] = {{10020, 65}, {11000, 70}, {11080, 78}, {12000, 80},
		     {12020, 82}, {12040, 84}, {12080, 87}, {13000, 90}};
	int ptx = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (driver >= known[i].driver)
			ptx = known[i].ptx;
	return ptx;
}

/* A fat binary: a head, then entries, each with a head of its own (fatbinary.h of CUDA; seen in
 * what nvcc 13 writes). */
#define FATBIN_MAGIC 0xba55ed50u
#define FATBIN_PTX   1
#define FATBIN_ELF   2

struct fatbin_head {
	uint32_t magic;
	uint16_t version;
	uint16_t head_bytes;
	uint64_t bytes; /* of all entries */
};

struct fatbin_entry {
	uint16_t kind;
	uint16_t version;
	uint32_t head_bytes;
	uint64_t bytes; /* behind this head */
	uint64_t packed_bytes;
	uint16_t minor;
	uint16_t major;
	uint32_t architecture;
};

/* Machine code runs on its own major architecture, from its minor one on; PTX on any newer GPU. */
static bool entry_runs(const struct fatbin_entry *entry, long capability)
{
	long of = entry->architecture;

	if (entry->kind == FATBIN_PTX)
		return of <= capability;
	return entry->kind == FATBIN_ELF && of / 10 == capability / 10 && of <= capability;
}

static int judge_fatbin(const char *image, long driver, long capability)
{
	struct fatbin_head head;
	size_t at;

	memcpy(&head, image, sizeof(head));
	if (head.magic != FATBIN_MAGIC || head.head_bytes < sizeof(head))
		return OSP_CUDA_INVALID_IMAGE;
	for (at = head.head_bytes; driver >= 13000 && at < head.head_bytes + head.bytes;) {
		struct fatbin_entry entry;

		memcpy(&entry, image + at, sizeof(entry));
		if (entry.head_bytes < sizeof(entry))
			return OSP_CUDA_INVALID_IMAGE;
		if (entry_runs(&entry, capability))
			return OSP_CUDA_OK;
		at += entry.head_bytes + entry.bytes;
	}
	return OSP_CUDA_NO_BINARY;
}

/* As a driver does: PTX no newer than itself, for no newer a GPU; machine code of its CUDA release,
 * for this GPU. */
static int judge_image(const char *image, long driver, long capability)
{
	const char *version, *target;
	int major, minor, sm;

	if ((unsigned char)image[0] == 0x50 && (unsigned char)image[1] == 0xed)
		return judge_fatbin(image, driver, capability);
	version = strstr(image, "\n.version ");
	target = strstr(image, "\n.target sm_");
	if (!version || !target || sscanf(version, "\n.version %d.%d", &major, &minor) != 2 ||
	    sscanf(target, "\n.target sm_%d", &sm) != 1)
		return OSP_CUDA_INVALID_PTX;
	if (major * 10 + minor > ptx_of_driver(driver))
		return OSP_CUDA_UNSUPPORTED_PTX;
	return sm <= capability ? OSP_CUDA_OK : OSP_CUDA_NO_BINARY;
}

EXPORT int cuModuleLoadData(osp_cuda_module *module, const void *image)
{
	int result;

	ENTER();
	result = judge_image(image, reported(-1, "driver", 12080),
			     reported(current->gpu, "capability", 90));
	if (result)
		return result;
	*module = calloc(1, sizeof(**module));
	if (!*module)
		return OSP_CUDA_OUT_OF_MEMORY;
	(*module)->context = current;
	(*module)->ptx = *(const char *)image == '\x50' ? NULL : image;
	return OSP_CUDA_OK;
}

EXPORT int cuModuleGetFunction(osp_cuda_function *function, osp_cuda_module module,
			       const char *name)
{
	char entry[80];

	ENTER();
	snprintf(entry, sizeof(entry), ".entry %s(", name);
	if (!fake_kernel_find(name) || (module->ptx && !strstr(module->ptx, entry)))
		return OSP_CUDA_NOT_FOUND;
	*function = calloc(1, sizeof(**function));
	if (!*function)
		return OSP_CUDA_OUT_OF_MEMORY;
	(*function)->kernel = fake_kernel_find(name);
	(*function)->context = module->context;
	return OSP_CUDA_OK;
}

EXPORT int cuFuncSetAttribute(osp_cuda_function function, int attribute, int value)
{
	ENTER();
	(void)function;
	return attribute == OSP_CUDA_FUNCTION_SHARED && value <= 16 * 1024 ? OSP_CUDA_OK : 1;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, osp_cuda_function function,
						       int threads, size_t shared_bytes)
{
	ENTER();
	(void)function;
	(void)threads;
	(void)shared_bytes;
	*blocks = 1;
	return OSP_CUDA_OK;
}

/* --- time and streams ------------------------------------------------------------------------- */

static double *clock_of(osp_cuda_stream stream)
{
	return stream ? &stream->ns : &current->ns;
}

EXPORT void onespine_fake_pass_ns(void *stream, double ns)
{
	*clock_of(stream) += ns;
}

EXPORT int onespine_fake_gpu_of(void *stream)
{
	return stream ? ((osp_cuda_stream)stream)->context->gpu : current->gpu;
}

EXPORT int cuStreamCreate(osp_cuda_stream *stream, unsigned int flags)
{
	ENTER();
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	if (!*stream)
		return OSP_CUDA_OUT_OF_MEMORY;
	(*stream)->context = current;
	return OSP_CUDA_OK;
}

EXPORT int cuStreamSynchronize(osp_cuda_stream stream)
{
	ENTER();
	(void)stream;
	return OSP_CUDA_OK;
}

EXPORT int cuEventCreate(osp_cuda_event *event, unsigned int flags)
{
	ENTER();
	(void)flags;
	*event = calloc(1, sizeof(**event));
	return *event ? OSP_CUDA_OK : OSP_CUDA_OUT_OF_MEMORY;
}

EXPORT int cuEventRecord(osp_cuda_event event, osp_cuda_stream stream)
{
	ENTER();
	event->ns = *clock_of(stream);
	return OSP_CUDA_OK;
}

EXPORT int cuEventElapsedTime(float *milliseconds, osp_cuda_event begin, osp_cuda_event end)
{
	ENTER();
	*milliseconds = (float)((end->ns - begin->ns) / 1e6);
	return OSP_CUDA_OK;
}

/* The time of what a kernel loads, as a part of what it would take from memory: what the cache
 * keeps from one launch to the next comes three times as fast. */
static double of_memory(int gpu, const struct osp_work *work)
{
	double cache = (double)reported(gpu, "l2", 16) * 1024, bytes = (double)work->count * 16;
	double kept = bytes > 0 && bytes < cache ? 1 : bytes > 0 ? cache / bytes : 0;

	return 1 - kept * 2 / 3;
}

EXPORT int cuLaunchKernel(osp_cuda_function function, unsigned int blocks, unsigned int blocks_y,
			  unsigned int blocks_z, unsigned int threads, unsigned int threads_y,
			  unsigned int threads_z, unsigned int shared_bytes, osp_cuda_stream stream,
			  void **parameters, void **extra)
{
	struct osp_cuda_context_ *context = function->context;
	const struct osp_work *work = parameters[0];
	struct fake_broken_sm broken = {(int)reported(context->gpu, "sm", -1),
					(int)reported(context->gpu, "sm_tensor", -1),
					(int)reported(context->gpu, "sm_shared", -1)};
	double hbm = HBM * (double)reported(context->gpu, "hbm", 100) / 100;
	double products = PRODUCTS * (double)reported(context->gpu, "tensor", 100) / 100;
	struct fake_done done;
	double moving, multiplying;

	ENTER();
	if (blocks_y != 1 || blocks_z != 1 || threads != OSP_THREADS || threads_y != 1 ||
	    threads_z != 1 || extra)
		return 1;
	if (context->slow_once)
		hbm = hbm * (double)reported(context->gpu, "hbm_once", 100) / 100;
	fake_run(function->kernel, work, blocks, shared_bytes,
		 reported(context->gpu, "unseen", 0) ? SMS - 1 : SMS, &broken, &done);
	spoil_memory(context);
	moving = ((double)done.loaded_bytes * of_memory(context->gpu, work) +
		  (double)done.stored_bytes) /
		 hbm;
	multiplying = (double)done.products / products;
	*clock_of(stream) += moving > multiplying ? moving : multiplying;
	return OSP_CUDA_OK;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What others hold lies at the end. */
static size_t memory_end(const struct osp_cuda_context_ *context)
{
	return memory_bytes() / 100 * (size_t)(100 - reported(context->gpu, "used", 0));
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes)
{
	ENTER();
	*all_bytes = memory_bytes();
	*free_bytes = memory_end(current);
	for (size_t i = 0; i < current->block_count; i++)
		*free_bytes -= current->blocks[i].bytes < *free_bytes ? current->blocks[i].bytes
								      : *free_bytes;
	return OSP_CUDA_OK;
}

/* First fit; blocks are in the order of their place. */
EXPORT int cuMemAlloc_v2(osp_cuda_memory *memory, size_t bytes)
{
	size_t at = 0, index;

	ENTER();
	bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	for (index = 0; index < current->block_count; index++) {
		if (at + bytes <= current->blocks[index].at)
			break;
		at = current->blocks[index].at + current->blocks[index].bytes;
	}
	if (at + bytes > memory_end(current) || current->block_count == BLOCKS_MAX)
		return OSP_CUDA_OUT_OF_MEMORY;
	memmove(&current->blocks[index + 1], &current->blocks[index],
		(current->block_count - index) * sizeof(current->blocks[0]));
	current->blocks[index].at = at;
	current->blocks[index].bytes = bytes;
	current->block_count++;
	*memory = (osp_cuda_memory)(uintptr_t)(current->memory + at);
	return OSP_CUDA_OK;
}

static struct osp_cuda_context_ *context_of(osp_cuda_memory memory)
{
	for (int i = 0; i < GPUS_MAX; i++)
		if (contexts[i].taken && (char *)(uintptr_t)memory >= contexts[i].memory &&
		    (char *)(uintptr_t)memory < contexts[i].memory + memory_bytes())
			return &contexts[i];
	abort(); /* no memory of a GPU: a fault of the caller */
}

EXPORT int cuMemFree_v2(osp_cuda_memory memory)
{
	struct osp_cuda_context_ *context = context_of(memory);
	size_t at = (size_t)((char *)(uintptr_t)memory - context->memory);

	ENTER();
	for (size_t i = 0; i < context->block_count; i++) {
		if (context->blocks[i].at != at)
			continue;
		context->block_count--;
		memmove(&context->blocks[i], &context->blocks[i + 1],
			(context->block_count - i) * sizeof(context->blocks[0]));
		return OSP_CUDA_OK;
	}
	return 1;
}

EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
	ENTER();
	(void)flags;
	*memory = malloc(bytes);
	return *memory ? OSP_CUDA_OK : OSP_CUDA_OUT_OF_MEMORY;
}

EXPORT int cuMemFreeHost(void *memory)
{
	ENTER();
	free(memory);
	return OSP_CUDA_OK;
}

EXPORT int cuMemsetD32Async(osp_cuda_memory memory, unsigned int word, size_t count,
			    osp_cuda_stream stream)
{
	uint32_t *words = (uint32_t *)(uintptr_t)memory;

	ENTER();
	for (size_t i = 0; i < count; i++)
		words[i] = word;
	*clock_of(stream) += (double)count * 4 / HBM;
	return OSP_CUDA_OK;
}

static double host_ns(const struct osp_cuda_context_ *context, size_t bytes)
{
	return (double)bytes / (HOST * (double)reported(context->gpu, "host", 100) / 100);
}

EXPORT int cuMemcpyHtoDAsync_v2(osp_cuda_memory to, const void *from, size_t bytes,
				osp_cuda_stream stream)
{
	struct osp_cuda_context_ *context = context_of(to);

	ENTER();
	memcpy((void *)(uintptr_t)to, from, bytes);
	if (reported(context->gpu, "host_flip", 0) && bytes > 64 * 1024)
		((char *)(uintptr_t)to)[bytes / 2] ^= 4;
	spoil_memory(context);
	*clock_of(stream) += host_ns(context, bytes);
	return OSP_CUDA_OK;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, osp_cuda_memory from, size_t bytes,
				osp_cuda_stream stream)
{
	ENTER();
	memcpy(to, (const void *)(uintptr_t)from, bytes);
	*clock_of(stream) += host_ns(context_of(from), bytes);
	return OSP_CUDA_OK;
}

EXPORT int cuMemcpyDtoDAsync_v2(osp_cuda_memory to, osp_cuda_memory from, size_t bytes,
				osp_cuda_stream stream)
{
	ENTER();
	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	*clock_of(stream) += 2 * (double)bytes / HBM;
	return OSP_CUDA_OK;
}

/* --- peers ------------------------------------------------------------------------------------ */

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	ENTER();
	*can = device != peer && !reported(-1, "no_peers", 0) &&
	       !link_reported(contexts[device].gpu, contexts[peer].gpu, ".none", 0);
	return OSP_CUDA_OK;
}

static bool reaches[GPUS_MAX][GPUS_MAX];

/* Of a GPU, in both directions; the driver counts those of all processes. */
static long count_connections(int gpu)
{
	long count = 0;

	for (int other = 0; other < GPUS_MAX; other++)
		count += reaches[gpu][other] + reaches[other][gpu];
	return count;
}

EXPORT int cuCtxEnablePeerAccess(osp_cuda_context peer, unsigned int flags)
{
	long most = reported(-1, "peers_most", 0);

	ENTER();
	(void)flags;
	if (peer == current)
		return 101;
	if (reaches[current->gpu][peer->gpu])
		return OSP_CUDA_PEER_ALREADY;
	if (most &&
	    (count_connections(current->gpu) >= most || count_connections(peer->gpu) >= most))
		return 711;
	reaches[current->gpu][peer->gpu] = true;
	return OSP_CUDA_OK;
}

EXPORT int cuCtxDisablePeerAccess(osp_cuda_context peer)
{
	ENTER();
	if (!reaches[current->gpu][peer->gpu])
		return 705;
	reaches[current->gpu][peer->gpu] = false;
	return OSP_CUDA_OK;
}

#define COLD_COPIES 3
static int copied[GPUS_MAX][GPUS_MAX];

EXPORT int cuMemcpyPeerAsync(osp_cuda_memory to, osp_cuda_context to_context, osp_cuda_memory from,
			     osp_cuda_context from_context, size_t bytes, osp_cuda_stream stream)
{
	int a = from_context->gpu, b = to_context->gpu;
	double percent;

	ENTER();
	if (link_reported(a, b, ".dead", 0))
		return 719;
	while (reaches[a][b] && reported(-1, "pcie_stuck", 0))
		pause();
	memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	if (link_reported(a, b, ".flip", 0))
		((char *)(uintptr_t)to)[bytes / 3] ^= 1;
	percent = (double)link_reported(a, b, "", 100) * (double)reported(a, "link", 100) / 100 *
		  (double)reported(b, "link", 100) / 100;
	if (copied[a][b] < COLD_COPIES) {
		copied[a][b]++;
		percent = percent * (double)link_reported(a, b, ".cold", 100) / 100;
	}
	/* what cannot go straight goes through the host */
	*clock_of(stream) += (double)bytes / ((reaches[a][b] ? LINK : HOST / 2) * percent / 100);
	return OSP_CUDA_OK;
}
