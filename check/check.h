/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - checks of a node: what one is, what it reports, how they are run
 *
 * A check is a function that looks at one thing and reports results; it runs in a child process
 * with a deadline, so it may crash or hang. It changes nothing on the node; only those deeper than
 * passive load a GPU. What it reads it reads below `root` ("" for the real one), so a test can show
 * it a machine of its own.
 *
 * One thread a process. check/ includes lib/ only, and links neither NVML nor CUDA.
 */
#ifndef OSP_CHECK_H
#define OSP_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/health/fresh.h"
#include "lib/health/speed.h"
#include "lib/health/thresholds.h"
#include "lib/health/verdict.h"

/* What to do about a result. */
enum osp_cure {
	OSP_CURE_NONE,
	OSP_CURE_ASK, /* somebody must look: configuration, cables, software */
	OSP_CURE_RESET_GPU,
	OSP_CURE_REBOOT,
	OSP_CURE_REPLACE,
};

#define OSP_SUBJECT_BYTES 64
#define OSP_WORD_BYTES	  64
#define OSP_WHY_BYTES	  256

/* One result. Written whole through a pipe, so it holds no pointers. */
struct osp_result {
	enum osp_verdict verdict;
	enum osp_cure cure;
	char subject[OSP_SUBJECT_BYTES]; /* "gpu3", "mlx5_0:1", "/fsx"; "" = the node */
	char value[OSP_WORD_BYTES];	 /* "12 uncorrectable", "93 C" */
	char limit[OSP_WORD_BYTES];	 /* "> 0", "of 8"; "" if there is none */
	char source[OSP_WHY_BYTES];	 /* where the limit comes from; "" = the check itself */
	char why[OSP_WHY_BYTES];	 /* a sentence for people */
	unsigned int order;		 /* the GPU's place in the order; set by the runner */
	bool speed;			 /* made of one of the outcome's speeds */
	bool later; /* an ERROR that becomes a FAIL if a look a minute later, long after boot, finds
		       it too */
	bool twice; /* an ERROR that becomes a FAIL if a second child reports it too */
};

/* One measured speed. It is judged only when every GPU's speed is known, and a slow one only if it
 * was slow two times of three. */
struct osp_speed {
	char subject[OSP_SUBJECT_BYTES];
	char what[24];	/* "copy"; compared with the same kind on other GPUs */
	char unit[12];	/* "GB/s" */
	char model[96]; /* whose limits count */
	double value;
	bool judged; /* false: the GPU is shared, in use by others, or encrypts copies: reported,
			not judged */
	char held[OSP_WORD_BYTES];  /* why a low speed only warns, whatever limit it is below */
	char doubt[OSP_WORD_BYTES]; /* why it is not judged, or why its model's limit may not hold
				       for it: below that it only warns, if neither the site gave
				       the limit nor takes all for proven; "": it holds */
	int group;		    /* only speeds of one group are peers (lib/health/speed.h) */
	enum osp_limit_id least;    /* OSP_LIMIT_COUNT: no limit of this kind is known */
	enum osp_limit_id physics;  /* what the hardware cannot exceed; OSP_LIMIT_COUNT: none */
	unsigned int order;
};

/* One measured figure, for the history, whatever the check's result is. Its name has its unit.
 * Speeds are figures too. */
struct osp_figure {
	char subject[OSP_SUBJECT_BYTES]; /* "gpu3"; "" = the node */
	char name[OSP_WORD_BYTES];	 /* "temperature_c" */
	double value;
};

#define OSP_SLOWED_COUNT 3

/* A GPU, or an instance of a partitioned one (MIG), for the checks that load it. */
struct osp_unit {
	char subject[OSP_SUBJECT_BYTES]; /* "gpu3", "gpu3.0" */
	char uuid[96];			 /* what CUDA_VISIBLE_DEVICES takes */
	char model[96];
	char address[16];  /* PCI */
	bool whole;	   /* false: an instance, or a virtual GPU */
	bool confidential; /* copies to and from it are encrypted */
	bool switched;	   /* its NVLinks lead to NVSwitches: as fast to any GPU as to any other */
	bool translated;   /* no NVLink is up, and an IOMMU translates its addresses */
	bool busy;	   /* programs run on it that are not ours */
	/* For how long each cause has lowered its clocks since the driver was loaded: heat by
	 * software, heat by hardware, a power brake. */
	uint64_t slowed_ms[OSP_SLOWED_COUNT];
	char held[OSP_WORD_BYTES];	 /* why a low speed of it only warns: osp_speed.held */
	char doubt[OSP_WORD_BYTES];	 /* why its model's limits may not hold: osp_speed.doubt */
	char left_alone[OSP_WORD_BYTES]; /* why it must not be loaded; "" if it may be */
	bool not_checked;		 /* left alone because of a statement that is not trusted:
					    an ERROR */
};

struct osp_check_context {
	const char *root;	      /* "" or a folder that is used as / */
	const char *gpus;	      /* --gpus, or NULL for all */
	char node[OSP_SUBJECT_BYTES]; /* DMI product name, or "" */
	const struct osp_thresholds *thresholds;
	uint32_t job_uid; /* whose MPS is trusted beside root's; 0: root's alone */
	/* Folders with instances/ and rules/, and with the site's instances.d/ and rules.d/; NULL:
	 * none are read. */
	const char *data;
	const char *site;
	uint64_t uptime_s;
	/* The node's last pass in this boot, to find what has grown since; NULL: none. */
	const struct osp_pass *since;
	unsigned int deadline_most_ms; /* for tests: the longest deadline of a check; 0: each
					  check's own */
	unsigned int load_ms;	       /* how long a GPU may be loaded in all */
	enum osp_depth depth;
	/* What the checks that load GPUs work on; set by the runner. */
	const struct osp_unit *units;
	size_t unit_count;
	const struct osp_unit *unit; /* a check of OSP_GROUP_EACH_GPU: its GPU */
	unsigned int slice_ms;	     /* how long this check may load it */
	bool keep;		     /* this run may keep what it learns for a later one */
	/* Returns whether Slurm's configuration names this node and gives it no GPU, though it
	 * counts those of others; NULL: not known. Called in the child. */
	bool (*without_gpus)(void);
	bool spoilt;	      /* set by a check: this process cannot be used for the next one */
	bool library_kernels; /* what the running check's struct says; set by the runner */
	const struct osp_check *check; /* the check that runs; set by the runner */
	uint64_t until_ms; /* the budget's end (osp_now_ms()), 0: none; set by the runner */
	/* Where results go; set by the runner. */
	void (*report)(struct osp_check_context *context, const struct osp_result *result);
	void (*report_speed)(struct osp_check_context *context, const struct osp_speed *speed);
	void (*report_figure)(struct osp_check_context *context, const struct osp_figure *figure);
	void *reporter;
};

/* Which checks share a child. The checks of one group run in it one after the other. A crash or
 * hang ends the child, and a new one continues with the next check. Groups run side by side. Those
 * that load GPUs begin when the others have ended, and the last one when each GPU is done. */
enum osp_check_group {
	OSP_GROUP_GPU,
	OSP_GROUP_HOST,
	OSP_GROUP_NETWORK,
	OSP_GROUP_MOUNTS,
	OSP_GROUP_EACH_GPU, /* one child a GPU, side by side */
	OSP_GROUP_ALL_GPUS, /* one child for all */
	OSP_GROUP_SITE, /* the site's own programs, after the passive checks and before those that
			   load GPUs */
};

struct osp_check {
	const char *name; /* "ecc"; stable, Slurm's reasons and the thresholds name it */
	enum osp_depth depth;
	enum osp_check_group group;
	enum osp_verdict worst; /* FAIL; WARN if a user can bring it about */
	bool basic;		/* the rest of its group needs what it tests, and is skipped if it
				 hangs */
	bool settles;		/* what is missing soon after boot may still come, so it is an ERROR
				 then */
	bool pairs;		/* reports pairs, "gpu3-gpu5": if one GPU is at fault, it is named
				 instead */
	bool library_kernels;	/* runs kernels of NVIDIA's libraries, not only ours, so a fault may
				 be theirs */
	unsigned int deadline_ms;
	unsigned int deadline_least_ms; /* what a budget may shorten it to, so that two tries fit;
					   0: it is not shortened */
	unsigned int share;	 /* per cent of load_ms that it loads a GPU, in addition to its
				    deadline */
	enum osp_cure slow_cure; /* the cure for a speed that is too low */
	/* The limits on how far a speed may be behind its peers: this one warns, the one after it
	 * fails. OSP_LIMIT_COUNT and 0: the speed is not compared. */
	enum osp_limit_id behind;
	const char *measures; /* one line */
	const char *explains; /* a paragraph: how, what it cannot see */
	const char *cures;    /* what to do when it fails */
	void (*run)(struct osp_check_context *context);
	/* Returns whether what the check reported as `later` still holds. Runs in a child. NULL:
	 * the check reports nothing as `later`. */
	int (*still_ill)(struct osp_check_context *context);
	const char *program; /* the program that a check of OSP_GROUP_SITE runs */
	const char *refused; /* why a check of OSP_GROUP_SITE does not run it; NULL: it does */
};

/* All checks, in the order in which they are shown. */
extern const struct osp_check *const osp_checks[];
extern const size_t osp_check_count;
void osp_check_names(const char **names); /* osp_check_count of them */

/* Fills `context` for the machine below `root` (it must outlive the context), all its GPUs, and
 * `thresholds`. `job_uid` is the caller's user. For root it is SLURM_JOB_UID: slurmd sets that in a
 * Prolog and in jobs, and no user can change root's environment. */
void osp_check_context_set(struct osp_check_context *context, const char *root,
			   const struct osp_thresholds *thresholds);

/* The text of etc/thresholds.yaml at the time of the build. */
extern const char osp_thresholds_builtin[];

/* --- for checks ------------------------------------------------------------------------------- */

/* Reports one result; texts are cut to their fields. `limit` and `source` may be NULL. */
void osp_result_add(struct osp_check_context *context, enum osp_verdict verdict, enum osp_cure cure,
		    const char *subject, const char *value, const char *limit, const char *source,
		    const char *why_format, ...) __attribute__((format(printf, 8, 9)));
void osp_result_pass(struct osp_check_context *context, const char *value_format, ...)
	__attribute__((format(printf, 2, 3)));
void osp_result_skip(struct osp_check_context *context, const char *why_format, ...)
	__attribute__((format(printf, 2, 3)));
void osp_result_error(struct osp_check_context *context, const char *subject,
		      const char *why_format, ...) __attribute__((format(printf, 3, 4)));

/* Reports a speed in `unit` ("GB/s"). A check of all GPUs names its subject; for others it is their
 * GPU. */
void osp_result_speed(struct osp_check_context *context, const char *subject, const char *what,
		      double value, const char *unit, enum osp_limit_id least,
		      enum osp_limit_id physics);

/* Reports a speed of the GPU for which the model's limit may not hold: see struct osp_speed. */
void osp_result_speed_doubted(struct osp_check_context *context, const char *doubt,
			      const char *what, double value, const char *unit,
			      enum osp_limit_id least, enum osp_limit_id physics);

/* Reports a speed that is compared only with those of the same group. With OSP_SPEED_NO_PEERS it is
 * compared with none. */
void osp_result_speed_among(struct osp_check_context *context, int group, const char *subject,
			    const char *what, double value, const char *unit,
			    enum osp_limit_id least, enum osp_limit_id physics);

/* Keeps a figure for the history. Ignores one that is not a number or is infinite. */
void osp_result_figure(struct osp_check_context *context, const char *subject, const char *name,
		       double value);

/* Returns the limit for this node, and for `model` unless that is NULL. NULL: no limit is known. */
const struct osp_limit *osp_check_limit(const struct osp_check_context *context,
					enum osp_limit_id id, const char *model);

/* --- running ---------------------------------------------------------------------------------- */

/* The outcome of one check. `results` belongs to the run. */
struct osp_outcome {
	const struct osp_check *check;
	enum osp_check_mode mode;
	enum osp_verdict verdict; /* the worst of its results */
	struct osp_result *results;
	size_t result_count;
	unsigned int time_ms; /* the longest if GPUs were checked side by side */
	struct osp_speed *speeds;
	size_t speed_count;
	char others[OSP_WORD_BYTES]; /* whose processes may have slowed it down; "" = nobody's */
	struct osp_figure *figures;
	size_t figure_count;
};

struct osp_run {
	struct osp_outcome *outcomes;
	size_t count;
	unsigned int time_ms;
	unsigned int start_ms; /* the part of it until every GPU was open: the driver starts
				  sleeping GPUs */
	size_t left_alone;     /* GPUs that were to be loaded but serve others, or say that they
				  do */
};

/* What every check that asks GPUs gets in addition to its deadline, for each GPU: the driver opens
 * them, and makes contexts on them, one after the other. */
#define OSP_DEADLINE_GPU_MS 500

/*
 * Runs `count` checks for at most `budget_ms` (0: as long as their deadlines allow). Those that
 * load GPUs are skipped if a basic check failed, on GPUs that are missing, and on those that serve
 * others (MPS, virtual machines). For a GPU that is `not_checked` the first of them is an ERROR.
 * One process holds every GPU open meanwhile (check/runner/awake.h). A GPU that does not start in
 * time and is not known to have persistence on is an ERROR, and from the fourth time in one boot a
 * WARN (check/base/gpu_starts.h); no check then asks the GPUs. Never waits for a child that cannot
 * be killed. If a check reports something as `twice`, a second child runs it again, and the result
 * is an ERROR ("once") if that child does not report it. A crash is an ERROR. A hang is a FAIL (at
 * most the check's worst) if a second child hangs too, else an ERROR. A check that the budget
 * leaves no time for two whole tries gets half of that time for each (deadline_least_ms); one for
 * which it has no time left is an ERROR. Returns 0, or -1 with `error` set if memory or processes
 * ran out. Free with osp_run_free() in either case.
 */
int osp_run_checks(struct osp_check_context *context, const struct osp_check *const *checks,
		   size_t count, unsigned int budget_ms, struct osp_run *run,
		   struct osp_error *error);
void osp_run_free(struct osp_run *run);

/* Returns the worst verdict that counts (mode enforce). With `reported`, those in mode comment
 * count too. */
enum osp_verdict osp_run_verdict(const struct osp_run *run, bool reported);

/*
 * Writes the reason for Slurm, from the worst result: "onespine: gpu3 ecc 12 uncorrectable > 0;
 * replace", or "" if nothing failed. Its form is stable. Returns `buffer`.
 */
const char *osp_run_reason(const struct osp_run *run, char *buffer, size_t buffer_bytes);

const char *osp_cure_name(enum osp_cure cure); /* "reset gpu"; "" for none */

/* --- guarded work ----------------------------------------------------------------------------- */

/* One piece of work in its own child, for a check whose parts may each hang. */
struct osp_guard {
	pid_t child;
	int answer;		     /* file descriptor */
	unsigned int own_starved_ms; /* of the caller, at the start */
	unsigned int starved_ms; /* for how long child and caller had no processor; of no answer */
};

/* Starts `work` with `argument`; its return value is the answer. Returns -1 if no child could be
 * made. */
int osp_guard_start(struct osp_guard *guard, int (*work)(const void *argument),
		    const void *argument);

/* Waits until `until_ms` (osp_now_ms()). Returns 1 with the answer, 0 if the child hangs (it is
 * killed and not waited for) with starved_ms, or -1 if it crashed. */
int osp_guard_collect(struct osp_guard *guard, uint64_t until_ms, int *answer);

uint64_t osp_now_ms(void); /* monotonic */

#endif
