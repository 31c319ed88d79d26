/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libnccl.c - a libnccl.so.2 on the fake libcuda: all-reduce of whole numbers, also between
 * processes
 *
 * Who makes an id listens on 127.0.0.1, and the id says where; the others of its communicator
 * connect, and the sums really go through those connections, while time is the fake libcuda's. A
 * process is the node that its ONESPINE_TEST_ROOT is called after.
 *
 * ONESPINE_FAKE_CUDA (words.h): "nccl=P" per cent of the healthy speed inside a node, "nccl_flip=N"
 * a bit of what arrives on the N-th GPU is spoilt, "nccl_without=N" the N-th brings nothing;
 * between nodes "nccl_net=P" per cent of the healthy speed of whatever this node takes part in,
 * "nccl_link_NAME=P" of what it does together with that node, "nccl_wrong" what it sends is spoilt;
 * "nccl_version=V"; hangs, crashes and errors of its calls.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "check/gpu/nccl.h"
#include "tests/fake/libcuda.h"
#include "tests/fake/words.h"

#define EXPORT	  __attribute__((visibility("default")))
#define RANKS	  64 /* of one process */
#define NODES	  64 /* of a communicator */
#define IDS	  8  /* that a process makes */
#define BUS_GBPS  470.0
#define NET_GBPS  441.0 /* two p5.48xlarge */
#define FAILED	  2	/* ncclSystemError */
#define MISUSED	  4	/* ncclInvalidArgument */
#define NAME_SIZE 64

/* What the id holds. */
struct address {
	uint16_t port;
	uint64_t magic;
};

/* What a process says when it joins. */
struct hello {
	uint64_t magic;
	char name[NAME_SIZE];
	char words[1024];
	int gpus;
};

/* This process's part of a communicator. */
struct world {
	int ranks;
	int gpus;   /* here */
	int left;   /* that have not left it */
	bool first; /* it has rank 0, and adds up */
	int files[NODES];
	int file_count;
	double gbps;
};

struct member {
	struct world *world;
	int index; /* in its process */
};

static struct {
	struct address address;
	int listener;
} ids[IDS];
static int id_count;

static struct {
	struct osp_nccl_id id;
	osp_nccl_communicator *to;
	int ranks, rank;
} joins[RANKS];
static int join_count;

static struct {
	const uint32_t *from;
	uint32_t *to;
	size_t count;
	struct member *member;
	void *stream;
} calls[RANKS];
static int call_count;

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = fake_entered(FAKE_CUDA_WORDS, __func__);                              \
		if (state_)                                                                        \
			return state_;                                                             \
	} while (0)

static long reported(const char *key, long healthy)
{
	long value;

	return fake_word(FAKE_CUDA_WORDS, key, &value) ? value : healthy;
}

static void pass_ns(void *stream, double ns)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	fake_cuda_pass_ns function;

	*(void **)&function = library ? dlsym(library, "onespine_fake_pass_ns") : NULL;
	if (!function)
		abort();
	function(stream, ns);
}

/* --- connections ------------------------------------------------------------------------------ */

static bool give(int file, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t sent = send(file, at, count, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		count -= (size_t)sent;
	}
	return true;
}

static bool get(int file, void *bytes, size_t count)
{
	return recv(file, bytes, count, MSG_WAITALL) == (ssize_t)count;
}

static int listen_somewhere(uint16_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (file < 0 || bind(file, (struct sockaddr *)&at, length) || listen(file, NODES) ||
	    getsockname(file, (struct sockaddr *)&at, &length))
		return -1;
	*port = at.sin_port;
	return file;
}

static int reach(const struct address *address)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = address->port};
	int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return connect(file, (struct sockaddr *)&at, sizeof(at)) ? -1 : file;
}

/* --- joining ---------------------------------------------------------------------------------- */

static void introduce(const struct address *address, int gpus, struct hello *hello)
{
	const char *root = getenv("ONESPINE_TEST_ROOT"), *words = getenv(FAKE_CUDA_WORDS);
	const char *name = root ? strrchr(root, '/') : NULL;

	memset(hello, 0, sizeof(*hello));
	hello->magic = address->magic;
	hello->gpus = gpus;
	snprintf(hello->name, sizeof(hello->name), "%s", name ? name + 1 : "");
	snprintf(hello->words, sizeof(hello->words), "%s", words ? words : "");
}

/* The per cent that `one` says of what it does with `other`. */
static long percent(const struct hello *one, const struct hello *other)
{
	char key[NAME_SIZE + 16];
	long net = 100, link;

	snprintf(key, sizeof(key), "nccl_link_%s", other->name);
	fake_word_in(one->words, "nccl_net", &net);
	return fake_word_in(one->words, key, &link) && link < net ? link : net;
}

static double speed(const struct hello *hellos, int count)
{
	long least = percent(&hellos[0], &hellos[0]);

	for (int i = 0; i < count; i++)
		for (int n = 0; n < count; n++)
			if (percent(&hellos[i], &hellos[n]) < least)
				least = percent(&hellos[i], &hellos[n]);
	return NET_GBPS * (double)least / 100;
}

/* All others come to whoever has rank 0. */
static int gather(struct world *world, const struct address *address)
{
	static struct hello hellos[NODES + 1];
	int listener = -1, gpus = world->gpus;

	for (int i = 0; i < id_count; i++)
		if (ids[i].address.magic == address->magic)
			listener = ids[i].listener;
	introduce(address, world->gpus, &hellos[0]);
	while (listener >= 0 && gpus < world->ranks && world->file_count < NODES) {
		struct hello *hello = &hellos[world->file_count + 1];
		int file = accept(listener, NULL, NULL), one = 1;

		if (file < 0)
			return FAILED;
		setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (!get(file, hello, sizeof(*hello)) || hello->magic != address->magic)
			return FAILED;
		world->files[world->file_count++] = file;
		gpus += hello->gpus;
	}
	if (gpus != world->ranks)
		return MISUSED;
	world->gbps = speed(hellos, world->file_count + 1);
	for (int i = 0; i < world->file_count; i++)
		if (!give(world->files[i], &world->gbps, sizeof(world->gbps)))
			return FAILED;
	return 0;
}

static int join_world(void)
{
	struct world *world = calloc(1, sizeof(*world));
	struct address address;
	struct hello hello;
	int state;

	if (!world)
		return FAILED;
	memcpy(&address, joins[0].id.bytes, sizeof(address));
	world->ranks = joins[0].ranks;
	world->gpus = world->left = join_count;
	for (int i = 0; i < join_count; i++) {
		struct member *member = calloc(1, sizeof(*member));

		if (!member || joins[i].ranks != world->ranks || joins[i].rank != joins[0].rank + i)
			return MISUSED;
		member->world = world;
		member->index = i;
		*joins[i].to = member;
	}
	world->first = joins[0].rank == 0;
	if (world->first) {
		state = gather(world, &address);
	} else {
		introduce(&address, world->gpus, &hello);
		world->files[world->file_count++] = reach(&address);
		state = world->files[0] >= 0 && give(world->files[0], &hello, sizeof(hello)) &&
					get(world->files[0], &world->gbps, sizeof(world->gbps))
				? 0
				: FAILED;
	}
	join_count = 0;
	return state;
}

/* --- sums ------------------------------------------------------------------------------------- */

static bool add_others(const struct world *world, uint32_t *sum, size_t count)
{
	size_t bytes = count * sizeof(*sum);
	uint32_t *theirs = malloc(bytes);
	bool done = theirs != NULL;

	for (int i = 0; done && world->first && i < world->file_count; i++) {
		done = get(world->files[i], theirs, bytes);
		for (size_t word = 0; done && word < count; word++)
			sum[word] += theirs[word];
	}
	for (int i = 0; done && i < world->file_count; i++)
		done = give(world->files[i], sum, bytes);
	if (done && !world->first)
		done = get(world->files[0], sum, bytes);
	free(theirs);
	return done;
}

static int reduce(void)
{
	const struct world *world = calls[0].member->world;
	long flip = reported("nccl_flip", -1), without = reported("nccl_without", -1);
	const char *level = getenv("NCCL_P2P_LEVEL");
	double n = world->ranks;
	size_t count = calls[0].count;
	uint32_t *sum = calloc(count, sizeof(*sum));

	if (!sum || call_count != world->gpus)
		return MISUSED;
	while (reported("pcie_stuck", 0) && (!level || strcmp(level, "NVL") != 0))
		pause();
	for (int i = 0; i < call_count; i++)
		for (size_t word = 0; i != without && word < count; word++)
			sum[word] += calls[i].from[word];
	if (world->file_count && reported("nccl_wrong", 0))
		sum[count / 2] ^= 0x40;
	if (!add_others(world, sum, count))
		return FAILED;
	for (int i = 0; i < call_count; i++) {
		memcpy(calls[i].to, sum, count * sizeof(*sum));
		pass_ns(calls[i].stream, (double)count * 4 * 2 * (n - 1) / n / world->gbps);
	}
	if (flip >= 0 && flip < call_count)
		calls[flip].to[count / 2] ^= 0x40;
	free(sum);
	return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* No header declares them, as in NCCL's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT int ncclGetVersion(int *version)
{
	ENTER();
	*version = (int)reported("nccl_version", 22304);
	return 0;
}

EXPORT int ncclGetUniqueId(struct osp_nccl_id *id)
{
	struct address address = {.port = 0};

	ENTER();
	if (id_count == IDS || getrandom(&address.magic, sizeof(address.magic), 0) < 0)
		return FAILED;
	ids[id_count].listener = listen_somewhere(&address.port);
	if (ids[id_count].listener < 0)
		return FAILED;
	ids[id_count++].address = address;
	memset(id, 0, sizeof(*id));
	memcpy(id->bytes, &address, sizeof(address));
	return 0;
}

EXPORT int ncclCommInitRank(osp_nccl_communicator *communicator, int ranks, struct osp_nccl_id id,
			    int rank)
{
	ENTER();
	if (join_count == RANKS || rank < 0 || rank >= ranks)
		return MISUSED;
	joins[join_count].to = communicator;
	joins[join_count].ranks = ranks;
	joins[join_count].id = id;
	joins[join_count++].rank = rank;
	return 0;
}

EXPORT int ncclCommInitAll(osp_nccl_communicator *communicators, int count, const int *devices)
{
	static struct member members[RANKS];
	static struct world world;

	ENTER();
	(void)devices;
	if (count > RANKS)
		return MISUSED;
	world.ranks = world.gpus = world.left = count;
	world.first = true;
	world.gbps = BUS_GBPS * (double)reported("nccl", 100) / 100;
	for (int i = 0; i < count; i++) {
		members[i].world = &world;
		members[i].index = i;
		communicators[i] = &members[i];
	}
	return 0;
}

EXPORT int ncclCommDestroy(osp_nccl_communicator communicator)
{
	struct world *world = ((struct member *)communicator)->world;

	ENTER();
	if (--world->left == 0)
		for (int i = 0; i < world->file_count; i++)
			close(world->files[i]);
	return 0;
}

EXPORT const char *ncclGetErrorString(int result)
{
	fake_entered(FAKE_CUDA_WORDS, __func__);
	return result == FAILED ? "unhandled system error" : "internal error";
}

EXPORT int ncclGroupStart(void)
{
	ENTER();
	call_count = join_count = 0;
	return 0;
}

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
			 osp_nccl_communicator communicator, void *stream)
{
	struct member *member = communicator;

	ENTER();
	if (type != OSP_NCCL_INT32 || operation != OSP_NCCL_SUM || member->index != call_count)
		return MISUSED;
	calls[call_count].from = from;
	calls[call_count].to = to;
	calls[call_count].count = count;
	calls[call_count].member = member;
	calls[call_count].stream = stream;
	call_count++;
	return 0;
}

EXPORT int ncclGroupEnd(void)
{
	ENTER();
	return join_count ? join_world() : reduce();
}
