/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_user_env.c - what a user wrote into ~/.nccl.conf and the environment
 *
 * The first line is the list of what an outer step set, the second a variable, the rest the file.
 *
 * Parser: lib/env/user_env.c
 */
#include "lib/env/user_env.h"
#include "tests/fuzz/fuzz.h"

static struct osp_rule_set *make_rules(void)
{
	static const char text[] = "rules:\n"
				   "  - id: F1\n"
				   "    when: {vendor: nvidia}\n"
				   "    action: set\n"
				   "    variable: NCCL_DEBUG\n"
				   "    value: WARN\n"
				   "    severity: missing\n"
				   "    reason: a reason\n"
				   "    source: https://example.org/\n";
	struct osp_rule_set *rules = osp_rules_new(NULL);

	fuzz_check(rules && !osp_rules_add(rules, 0, "f", text, strlen(text), NULL));
	fuzz_check(!osp_rules_finish(rules, NULL));
	return rules;
}

/* Each is named once, counts, and says where it is from. */
static void check(const struct osp_user_env *user, const struct osp_rule_set *rules,
		  const char *list)
{
	fuzz_check(user->count <= OSP_USER_ENV_MAX);
	for (size_t i = 0; i < user->count; i++) {
		const struct osp_variable *one = &user->list[i];

		fuzz_check(one->name && *one->name && one->value && one->origin);
		fuzz_check(osp_rules_name(rules, one->name) ||
			   osp_user_env_listed(list, one->name));
		for (size_t k = 0; k < i && k < 8; k++)
			fuzz_check(strcmp(user->list[k].name, one->name) != 0);
	}
}

FUZZER(user_env)
{
	static struct osp_rule_set *rules;
	char *text = malloc(size + 1), *rest = text, *list, *pair;
	char *environment[] = {NULL, (char *)"HOME=/nowhere", NULL};
	struct osp_user_conf conf = {.path = "/nowhere/.nccl.conf"};
	struct osp_user_env user = {.count = 0};

	fuzz_check(text);
	if (!rules)
		rules = make_rules();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	list = strsep(&rest, "\n");
	pair = strsep(&rest, "\n");
	conf.text = rest;
	environment[0] = pair ? pair : (char *)"";
	fuzz_check(!osp_user_env_read(environment, rules, list, &conf, &user));
	check(&user, rules, list);
	osp_user_env_free(&user);
	free(text);
	return 0;
}
