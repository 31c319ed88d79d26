/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - growing strings, the nearest right word, plurals, durations */
#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES_MAX ((size_t)1 << 31) /* more is a mistake, not a text */
#define WORD_BYTES_MAX 64		 /* longer words are nobody's typing mistake */
#define MINUTE_S       60
#define HOUR_S	       3600
#define DAY_S	       86400
#define DURATION_MAX_S ((int64_t)3653 * DAY_S) /* ten years */

static void fail(struct osp_text *text)
{
	free(text->data);
	*text = (struct osp_text){NULL, 0, 0, true};
}

/* Makes room for `count` more bytes and the terminator. */
static bool make_room(struct osp_text *text, size_t count)
{
	size_t room = text->room_bytes ? text->room_bytes : 64;
	char *data;

	if (text->failed)
		return false;
	if (count >= TEXT_BYTES_MAX - text->length_bytes) {
		fail(text);
		return false;
	}
	while (room < text->length_bytes + count + 1)
		room *= 2;
	if (room == text->room_bytes)
		return true;
	data = realloc(text->data, room);
	if (!data) {
		fail(text);
		return false;
	}
	text->data = data;
	text->room_bytes = room;
	return true;
}

void osp_text_add_bytes(struct osp_text *text, const char *bytes, size_t count)
{
	if (!make_room(text, count))
		return;
	if (count)
		memcpy(text->data + text->length_bytes, bytes, count);
	text->length_bytes += count;
	text->data[text->length_bytes] = '\0';
}

void osp_text_add_escaped(struct osp_text *text, const char *string)
{
	for (; *string; string++) {
		switch (*string) {
		case '<':
			osp_text_add(text, "&lt;");
			break;
		case '>':
			osp_text_add(text, "&gt;");
			break;
		case '&':
			osp_text_add(text, "&amp;");
			break;
		case '"':
			osp_text_add(text, "&quot;");
			break;
		default:
			if ((unsigned char)*string >= ' ')
				osp_text_add_bytes(text, string, 1);
		}
	}
}

void osp_text_add(struct osp_text *text, const char *string)
{
	osp_text_add_bytes(text, string, strlen(string));
}

void osp_text_printf(struct osp_text *text, const char *format, ...)
{
	va_list args, again;
	int count;

	va_start(args, format);
	va_copy(again, args);
	count = vsnprintf(NULL, 0, format, args);
	if (count < 0) {
		fail(text);
	} else if (make_room(text, (size_t)count)) {
		vsnprintf(text->data + text->length_bytes, (size_t)count + 1, format, again);
		text->length_bytes += (size_t)count;
	}
	va_end(again);
	va_end(args);
}

char *osp_text_take(struct osp_text *text)
{
	char *data = NULL;

	if (make_room(text, 0)) {
		data = text->data;
		data[text->length_bytes] = '\0';
	} else {
		free(text->data);
	}
	*text = (struct osp_text)OSP_TEXT_INIT;
	return data;
}

void osp_text_free(struct osp_text *text)
{
	free(text->data);
	*text = (struct osp_text)OSP_TEXT_INIT;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Returns the number of edits that turn `b` into `a` (a letter added, dropped or changed, or two
 * neighbours swapped); each has at most WORD_BYTES_MAX bytes. Keeps three rows of the usual table,
 * because a swap looks two rows back.
 */
static size_t edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t rows[3][WORD_BYTES_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= b_bytes; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			row[j] = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
			row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[b_bytes];
}

const char *osp_nearest_word(const char *word, const char *const *words, size_t count)
{
	size_t word_bytes = strlen(word), best_distance = SIZE_MAX;
	const char *best = NULL;

	if (word_bytes > WORD_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t bytes = words[i] ? strlen(words[i]) : SIZE_MAX;
		size_t longer = bytes > word_bytes ? bytes : word_bytes;
		size_t distance;

		if (bytes > WORD_BYTES_MAX)
			continue;
		distance = edit_distance(word, word_bytes, words[i], bytes);
		if (distance * 3 <= longer && distance < best_distance) {
			best = words[i];
			best_distance = distance;
		}
	}
	return best;
}

bool osp_read_number(const char **at, uint32_t most, uint32_t *number)
{
	const char *start = *at;
	uint64_t value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		value = value * 10 + (uint64_t)(**at - '0');
		if (value > most)
			return false;
	}
	*number = (uint32_t)value;
	return *at != start;
}

/* Reads a part of a time. Returns false if there is none, or if it is too long. */
static bool read_part(const char **at, int64_t *part)
{
	uint32_t number;

	if (!osp_read_number(at, DURATION_MAX_S, &number))
		return false;
	*part = number;
	return true;
}

int osp_parse_duration(const char *text, int64_t *seconds)
{
	/* units of the parts, by whether days are given and by the number of parts after them */
	static const int64_t units[2][3][3] = {
		{{MINUTE_S}, {MINUTE_S, 1}, {HOUR_S, MINUTE_S, 1}},
		{{HOUR_S}, {HOUR_S, MINUTE_S}, {HOUR_S, MINUTE_S, 1}},
	};
	int64_t part[3], days = 0, total;
	int count = 0;
	bool has_days;

	if (!read_part(&text, &part[0]))
		return -1;
	has_days = *text == '-';
	if (has_days) {
		days = part[0];
		text++;
		if (!read_part(&text, &part[0]))
			return -1;
	}
	for (count = 1; *text == ':' && count < 3; count++) {
		text++;
		if (!read_part(&text, &part[count]))
			return -1;
	}
	if (*text)
		return -1;
	total = days * DAY_S;
	for (int i = 0; i < count; i++)
		total += part[i] * units[has_days][count - 1][i];
	if (total > DURATION_MAX_S)
		return -1;
	*seconds = total;
	return 0;
}

bool osp_list_has(const char *list, const char *word, size_t length)
{
	while (list && *list) {
		size_t one = strcspn(list, ",");

		if (one == length && !strncmp(list, word, length))
			return true;
		list += one + (list[one] == ',');
	}
	return false;
}

const char *osp_plural_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

const char *osp_format_duration(int64_t seconds, char *buffer, size_t buffer_bytes)
{
	if (seconds < MINUTE_S)
		snprintf(buffer, buffer_bytes, "%" PRId64 "s", seconds > 0 ? seconds : 0);
	else if (seconds < HOUR_S)
		snprintf(buffer, buffer_bytes, "%" PRId64 "m", seconds / MINUTE_S);
	else if (seconds < DAY_S)
		snprintf(buffer, buffer_bytes, "%" PRId64 "h%02" PRId64 "m", seconds / HOUR_S,
			 seconds % HOUR_S / MINUTE_S);
	else
		snprintf(buffer, buffer_bytes, "%" PRId64 "d%02" PRId64 "h", seconds / DAY_S,
			 seconds % DAY_S / HOUR_S);
	return buffer;
}

/* Reads to the end of the file, even if it grows meanwhile, but not past the limit. */
static char *read_all(int fd, size_t expected_bytes, size_t limit_bytes, size_t *length_bytes)
{
	size_t room = expected_bytes + 2, length = 0;
	char *data = malloc(room), *more;
	ssize_t count;

	while (data) {
		count = read(fd, data + length, room - length - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		length += (size_t)count;
		if (length > limit_bytes) {
			errno = EFBIG;
			count = -1;
			break;
		}
		if (room - length > 1)
			continue;
		room *= 2;
		more = realloc(data, room);
		if (!more) {
			free(data);
			return NULL;
		}
		data = more;
	}
	if (!data || count < 0) {
		free(data);
		return NULL;
	}
	data[length] = '\0';
	*length_bytes = length;
	return data;
}

char *osp_read_file(const char *path, size_t limit_bytes, size_t *length_bytes)
{
	/* O_NONBLOCK: the open of a named pipe does not wait for a writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	char *data = NULL;
	int cause;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status)) {
		if (!S_ISREG(status.st_mode))
			errno = EINVAL;
		else if ((uintmax_t)status.st_size > limit_bytes)
			errno = EFBIG;
		else
			data = read_all(fd, (size_t)status.st_size, limit_bytes, length_bytes);
	}
	cause = errno;
	close(fd);
	errno = cause;
	return data;
}

bool osp_write_all(int file, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t written = write(file, at, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		count -= (size_t)written;
	}
	return true;
}
