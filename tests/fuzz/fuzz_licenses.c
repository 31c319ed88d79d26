/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_licenses.c - any words of licenses: slurm.conf's, and those of a user's --licenses
 *
 * Parser: lib/policy/gang_license.c lib/policy/license_request.c
 */
#include "lib/policy/gang_license.h"
#include "lib/policy/license_request.h"
#include "tests/fuzz/fuzz.h"

/* What a gang takes is in its words, once, and stays as it is. */
static void check_taken(const char *words)
{
	char *with, *again;
	int rc = osp_gang_license_add(words, &with);

	fuzz_check(rc == (strchr(words, '|') ? -1 : 0));
	if (rc) {
		fuzz_check(!with);
		return;
	}
	fuzz_check(osp_gang_license_is_in(with ? with : words));
	if (with) {
		fuzz_check(!osp_gang_license_add(with, &again) && !again);
		free(with);
	}
}

/* With one of it gangs are held, with what the shadow offers they are not. */
static void check_offered(const char *words)
{
	char *only = osp_gang_license_only(words), *offer = osp_gang_license_offer(words);

	fuzz_check(only && osp_gang_license_holds(only) && osp_gang_license_is_in(only));
	fuzz_check(!offer == !osp_gang_license_is_in(words));
	if (offer)
		fuzz_check(osp_gang_license_is_in(offer) && !osp_gang_license_holds(offer));
	if (osp_gang_license_holds(words))
		fuzz_check(osp_gang_license_is_in(words));
	free(only);
	free(offer);
}

static uint64_t few(const char *name, size_t name_bytes, void *context)
{
	(void)context;
	return name_bytes ? (unsigned char)*name % 4 : UINT64_MAX;
}

static uint64_t all(const char *name, size_t name_bytes, void *context)
{
	(void)name, (void)name_bytes, (void)context;
	return UINT64_MAX;
}

FUZZER(licenses)
{
	char *words = malloc(size + 1);

	fuzz_check(words);
	if (size)
		memcpy(words, data, size);
	words[size] = '\0';
	check_taken(words);
	check_offered(words);
	/* where nothing lacks, nothing lacks; unless the sum of what is asked for wraps around */
	if (osp_license_request_lacks(words, all, NULL))
		fuzz_check(strpbrk(words, ":="));
	(void)osp_license_request_lacks(words, few, NULL);
	free(words);
	return 0;
}
