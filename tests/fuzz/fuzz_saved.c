/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_saved.c - whom a gang preempts, as a job's record has it when slurmctld comes back; features
 * that a user asks for; names of files of evidence; the gate's keys
 *
 * Parser: lib/choose/choose_saved.c lib/policy/features.c lib/health/evidence.c lib/gate/secrets.c
 */
#include "lib/choose/choose.h"
#include "lib/gate/secrets.h"
#include "lib/health/evidence.h"
#include "lib/policy/features.h"
#include "lib/topology/builder.h"
#include "tests/fuzz/fuzz.h"

#define JOB 7

static struct osp_topology *make_topology(void)
{
	static const char *const levels[] = {"leaf", "spine"};
	static const struct osp_place_in_file nowhere;
	struct osp_builder *builder = osp_builder_new(levels, 2, NULL);
	struct osp_topology *topology;
	uint32_t spine, leaf;

	fuzz_check(builder);
	spine = osp_builder_domain(builder, 2, "s1", &nowhere, NULL);
	leaf = osp_builder_domain(builder, 1, "l1", &nowhere, NULL);
	fuzz_check(!osp_builder_nest(builder, leaf, spine, &nowhere, NULL));
	fuzz_check(!osp_builder_node(builder, "n1", leaf, &nowhere, NULL));
	topology = osp_builder_finish(builder, false, NULL);
	osp_builder_free(builder);
	fuzz_check(topology);
	return topology;
}

/* What was taken is written as a text that is taken the same. */
static void check_saved(struct osp_chooser *chooser, const char *text)
{
	char *saved, *again;

	osp_chooser_restore(chooser, JOB, text);
	saved = osp_chooser_saved(chooser, JOB);
	osp_chooser_forget(chooser, JOB);
	if (!saved)
		return;
	osp_chooser_restore(chooser, JOB, saved);
	again = osp_chooser_saved(chooser, JOB);
	osp_chooser_forget(chooser, JOB);
	fuzz_check(again && !strcmp(saved, again));
	free(saved);
	free(again);
}

/* What was taken is written as a file that is taken the same. */
static void check_secrets(const char *text)
{
	struct osp_secrets secrets, again;
	char *written;

	if (osp_secrets_read("gate.key", text, strlen(text), &secrets, NULL))
		return;
	written = osp_secrets_text(&secrets);
	fuzz_check(written &&
		   !osp_secrets_read("gate.key", written, strlen(written), &again, NULL));
	fuzz_check(!memcmp(&secrets, &again, sizeof(secrets)));
	osp_secrets_text_free(written);
}

static void check_evidence(const char *text)
{
	struct osp_evidence evidence = {.node = text, .job = JOB, .time_s = 1795496108, .saw = 1};
	char name[OSP_EVIDENCE_NAME_BYTES];
	enum osp_evidence_kind kind = OSP_EVIDENCE_KINDS;
	uint32_t saw = 0;

	if (osp_evidence_parse(text, &kind, &saw))
		fuzz_check(kind < OSP_EVIDENCE_KINDS);
	if (!osp_evidence_name(&evidence, name, sizeof(name)))
		return;
	fuzz_check(!strchr(name, '/') && osp_evidence_parse(name, &kind, &saw));
	fuzz_check(kind == evidence.kind && saw == evidence.saw);
}

FUZZER(saved)
{
	static struct osp_chooser *chooser;
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (!chooser) {
		struct osp_topology *topology = make_topology();

		chooser = osp_chooser_new(topology, osp_place_new(topology, 1), NULL);
		fuzz_check(chooser);
	}
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_saved(chooser, text);
	check_evidence(text);
	check_secrets(text);
	/* a node without features has only what is no expression, and that every node has */
	if (osp_features_match(text, ""))
		fuzz_check(osp_features_match(text, "a,b"));
	free(text);
	return 0;
}
