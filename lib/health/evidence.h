/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.h - how much evidence of checks is kept, and what is removed first
 *
 * There is a file for each check that failed or broke before a job, and for each that warned or
 * worse after one. A user can make a node warn after each job of a second. So a warning that is
 * kept already is not kept again, the files and bytes are bounded, and what a user can cause is
 * removed first. Any thread: no shared state.
 */
#ifndef OSP_EVIDENCE_H
#define OSP_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For one node. A run of all checks on 8 GPUs is 20 to 60 KiB of JSON: the greatest number of files
 * takes a quarter of the bytes. */
#define OSP_EVIDENCE_FILES_MAX 256
#define OSP_EVIDENCE_BYTES_MAX ((uint64_t)64 * 1024 * 1024)

/* In the order of removal. */
enum osp_evidence_kind {
	OSP_EVIDENCE_WARN,  /* after a job: a check warned or broke */
	OSP_EVIDENCE_ERROR, /* before a job: a check broke */
	OSP_EVIDENCE_FAIL,
	OSP_EVIDENCE_KINDS
};

#define OSP_EVIDENCE_NAME_BYTES 200

/* One existing file. */
struct osp_evidence_file {
	char name[OSP_EVIDENCE_NAME_BYTES];
	uint64_t bytes;
	int64_t time_s;
};

/* The evidence to keep; `saw` is a hash of its content (checks, subjects, verdicts). */
struct osp_evidence {
	enum osp_evidence_kind kind;
	const char *node;
	uint32_t job;
	int64_t time_s;
	uint32_t saw;
	uint32_t random; /* so that nobody can predict the name */
};

/* Writes the name "epilog-n2-17-20260102T030405Z-0badcafe-01234567.json": kind, node, job, time in
 * UTC, what it saw, random. Returns false if the node's name is too long or cannot be part of a
 * file's name. */
bool osp_evidence_name(const struct osp_evidence *evidence, char *name, size_t name_bytes);

/* Returns whether a file has such a name; sets its kind and what it saw. */
bool osp_evidence_parse(const char *name, enum osp_evidence_kind *kind, uint32_t *saw);

/* Returns whether one of `count` existing files holds the same. A failure is always kept. */
bool osp_evidence_repeats(const struct osp_evidence *evidence,
			  const struct osp_evidence_file *files, size_t count);

/*
 * Moves to the front of `files` those that must be removed to make room for `bytes` more of `kind`;
 * the other files are in any order. Evidence graver than `kind` is never removed, the oldest of the
 * least grave is removed first, and files that are not evidence are left alone. Returns the number
 * of files to remove; SIZE_MAX if there is no room.
 */
size_t osp_evidence_make_room(struct osp_evidence_file *files, size_t count,
			      enum osp_evidence_kind kind, uint64_t bytes);

#endif
