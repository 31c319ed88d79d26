/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_follow.c - a thread that puts a changed topology file in force, and one for gangs
 *
 * The first reads the file and lays it over Slurm's nodes beside what is in force, and exchanges
 * the two while it holds Slurm's node write lock and then shadow_lock, in this order. It keeps no
 * pointer into Slurm's records: 22.05 makes them anew when it is reconfigured. If the generation
 * has changed since it began, its work is void.
 *
 * The second looks at gangs whose nodes are launched, and at the orders of large gangs. It reads no
 * file: on a file system that does not answer the first one waits without an end, and launches go
 * on. The two share only what Slurm's locks or shadow_lock guard.
 *
 * When slurmctld ends, or makes way for a new process, it saves its state only if nobody holds one
 * of its locks: so from then on the threads take none and keep none.
 *
 * slurmctld ends with exit() while the threads run, and calls fini() only in builds that find
 * leaks. So exit() must tear down nothing that they use, and they wait only for their file
 * descriptor, Slurm's locks and, the first one, the file.
 */
#include "sched/shadow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A look costs an open() and two stat(). A changed file is to be in force within 5 s. */
#define LOOK_EVERY_MS 1000

/* A thread that looks again and again. */
struct looker {
	void (*look)(void);
	pthread_t thread;
	bool running; /* for the thread that calls node_init and fini alone */
};

static int wake_file = -1; /* of both; nobody reads it, so it wakes both */
static atomic_bool stopping;

/* A changed file is exchanged at once, and its next change no sooner than after so many looks: each
 * exchange makes backfill begin anew. */
#define LOOKS_AFTER_EXCHANGE 2

/* After so many looks a file that does not settle is reported. */
#define LOOKS_UNSETTLED 10

/* What one look remembers for the next. */
static struct {
	struct osp_file_mark before; /* the file's mark */
	struct osp_file_mark unlaid; /* could not be laid over the nodes of that generation */
	uint64_t unlaid_generation;
	uint32_t rest;	    /* looks that read nothing, after an exchange */
	uint32_t unsettled; /* looks in a row at a file that is being written */
	int cause;	    /* already reported: why it cannot be read */
} follower;

/* --- slurmctld's own state ------------------------------------------------------------------- */

static bool is_ending(void)
{
	return &slurmctld_config &&
	       __atomic_load_n(&slurmctld_config.shutdown_time, __ATOMIC_RELAXED);
}

/* Returns whether this is a standby controller, which may have been in control before. */
static bool stands_by(void)
{
	return &slurmctld_primary && &control_time && !slurmctld_primary &&
	       !__atomic_load_n(&control_time, __ATOMIC_RELAXED);
}

/* Takes the lock. Returns false, without the lock, if slurmctld is ending. */
static bool lock_unless_ending(slurmctld_lock_t lock)
{
	if (is_ending())
		return false;
	lock_slurmctld(lock);
	if (!is_ending())
		return true;
	unlock_slurmctld(lock);
	return false;
}

/* --- what it begins with --------------------------------------------------------------------- */

/* The state when a look began. */
struct glance {
	char path[PATH_MAX];
	char copy[PATH_MAX];
	struct osp_file_mark mark;
	bool fresh; /* the file may have changed since the mark */
	uint64_t generation;
};

static void take_glance(struct glance *glance)
{
	pthread_rwlock_rdlock(&shadow_lock);
	memcpy(glance->path, shadow_topology_file.path, sizeof(glance->path));
	memcpy(glance->copy, shadow_topology_file.copy, sizeof(glance->copy));
	glance->mark = shadow_topology_file.mark;
	glance->fresh = shadow_topology_file.fresh;
	glance->generation = shadow_state.generation;
	pthread_rwlock_unlock(&shadow_lock);
}

/* The names of Slurm's nodes, copied; NULL for a place without a node. */
struct names {
	const char **name;
	char *bytes;
	uint32_t count;
};

static void free_names(struct names *names)
{
	free(names->name);
	free(names->bytes);
}

/* Copies the names. The caller holds Slurm's node lock for reading. */
static bool fill_names(struct names *names)
{
	size_t bytes = 1, at = 0;
	int count = node_record_table_ptr ? node_record_count : 0;

	for (int n = 0; n < count; n++)
		bytes += node_record_table_ptr[n] ? strlen(node_record_table_ptr[n]->name) + 1 : 0;
	names->count = (uint32_t)count;
	names->name = calloc((size_t)count + 1, sizeof(*names->name));
	names->bytes = malloc(bytes);
	if (!names->name || !names->bytes)
		return false;
	for (int n = 0; n < count; n++) {
		const node_record_t *node = node_record_table_ptr[n];
		size_t length = node ? strlen(node->name) + 1 : 0;

		if (!node)
			continue;
		names->name[n] = memcpy(names->bytes + at, node->name, length);
		at += length;
	}
	return true;
}

/*
 * Copies the names. Also returns false if the node table has changed since the glance, or there is
 * none.
 */
static bool copy_names(struct names *names, const struct glance *glance)
{
	slurmctld_lock_t reading = {.node = READ_LOCK};
	bool good;

	if (!lock_unless_ending(reading))
		return false;
	pthread_rwlock_rdlock(&shadow_lock);
	good = shadow_state.generation == glance->generation;
	pthread_rwlock_unlock(&shadow_lock);
	good = good && fill_names(names) && names->count;
	unlock_slurmctld(reading);
	return good;
}

/* --- another topology ------------------------------------------------------------------------ */

/* Keeps the mark. The caller holds shadow_lock for writing. */
static void keep_mark(const struct osp_file_mark *mark)
{
	shadow_topology_file.mark = *mark;
	shadow_topology_file.fresh = false;
}

enum exchanged {
	EXCHANGED_NOTHING,
	EXCHANGED_FILE,	  /* it says what is in force already: no job has to be looked at again */
	EXCHANGED_FABRIC, /* backfill looks again at all jobs that wait */
};

/*
 * Exchanges what is in force with what was read. Under Slurm's lock also for a file that says the
 * same: a gang that starts reads there which instances its nodes are, under Slurm's locks alone.
 */
static enum exchanged exchange(struct shadow_exchange *other, const struct osp_file_mark *mark)
{
	slurmctld_lock_t writing = {.node = WRITE_LOCK};
	enum exchanged done = EXCHANGED_NOTHING;

	if (!lock_unless_ending(writing))
		return done;
	pthread_rwlock_wrlock(&shadow_lock);
	if (shadow_state_exchange_read(other))
		done = EXCHANGED_FILE;
	else if (shadow_state_exchange(other))
		done = EXCHANGED_FABRIC;
	if (done != EXCHANGED_NOTHING)
		keep_mark(mark);
	if (done == EXCHANGED_FABRIC)
		last_node_update = time(NULL);
	pthread_rwlock_unlock(&shadow_lock);
	unlock_slurmctld(writing);
	return done;
}

/* Looks at running gangs after the exchange, which has to be short. */
static void look_at_running(const struct osp_topology *before)
{
	static const slurmctld_lock_t locks = {
		.conf = READ_LOCK, .job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK};

	if (!before || !lock_unless_ending(locks))
		return;
	shadow_moved_look(before);
	unlock_slurmctld(locks);
}

/*
 * Reports a topology that could not be laid. It is not laid again before the file or the nodes
 * change, unless memory ran out.
 */
static void report_not_laid(const struct glance *glance, const struct osp_found_topology *found,
			    const char *why, int cause)
{
	if (cause != ENOMEM || follower.cause != ENOMEM)
		error("onespine: cannot lay %s over Slurm's nodes: %s; the last good topology "
		      "stays in force",
		      glance->path, why);
	follower.cause = cause == ENOMEM ? ENOMEM : 0;
	if (cause == ENOMEM)
		return;
	follower.unlaid = found->mark;
	follower.unlaid_generation = glance->generation;
}

static void put_in_force(const struct glance *glance, const struct names *names,
			 struct osp_found_topology *found)
{
	struct shadow_exchange other = {.generation = glance->generation, .read = found->topology};
	struct osp_error wrong = {.text = ""};
	enum exchanged done = EXCHANGED_NOTHING;
	char *words = NULL;

	errno = 0;
	if (shadow_fabric_lay(&other.fabric, other.read, names->name, names->count, &wrong)) {
		words = shadow_topology_words(other.fabric.topology);
		done = exchange(&other, &found->mark);
	} else {
		report_not_laid(glance, found, wrong.text, errno);
	}
	if (done == EXCHANGED_FABRIC) {
		shadow_report_topology("without a reconfigure, ", words);
		queue_job_scheduler();
		look_at_running(other.fabric.topology);
		follower.rest = LOOKS_AFTER_EXCHANGE;
	}
	if (done != EXCHANGED_NOTHING)
		follower.cause = 0;
	if (done != EXCHANGED_NOTHING && !is_ending())
		shadow_keep_good_copy(glance->copy, found->text, found->text_bytes);
	found->topology = other.read; /* the old one if they were exchanged */
	shadow_fabric_free(&other.fabric);
	free(words);
}

/* Says what holds while the file cannot be used. The caller holds shadow_lock. */
static const char *then(void)
{
	return shadow_state.read ? "the last good topology stays in force" : "gangs wait";
}

static void leave_bad(const struct glance *glance, const struct osp_found_topology *found)
{
	const char *holds;
	bool news;

	pthread_rwlock_wrlock(&shadow_lock);
	holds = then();
	news = shadow_state.generation == glance->generation &&
	       osp_file_mark_same(&shadow_topology_file.mark, &glance->mark);
	if (news)
		keep_mark(&found->mark);
	pthread_rwlock_unlock(&shadow_lock);
	follower.unlaid.seen = false;
	if (news && !osp_file_mark_same(&found->mark, &glance->mark))
		shadow_report_bad_topology(found, holds);
}

/* Tells once why it cannot be read, and looks again. */
static void report_failed(const struct osp_found_topology *found)
{
	const char *holds;

	if (follower.cause == found->cause)
		return;
	follower.cause = found->cause;
	pthread_rwlock_rdlock(&shadow_lock);
	holds = then();
	pthread_rwlock_unlock(&shadow_lock);
	shadow_report_bad_topology(found, holds);
}

static void count_unsettled(const struct glance *glance)
{
	if (++follower.unsettled == LOOKS_UNSETTLED)
		error("onespine: %s has been written for %d s and is not read before it has "
		      "stayed the same for one; write another file and rename it",
		      glance->path, LOOKS_UNSETTLED * LOOK_EVERY_MS / 1000);
}

/* Returns the mark of the file that need not be read again. */
static const struct osp_file_mark *last_mark(const struct glance *glance)
{
	static const struct osp_file_mark none;

	if (follower.unlaid.seen && follower.unlaid_generation == glance->generation)
		return &follower.unlaid;
	return glance->fresh ? &none : &glance->mark;
}

static void use(const struct glance *glance, enum osp_followed followed,
		struct osp_found_topology *found)
{
	struct names names = {.count = 0};

	if (followed != OSP_FOLLOWED_BUSY)
		follower.unsettled = 0;
	if (followed == OSP_FOLLOWED_FAILED) {
		report_failed(found);
	} else if (followed == OSP_FOLLOWED_NEW) {
		if (copy_names(&names, glance))
			put_in_force(glance, &names, found);
		free_names(&names);
	} else if (followed == OSP_FOLLOWED_BAD) {
		leave_bad(glance, found);
	} else if (followed == OSP_FOLLOWED_BUSY) {
		count_unsettled(glance);
	}
	if (followed == OSP_FOLLOWED_SAME || followed == OSP_FOLLOWED_BAD)
		follower.cause = 0;
}

void shadow_follow_look(void)
{
	struct osp_found_topology found;
	struct glance glance;
	enum osp_followed followed;

	if (is_ending() || stands_by())
		return;
	take_glance(&glance);
	if (follower.rest) {
		follower.rest--;
		follower.before = osp_file_mark(glance.path);
		return;
	}
	followed = osp_follow_settled(glance.path, last_mark(&glance), &follower.before, &found);
	use(&glance, followed, &found);
	osp_topology_free(found.topology);
	free(found.text);
}

/* Looks at gangs whose nodes were launched: whether these run by now, and where they are. */
static void look_at_launches(void)
{
	static const slurmctld_lock_t locks = {.conf = READ_LOCK,
					       .job = WRITE_LOCK,
					       .node = WRITE_LOCK,
					       .part = WRITE_LOCK,
					       .fed = READ_LOCK};

	if (stands_by() || !shadow_launch_any() || !lock_unless_ending(locks))
		return;
	shadow_launch_look(time(NULL));
	unlock_slurmctld(locks);
}

/* Makes the orders of large gangs that nodes have left, one at a time: others get the locks between
 * two of them. */
static void look_at_orders(void)
{
	static const slurmctld_lock_t locks = {
		.conf = READ_LOCK, .job = WRITE_LOCK, .node = READ_LOCK};

	while (!stands_by() && shadow_order_any() && lock_unless_ending(locks)) {
		shadow_order_look();
		unlock_slurmctld(locks);
	}
}

/* --- the threads ----------------------------------------------------------------------------- */

/* Looks until fini() or a closed file ends it. */
static void *run(void *context)
{
	const struct looker *looker = context;
	struct pollfd wake = {.fd = wake_file, .events = POLLIN};

	while (!atomic_load(&stopping)) {
		if (poll(&wake, 1, LOOK_EVERY_MS) == 0)
			looker->look();
		else if (wake.revents & POLLNVAL)
			break;
	}
	return NULL;
}

static void look_at_gangs(void)
{
	look_at_launches();
	look_at_orders();
}

static struct looker follower_thread = {.look = shadow_follow_look};
static struct looker gang_thread = {.look = look_at_gangs};

static int make_wake_file(void)
{
	if (wake_file < 0)
		wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return wake_file < 0 ? errno : 0;
}

/* Begins it unless it runs. Returns false, with errno set, if that is impossible. */
static bool begin(struct looker *looker)
{
	sigset_t all, before;
	int rc;

	if (looker->running)
		return true;
	rc = make_wake_file();
	if (!rc) {
		/* only the thread that waits for slurmctld's signals may receive them */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		rc = pthread_create(&looker->thread, NULL, run, looker);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	looker->running = !rc;
	errno = rc;
	return !rc;
}

static void end(struct looker *looker)
{
	if (looker->running)
		pthread_join(looker->thread, NULL);
	looker->running = false;
}

void shadow_follow_begin(void)
{
	if (!follower_thread.running && !gang_thread.running)
		atomic_store(&stopping, false);
	if (!begin(&follower_thread))
		error("onespine: no thread to follow the topology file: %m; scontrol reconfigure "
		      "puts a changed one in force");
	if (!begin(&gang_thread))
		error("onespine: no thread for gangs whose nodes are launched: %m; they wait");
}

bool shadow_follows(void)
{
	return follower_thread.running;
}

void shadow_follow_end(void)
{
	atomic_store(&stopping, true);
	if (wake_file >= 0 && eventfd_write(wake_file, 1) == 0) {
		end(&gang_thread);
		end(&follower_thread);
	}
	if (wake_file >= 0)
		close(wake_file);
	wake_file = -1;
	memset(&follower, 0, sizeof(follower));
}
