/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - growing strings, the nearest right word, plurals, durations
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_TEXT_H
#define OSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A string that grows. Start with OSP_TEXT_INIT. If memory runs out, the text is marked failed and
 * further appends do nothing: check once, at the end, with osp_text_take(). A caller that could not
 * make a part of the text may set `failed` itself. Unlike a stream of open_memstream(3) it takes no
 * memory before its first byte, and nothing has to be closed on an early return.
 */
struct osp_text {
	char *data; /* terminated; NULL while empty */
	size_t length_bytes;
	size_t room_bytes;
	bool failed;
};

#define OSP_TEXT_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0, false                                                                  \
	}

void osp_text_add(struct osp_text *text, const char *string);
void osp_text_add_bytes(struct osp_text *text, const char *bytes, size_t count);
/* Appends `string` escaped for XML, for text and quoted attributes; drops control characters. */
void osp_text_add_escaped(struct osp_text *text, const char *string);
void osp_text_printf(struct osp_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Hands the string to the caller, who frees it with free(); an empty text gives "". Returns NULL if
 * memory ran out. The text is empty afterwards in either case.
 */
char *osp_text_take(struct osp_text *text);
void osp_text_free(struct osp_text *text);

/*
 * Returns the entry of `words` (`count` of them; NULL entries are skipped) nearest to `word` by
 * edit distance, ignoring letter case, or NULL if none is near enough to be meant (more than a
 * third of the letters differ). Of equally near entries, the first wins.
 */
const char *osp_nearest_word(const char *word, const char *const *words, size_t count);

/*
 * Reads the decimal digits at *at, leading zeros among them, and moves *at behind them. Returns
 * false if there are none, or if they say more than `most`; then *at and *number mean nothing.
 */
bool osp_read_number(const char **at, uint32_t most, uint32_t *number);

/*
 * Parses Slurm's time formats (sbatch(1), --time): "minutes", "minutes:seconds",
 * "hours:minutes:seconds", "days-hours", "days-hours:minutes", "days-hours:minutes:seconds".
 * Returns 0 and the seconds, or -1 for anything else, a negative value or one over 10 years.
 */
int osp_parse_duration(const char *text, int64_t *seconds);

/* The same formats, for refusals. */
#define OSP_DURATION_FORMS                                                                         \
	"minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]], at "     \
	"most 10 years"

/* Returns whether a list of words with commas between them has the word of `length` bytes. `list`
 * may be NULL. Letter case and blanks count. */
bool osp_list_has(const char *list, const char *word, size_t length);

/* Returns the end of a noun behind this count, as in "%u node%s": "" for 1, else "s". */
const char *osp_plural_s(uint64_t count);

/* Writes `seconds` as "45s", "12m", "3h05m" or "2d04h" to `buffer`; returns `buffer`. */
const char *osp_format_duration(int64_t seconds, char *buffer, size_t buffer_bytes);

/* Reads a whole regular file of at most `limit_bytes`. Returns a malloc'd, terminated buffer of
 * *length_bytes bytes, or NULL with errno set (EFBIG: too large, EINVAL: not a regular file). */
char *osp_read_file(const char *path, size_t limit_bytes, size_t *length_bytes);

/* Writes all bytes, however few the system accepts at a time. Returns false with errno set if some
 * remain unwritten. */
bool osp_write_all(int file, const void *bytes, size_t count);

#endif
