/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_seal.c - messages sealed by a key: what opens them, and that nothing else does */
#include "onespine_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/seal/seal.h"
#include "tests/unit/late_clock.h"

#define FIRST	"1111111111111111111111111111111111111111111111111111111111111111"
#define SECOND	"2222222222222222222222222222222222222222222222222222222222222222"
#define LIFE_S	70
#define MESSAGE "a report\0with a zero byte"

static char folder[] = "/tmp/onespine-seal-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/gate.key", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void write_keys(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fchmod(fileno(file), mode), 0);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static const struct osp_seal_means means = {.key_file = path, .life_s = LIFE_S};

/* A gate that started with this file. */
static struct osp_seal gate_with(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_seal seal;

	write_keys(text, 0600);
	if (osp_seal_begin(&seal, &means, &error))
		fail_msg("%s", error.text);
	return seal;
}

static struct osp_text sealed_by(struct osp_seal *seal)
{
	struct osp_text message = OSP_TEXT_INIT, sealed = OSP_TEXT_INIT;

	osp_text_add_bytes(&message, MESSAGE, sizeof(MESSAGE));
	assert_int_equal(osp_seal_message(seal, &message, &sealed, NULL), 0);
	osp_text_free(&message);
	return sealed;
}

static bool opens(struct osp_seal *seal, const struct osp_text *sealed)
{
	size_t bytes = 0;
	void *message = osp_seal_open(seal, sealed->data, sealed->length_bytes, geteuid(), &bytes);
	bool whole = message && bytes == sizeof(MESSAGE) && !memcmp(message, MESSAGE, bytes);

	assert_true(whole || !message);
	free(message);
	return whole;
}

static void opens_what_the_same_key_sealed(void **state)
{
	struct osp_seal one = gate_with("a " FIRST), other = gate_with("a " FIRST);
	struct osp_text sealed = sealed_by(&one), again = sealed_by(&one);

	(void)state;
	assert_true(opens(&other, &sealed));
	assert_true(opens(&one, &sealed));
	assert_false(sealed.length_bytes == again.length_bytes &&
		     !memcmp(sealed.data, again.data, again.length_bytes));
	/* what it says cannot be read */
	assert_null(memmem(sealed.data, sealed.length_bytes, "report", 6));
	osp_text_free(&sealed);
	osp_text_free(&again);
	osp_seal_end(&one);
	osp_seal_end(&one);
	osp_seal_end(&other);
}

/* Each of its bytes counts, its length too. */
static void opens_nothing_that_was_changed(void **state)
{
	struct osp_seal seal = gate_with("a " FIRST);
	struct osp_text sealed = sealed_by(&seal);
	size_t length = sealed.length_bytes;

	(void)state;
	for (size_t i = 0; i < length; i++) {
		sealed.data[i] ^= 1;
		assert_false(opens(&seal, &sealed));
		sealed.data[i] ^= 1;
		sealed.length_bytes = i;
		assert_false(opens(&seal, &sealed));
		sealed.length_bytes = length;
	}
	assert_true(opens(&seal, &sealed));
	sealed.data[5] = (char)255; /* the length of the name */
	assert_false(opens(&seal, &sealed));
	osp_text_free(&sealed);
	osp_seal_end(&seal);
}

static void opens_nothing_of_another_key(void **state)
{
	struct osp_seal one = gate_with("a " FIRST), same_name = gate_with("a " SECOND),
			other_name = gate_with("b " FIRST);
	struct osp_text sealed = sealed_by(&one);

	(void)state;
	assert_false(opens(&same_name, &sealed));
	assert_false(opens(&other_name, &sealed));
	osp_text_free(&sealed);
	osp_seal_end(&one);
	osp_seal_end(&same_name);
	osp_seal_end(&other_name);
}

static void is_good_for_a_time(void **state)
{
	static const struct {
		time_t late_s;
		bool good;
	} cases[] = {
		{LIFE_S - 5, true},
		{LIFE_S + 5, false},
		{5 - LIFE_S, true}, /* a clock that is late */
		{-LIFE_S - 5, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_seal seal = gate_with("a " FIRST);
		struct osp_text sealed = sealed_by(&seal);

		late_s = cases[i].late_s;
		assert_int_equal(opens(&seal, &sealed), cases[i].good);
		late_s = 0;
		osp_text_free(&sealed);
		osp_seal_end(&seal);
	}
}

/* Whoever records what two gates say on one connection can send it there again. */
static void opens_it_once(void **state)
{
	struct osp_seal one = gate_with("a " FIRST), other = gate_with("a " FIRST);
	struct osp_text first = sealed_by(&one);

	(void)state;
	assert_true(opens(&other, &first));
	assert_false(opens(&other, &first));
	for (int i = 0; i < 200; i++) {
		struct osp_text more = sealed_by(&one);

		assert_true(opens(&other, &more));
		osp_text_free(&more);
	}
	assert_false(opens(&other, &first));
	osp_text_free(&first);
	/* what was changed under the same nonce takes no place */
	first = sealed_by(&one);
	first.data[first.length_bytes - 1] ^= 1;
	assert_false(opens(&other, &first));
	first.data[first.length_bytes - 1] ^= 1;
	assert_true(opens(&other, &first));
	osp_text_free(&first);
	osp_seal_end(&one);
	osp_seal_end(&other);
}

/* What MUNGE sealed is nothing to a key, and a key's nothing to MUNGE's "MUNGE:...:". */
static void opens_nothing_of_munge(void **state)
{
	static char credential[] = "MUNGE:AwQFAADuJ6NkP0m9nFzq0sUcHq5yZJ6mZm4gV1o=:";
	struct osp_text sealed = {.data = credential, .length_bytes = sizeof(credential) - 1};
	struct osp_seal seal = gate_with("a " FIRST);

	(void)state;
	assert_false(opens(&seal, &sealed));
	assert_string_equal(seal.unknown, "");
	osp_seal_end(&seal);
}

static void remembers_which_key_is_missing(void **state)
{
	struct osp_seal old = gate_with("2026-08 " FIRST), new = gate_with("2026-11 " SECOND);
	struct osp_text sealed = sealed_by(&new);
	char *letter;

	(void)state;
	assert_false(opens(&old, &sealed));
	assert_string_equal(old.unknown, "2026-11");
	/* a name that is none is no word for a log */
	old.unknown[0] = '\0';
	letter = memmem(sealed.data, sealed.length_bytes, "2026-11", 7);
	assert_non_null(letter);
	letter[4] = '\n';
	assert_false(opens(&old, &sealed));
	assert_string_equal(old.unknown, "");
	osp_text_free(&sealed);
	osp_seal_end(&old);
	osp_seal_end(&new);
}

/* At no step of a change of the key does a gate with the file of the step before refuse another. */
static void a_key_is_changed_without_a_stop(void **state)
{
	static const char *const steps[] = {"a " FIRST, "a " FIRST "\nb " SECOND,
					    "b " SECOND "\na " FIRST, "b " SECOND};

	(void)state;
	for (size_t i = 1; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct osp_seal before = gate_with(steps[i - 1]), after = gate_with(steps[i]);
		struct osp_text old = sealed_by(&before), new = sealed_by(&after);

		assert_true(opens(&after, &old));
		assert_true(opens(&before, &new));
		osp_text_free(&old);
		osp_text_free(&new);
		osp_seal_end(&before);
		osp_seal_end(&after);
	}
}

static void obeys_no_file_that_others_know(void **state)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610};
	struct osp_error error = {.text = ""};
	struct osp_seal seal;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		write_keys("a " FIRST, modes[i]);
		error.text[0] = '\0';
		assert_int_equal(osp_seal_begin(&seal, &means, &error), -1);
		assert_non_null(strstr(error.text, "others may read or write it"));
		osp_seal_end(&seal);
	}
	write_keys("a 1", 0600);
	error.text[0] = '\0';
	assert_int_equal(osp_seal_begin(&seal, &means, &error), -1);
	assert_string_equal(error.text, "a key of 64 hexadecimal digits is expected");
	unlink(path);
	error.text[0] = '\0';
	assert_int_equal(osp_seal_begin(&seal, &means, &error), -1);
	assert_string_equal(error.text, "No such file or directory");
}

/* Opens a gate with what is at `path`; it fails, and says so. */
static void refuses(const char *says)
{
	struct osp_error error = {.text = ""};
	struct osp_seal seal;

	assert_int_equal(osp_seal_begin(&seal, &means, &error), -1);
	if (!strstr(error.text, says))
		fail_msg("'%s' is no '%s'", error.text, says);
	osp_seal_end(&seal);
	unlink(path);
}

/* What may lie there all the same: none of it is waited for, or read to its end. */
static void obeys_files_of_ours_alone(void **state)
{
	char other[80];

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses("a regular file is expected");
	assert_int_equal(symlink("/dev/zero", path), 0);
	refuses("a regular file is expected");
	assert_int_equal(symlink(folder, path), 0);
	refuses("a regular file is expected");
	write_keys("a " FIRST, 0600);
	assert_int_equal(truncate(path, 1 << 30), 0);
	refuses("at most 4096 bytes are expected");
	write_keys("", 0600);
	assert_int_equal(truncate(path, 4096), 0);
	refuses("text without a zero byte is expected");
	/* a link is followed, and what it leads to is looked at */
	snprintf(other, sizeof(other), "%s/other", folder);
	write_keys("a " FIRST, 0644);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	refuses("others may read or write it");
	if (geteuid() == 0) {
		write_keys("a " FIRST, 0600);
		assert_int_equal(chown(path, 65534, 65534), 0);
		refuses("it belongs to user 65534");
		assert_int_equal(chmod(other, 0600), 0);
		assert_int_equal(chown(other, 65534, 65534), 0);
		assert_int_equal(symlink(other, path), 0);
		refuses("it belongs to user 65534");
	}
	unlink(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_what_the_same_key_sealed),
		cmocka_unit_test(opens_nothing_that_was_changed),
		cmocka_unit_test(opens_nothing_of_another_key),
		cmocka_unit_test(is_good_for_a_time),
		cmocka_unit_test(opens_it_once),
		cmocka_unit_test(opens_nothing_of_munge),
		cmocka_unit_test(remembers_which_key_is_missing),
		cmocka_unit_test(a_key_is_changed_without_a_stop),
		cmocka_unit_test(obeys_no_file_that_others_know),
		cmocka_unit_test(obeys_files_of_ours_alone),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
