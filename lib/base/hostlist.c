/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostlist.c - reads and writes Slurm's bracketed lists of names */
#include "lib/base/hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define NAME_BYTES_MAX 255
#define BRACKETS_MAX   8
#define DIGITS_MAX     18 /* of a number, so that 64 bits hold it */

/* A range of numbers: "4", "08-10". */
struct range {
	uint64_t low;
	uint64_t high;
	int width; /* least number of digits */
};

/* A bracket of the item that is being expanded. */
struct bracket {
	const char *first; /* the text after '[' */
	const char *next;  /* the text after the current range */
	const char *end;   /* the text after ']' */
	struct range range;
	uint64_t value;
};

struct check {
	const char *list;
	struct osp_error *error;
	uint64_t total;
};

static int refuse(const struct check *check, const char *at, const char *text)
{
	return osp_error_at(check->error, NULL, 0, (int)(at - check->list) + 1, "%s", text);
}

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == '\t';
}

/* Reads a number. Returns how many digits it has: 0 for none, more than DIGITS_MAX for too many. */
static int read_number(const char *at, uint64_t *value)
{
	int digits = 0;

	*value = 0;
	while (digits <= DIGITS_MAX && isdigit((unsigned char)at[digits])) {
		if (digits < DIGITS_MAX)
			*value = *value * 10 + (uint64_t)(at[digits] - '0');
		digits++;
	}
	return digits;
}

/* Reads a range that was checked before; returns the text after it. */
static const char *read_range(const char *at, struct range *range)
{
	range->width = read_number(at, &range->low);
	at += range->width;
	range->high = range->low;
	if (*at == '-') {
		at++;
		at += read_number(at, &range->high);
	}
	return at;
}

/* Checks one number and moves past it; raises *longest to its digits. */
static int check_number(const struct check *check, const char **at, int *longest)
{
	uint64_t value;
	int digits = read_number(*at, &value);

	if (!digits)
		return refuse(check, *at, "a number is expected here");
	if (digits > DIGITS_MAX)
		return refuse(check, *at, "a number of more than 18 digits");
	*at += digits;
	if (digits > *longest)
		*longest = digits;
	return 0;
}

static int check_range(const struct check *check, const char **at, uint64_t *count, int *longest)
{
	const char *start = *at;
	struct range range;

	if (check_number(check, at, longest))
		return -1;
	if (**at == '-') {
		++*at;
		if (check_number(check, at, longest))
			return -1;
	}
	read_range(start, &range);
	if (range.low > range.high)
		return refuse(check, start, "a range that goes backwards");
	if (**at == '/')
		return refuse(check, *at, "steps are not Slurm's; write the numbers out");
	*count += range.high - range.low + 1;
	if (*count > OSP_HOSTLIST_NAMES_MAX)
		return refuse(check, start, "the list has more than 131072 names");
	return 0;
}

/* Checks one bracket from its '['; adds the digits of its longest number to `name_bytes`. */
static int check_bracket(struct check *check, const char **at, uint64_t *product,
			 size_t *name_bytes)
{
	const char *open = *at;
	uint64_t count = 0;
	int longest = 0;

	do {
		++*at;
		if (check_range(check, at, &count, &longest))
			return -1;
	} while (**at == ',');
	if (!**at)
		return refuse(check, open, "this '[' has no ']'");
	if (**at != ']')
		return refuse(check, *at, "',', '-' or ']' is expected here");
	++*at;
	*name_bytes += (size_t)longest;
	*product *= count;
	if (*product > OSP_HOSTLIST_NAMES_MAX)
		return refuse(check, open, "the list has more than 131072 names");
	return 0;
}

static int check_item(struct check *check, const char **at)
{
	const char *start = *at;
	uint64_t product = 1;
	size_t name_bytes = 0;
	int brackets = 0;

	while (**at && !is_separator(**at)) {
		if (**at == '[') {
			if (++brackets > BRACKETS_MAX)
				return refuse(check, *at, "a name with more than 8 brackets");
			if (check_bracket(check, at, &product, &name_bytes))
				return -1;
			continue;
		}
		if (**at == ']')
			return refuse(check, *at, "this ']' has no '['");
		if ((unsigned char)**at < ' ' || **at == 0x7f)
			return refuse(check, *at, "a control character in a name");
		name_bytes++;
		++*at;
	}
	if (name_bytes > NAME_BYTES_MAX)
		return refuse(check, start, "a name of more than 255 bytes");
	check->total += product;
	if (check->total > OSP_HOSTLIST_NAMES_MAX)
		return refuse(check, start, "the list has more than 131072 names");
	return 0;
}

static const char *skip_separators(const char *at)
{
	while (is_separator(*at))
		at++;
	return at;
}

static void enter_range(struct bracket *bracket, const char *at)
{
	bracket->next = read_range(at, &bracket->range);
	bracket->value = bracket->range.low;
}

/* Moves on to the next name, the last bracket fastest. Returns false after the last name. */
static bool step(struct bracket *brackets, int count)
{
	for (int i = count - 1; i >= 0; i--) {
		struct bracket *bracket = &brackets[i];

		if (bracket->value < bracket->range.high) {
			bracket->value++;
			return true;
		}
		if (*bracket->next == ',') {
			enter_range(bracket, bracket->next + 1);
			return true;
		}
		enter_range(bracket, bracket->first);
	}
	return false;
}

/* Writes a number of at least `width` digits, as "%0*". Returns the end. */
static char *write_number(char *at, uint64_t value, int width)
{
	char digits[24]; /* backwards; 64 bits have 20 */
	int count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (; width > count; width--)
		*at++ = '0';
	while (count)
		*at++ = digits[--count];
	return at;
}

/* Writes the name at the brackets; check_item() made sure that it fits. */
static void write_name(const char *item, const char *end, const struct bracket *brackets,
		       char *name)
{
	while (item < end) {
		if (*item != '[') {
			*name++ = *item++;
			continue;
		}
		name = write_number(name, brackets->value, brackets->range.width);
		item = brackets++->end;
	}
	*name = '\0';
}

static int expand_item(const char *item, const char *end, osp_hostlist_f *each, void *context)
{
	struct bracket brackets[BRACKETS_MAX] = {{.first = NULL}};
	char name[NAME_BYTES_MAX + 1];
	int count = 0, rc;

	for (const char *at = item; at < end; at++) {
		if (*at != '[')
			continue;
		brackets[count].first = at + 1;
		brackets[count].end = strchr(at, ']') + 1;
		enter_range(&brackets[count++], at + 1);
	}
	do {
		write_name(item, end, brackets, name);
		rc = each(name, context);
	} while (!rc && step(brackets, count));
	return rc;
}

int osp_hostlist_expand(const char *list, osp_hostlist_f *each, void *context,
			struct osp_error *error)
{
	struct check check = {list, error, 0};
	const char *at, *end;
	int rc = 0;

	for (at = skip_separators(list); *at; at = skip_separators(at)) {
		if (check_item(&check, &at))
			return -1;
	}
	for (at = skip_separators(list); *at && !rc; at = skip_separators(end)) {
		bool inside = false;

		for (end = at; *end && (inside || !is_separator(*end)); end++)
			inside = *end == '[' || (inside && *end != ']');
		rc = expand_item(at, end, each, context);
	}
	return rc;
}

/* Compares the numbers that both strings start with and moves past them. */
static int compare_numbers(const char **a, const char **b)
{
	const char *first = *a, *second = *b;
	size_t first_digits = 0, second_digits = 0;

	while (*first == '0')
		first++;
	while (*second == '0')
		second++;
	while (isdigit((unsigned char)first[first_digits]))
		first_digits++;
	while (isdigit((unsigned char)second[second_digits]))
		second_digits++;
	*a = first + first_digits;
	*b = second + second_digits;
	if (first_digits != second_digits)
		return first_digits < second_digits ? -1 : 1;
	return memcmp(first, second, first_digits);
}

int osp_name_compare(const char *a, const char *b)
{
	int zeros = 0; /* the first difference in padding, for names otherwise equal */

	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			const char *a_start = a, *b_start = b;
			int order = compare_numbers(&a, &b);

			if (order)
				return order;
			if (!zeros)
				zeros = (a - a_start > b - b_start) - (a - a_start < b - b_start);
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return zeros;
}
