/* SPDX-License-Identifier: GPL-2.0-or-later */
/* onespine.yaml: every default, every refusal in its exact words, and what is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/document.h"
#include "lib/base/text.h"
#include "lib/policy/config.h"
#include "lib/topology/launch_groups.h"

#define FILE_NAME "onespine.yaml"

static struct osp_config *read_good(const char *text)
{
	struct osp_error error = {0};
	struct osp_config *config = osp_config_read(FILE_NAME, text, strlen(text), &error);
	char words[800];

	if (!config)
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	return config;
}

static void has_defaults(const struct osp_config *config, const char *partition)
{
	const struct osp_policy *policy = osp_config_policy(config, partition);

	assert_int_equal(policy->mode, OSP_MODE_ENFORCE);
	assert_string_equal(policy->level, "spine");
	assert_false(policy->gang_always);
	assert_int_equal(policy->from_nodes, 2);
	assert_true(policy->allow_off);
	assert_false(policy->mix_kinds);
	assert_int_equal(policy->relax_s, -1);
	assert_int_equal(policy->env, OSP_ENV_AUTO);
	assert_int_equal(policy->bind, OSP_BIND_AUTO);
	assert_int_equal(policy->unlaunched, OSP_UNLAUNCHED_WAIT);
	assert_int_equal(policy->launch_tries, 3);
	assert_int_equal(policy->launch_place_s, 300);
	assert_int_equal(policy->launch_keep_s, 300);
}

static void an_empty_file_is_the_defaults(void **state)
{
	static const char *const cases[] = {
		"",
		"\n\n",
		"# only a comment\n",
		"\xef\xbb\xbf",
		"{}",
		"---\n",
		"topology:\ndefaults:\npartitions:\n",
		"defaults: ~\npartitions: {}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_config *config = read_good(cases[i]);

		has_defaults(config, NULL);
		has_defaults(config, "gpu");
		assert_string_equal(osp_config_topology(config), "onespine.topology");
		assert_int_equal(osp_config_partition_count(config), 0);
		osp_config_free(config);
	}
	osp_config_free(osp_config_read(NULL, "", 0, NULL));
	osp_config_free(NULL);
}

static void partitions_stand_on_defaults(void **state)
{
	struct osp_config *config = read_good("topology: /etc/fabric.topology\r\n"
					      "partitions:\r\n"
					      "  gpu:\r\n"
					      "    gang: always\r\n"
					      "    from_nodes: 16\r\n"
					      "    relax: 1-12\r\n"
					      "  gpu-test:\r\n"
					      "  \"odd name\":\r\n"
					      "    mode: 'off'\r\n"
					      "    relax: Never\r\n"
					      "defaults:\r\n"
					      "  mode: ADVISE\r\n"
					      "  level: core\r\n"
					      "  allow_off: no\r\n"
					      "  mix_kinds: on\r\n"
					      "  relax: 30:00\r\n");
	const struct osp_policy *policy = osp_config_policy(config, NULL);
	int line;

	(void)state;
	assert_string_equal(osp_config_topology(config), "/etc/fabric.topology");
	assert_int_equal(policy->mode, OSP_MODE_ADVISE);
	assert_string_equal(policy->level, "core");
	assert_false(policy->gang_always);
	assert_false(policy->allow_off);
	assert_true(policy->mix_kinds);
	assert_int_equal(policy->relax_s, 1800);
	assert_ptr_equal(osp_config_policy(config, "GPU"), policy);
	assert_memory_equal(osp_config_policy(config, "gpu-test"), policy, sizeof(*policy));

	policy = osp_config_policy(config, "gpu");
	assert_int_equal(policy->mode, OSP_MODE_ADVISE);
	assert_true(policy->gang_always);
	assert_int_equal(policy->from_nodes, 16);
	assert_int_equal(policy->relax_s, 129600);

	policy = osp_config_policy(config, "odd name");
	assert_int_equal(policy->mode, OSP_MODE_OFF);
	assert_int_equal(policy->relax_s, -1);

	assert_int_equal(osp_config_partition_count(config), 3);
	assert_string_equal(osp_config_partition(config, 0, &line), "gpu");
	assert_int_equal(line, 3);
	assert_string_equal(osp_config_partition(config, 1, &line), "gpu-test");
	assert_int_equal(line, 7);
	assert_string_equal(osp_config_partition(config, 2, NULL), "odd name");
	osp_config_free(config);
}

static void reads_whom_the_watch_asks(void **state)
{
	static const char text[] = "watch:\n  from: infiniband\n  interval_s: 60\n  max_lost: 0\n"
				   "  max_moved: 100\n  block_ends: reserve\n"
				   "  slurm_topology: default:fabric\n  report_port: 6830\n"
				   "  launch_groups: \"cr-0a=g[1-2] cr-0b=g3,h1\"\n"
				   "  report_key_file: /etc/report.key\n";
	struct osp_config *config = osp_config_read("f", text, strlen(text), NULL);
	const struct osp_watch_policy *watch = osp_config_watch(config);

	(void)state;
	assert_string_equal(watch->from, "infiniband");
	assert_int_equal(watch->interval_s, 60);
	assert_int_equal(watch->guard.max_lost_percent, 0);
	assert_int_equal(watch->guard.max_moved_percent, 100);
	assert_true(watch->reserve_block_ends);
	assert_string_equal(watch->slurm_topology, "default:fabric");
	assert_string_equal(watch->launch_groups, "cr-0a=g[1-2] cr-0b=g3,h1");
	assert_int_equal(watch->report_port, 6830);
	assert_string_equal(watch->report_key_file, "/etc/report.key");
	osp_config_free(config);
	config = osp_config_read("f", "watch: {from: off}\n", 19, NULL);
	watch = osp_config_watch(config);
	assert_null(watch->from);
	assert_false(watch->reserve_block_ends);
	assert_null(watch->slurm_topology);
	assert_null(watch->launch_groups);
	assert_int_equal(watch->report_port, 0);
	assert_null(watch->report_key_file);
	assert_int_equal(watch->interval_s, 300);
	assert_int_equal(watch->guard.max_lost_percent, 10);
	osp_config_free(config);
}

static void refuses_in_words(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{"topologies: x\n", "1:1: unknown key 'topologies'; did you mean topology?"},
		{"topology: x\nquux: 1\n",
		 "2:1: unknown key 'quux'; the keys here are topology, without_match, "
		 "defaults, history, watch, partitions"},
		{"topology: x\ngang: always\n",
		 "2:1: 'gang' is a key of defaults or of a partition: it is expected indented "
		 "below 'defaults:' or below a name under 'partitions:'"},
		{"gate: {mode: off}\n",
		 "1:1: 'gate' is a key of defaults or of a partition: it is expected indented "
		 "below 'defaults:' or below a name under 'partitions:'"},
		{"defaults:\n\tgang: always\n",
		 "2:1: a tab: blanks are expected in front of a key"},
		{"defaults:\n  level: spine\n  \tgang: always\n",
		 "3:3: a tab: blanks are expected in front of a key"},
		{"defaults:\n  level: spine\n\tgang: always\n",
		 "3:1: a tab: blanks are expected in front of a key"},
		{"history: {folder: here}\n", "1:19: folder: off or a path that starts with / is "
					      "expected, not 'here'"},
		{"history: {folder: [a]}\n",
		 "1:19: folder: a word of 1 to 255 bytes is expected, not a list"},
		{"history: {folder: 'off'}\n", "1:19: folder: off or a path that starts with / is "
					       "expected, not 'off'"},
		{"defaults:\n  level: [a]\n",
		 "2:10: level: a word of 1 to 255 bytes is expected, not a list"},
		{"defaults:\n  relax: [a]\n",
		 "2:10: relax: a word of 1 to 255 bytes is expected, not a list"},
		{"history:\n  strikes: 0\n",
		 "2:12: strikes: a whole number from 1 to 1000 is expected, not '0'"},
		{"history:\n  fodler: off\n", "2:3: unknown key 'fodler'; did you mean folder?"},
		{"watch: {from: [a]}\n",
		 "1:15: from: a word of 1 to 255 bytes is expected, not a list"},
		{"watch:\n  from: EC2\n", "2:9: from: EC2: not one of ec2,infiniband,nvlink,"
					  "topograph; did you mean ec2?"},
		{"watch: {from: foo}\n",
		 "1:15: from: foo: not one of ec2,infiniband,nvlink,topograph"},
		{"watch: {from: \"ec2,foo\"}\n",
		 "1:15: from: foo: not one of ec2,infiniband,nvlink,topograph"},
		{"watch: {from: \"ec2,topogrph:/a\"}\n",
		 "1:15: from: topogrph: not one of ec2,infiniband,nvlink,topograph; did you mean "
		 "topograph?"},
		{"watch: {from: topograph}\n",
		 "1:15: from: topograph: the file that it writes is expected, as topograph:/path"},
		{"watch: {from: \"topograph:a\"}\n",
		 "1:15: from: topograph:a: a path that starts with / is expected"},
		{"watch: {from: \"ec2:/a\"}\n", "1:15: from: ec2:/a: ec2 reads no file"},
		{"watch: {from: \"ec2,ec2\"}\n", "1:15: from: ec2,ec2: ec2 is there twice"},
		{"watch: {from: \"nvlink,ec2,infiniband\"}\n",
		 "1:15: from: nvlink,ec2,infiniband: nvlink goes with one other source"},
		{"watch: {interval_s: 0}\n",
		 "1:21: interval_s: a whole number from 1 to 86400 is expected, not '0'"},
		{"watch: {max_lost: 101}\n",
		 "1:19: max_lost: a whole number from 0 to 100 is expected, not '101'"},
		{"watch: {max_moved: -1}\n",
		 "1:20: max_moved: a whole number from 0 to 100 is expected, not '-1'"},
		{"watch: {max: 1}\n",
		 "1:9: unknown key 'max'; the keys here are from, interval_s, "
		 "max_lost, max_moved, block_ends, slurm_topology, launch_groups, "
		 "report_port, report_key_file"},
		{"watch: {launch_groups: \"cr-0a=g1 cr-0A=g2\"}\n",
		 "1:24: launch_groups: a capacity reservation and its nodes, as "
		 "cr-0123=gpu-[1-4], are expected, not 'cr-0A=g2'"},
		{"watch: {launch_groups: g1}\n",
		 "1:24: launch_groups: a capacity reservation and its nodes, as "
		 "cr-0123=gpu-[1-4], are expected, not 'g1'"},
		{"watch: {launch_groups: \"cr-0a=g1 cr-0b=g2,g1\"}\n",
		 "1:24: launch_groups: node g1 is there twice"},
		{"watch: {launch_groups: \"cr-0a=g1 cr-0a=g2\"}\n",
		 "1:24: launch_groups: cr-0a is there twice"},
		{"watch: {launch_groups: \"cr-0a=\"}\n",
		 "1:24: launch_groups: a capacity reservation and its nodes, as "
		 "cr-0123=gpu-[1-4], are expected, not 'cr-0a='"},
		{"watch: {launch_groups: \"cr-0a=g[1-\"}\n",
		 "1:24: launch_groups: a number is expected here"},
		{"watch: {launch_groups: [cr-0a=g1]}\n",
		 "1:24: launch_groups: a word of 1 to 16384 bytes is expected, not a list"},
		{"watch: {report_key_file: report.key}\n",
		 "1:26: report_key_file: auto or a file's whole path is expected, not "
		 "'report.key'"},
		{"watch: {report_key_file: [/a]}\n",
		 "1:26: report_key_file: a word of 1 to 255 bytes is expected, not a list"},
		{"watch: {report_port: 65536}\n",
		 "1:22: report_port: a whole number from 0 to 65535 is expected, not '65536'"},
		{"watch: {slurm_topology: {default: fabric}}\n",
		 "1:25: slurm_topology: a word of 1 to 255 bytes is expected, not a map"},
		{"watch: {report_port: 1023}\n",
		 "1:22: report_port: 0, or 1024 to 65535, is expected, not 1023"},
		{"watch: {slurm_topology: default}\n",
		 "1:25: slurm_topology: off, or a topology of Slurm's and a switch of it, as "
		 "default:fabric, is expected, not 'default'"},
		{"watch: {block_ends: wait}\n",
		 "1:21: block_ends: one of off, reserve is expected, not 'wait'"},
		{"- mode\n", "1:1: a map is expected, not a list"},
		{"enforce\n", "1:1: a map is expected, not 'enforce'"},
		{"topology: [a]\n",
		 "1:11: topology: a word of 1 to 255 bytes is expected, not a list"},
		{"topology: ''\n",
		 "1:11: topology: a word of 1 to 255 bytes is expected, not \"\""},
		{"topology: a\ntopology: b\n",
		 "2:1: key 'topology' is given twice (first in line 1)"},
		{"defaults: enforce\n", "1:11: defaults: a map is expected, not 'enforce'"},
		{"defaults:\n  lvel: spine\n", "2:3: unknown key 'lvel'; did you mean level?"},
		{"defaults:\n  mode: enforced\n",
		 "2:9: mode: one of off, advise, enforce is expected, not 'enforced'; did you mean "
		 "enforce?"},
		{"defaults:\n  mode: [enforce]\n",
		 "2:9: mode: one of off, advise, enforce is expected, not a list"},
		{"defaults:\n  level: spine 2\n",
		 "2:10: level: a level's name (letters, digits, - and _, at most 31) is expected, "
		 "not 'spine 2'"},
		{"defaults:\n  level: off\n",
		 "2:10: level: a level's name (letters, digits, - and _, at most 31) is expected, "
		 "not 'off'"},
		{"defaults:\n  level: spine@30\n",
		 "2:10: level: a level's name (letters, digits, - and _, at most 31) is expected, "
		 "not 'spine@30'"},
		{"defaults:\n  gang: allways\n", "2:9: gang: one of asked, always is expected, not "
						 "'allways'; did you mean always?"},
		{"defaults: {from_nodes: 0}\n",
		 "1:24: from_nodes: a whole number from 1 to 131072 is expected, not '0'"},
		{"defaults: {from_nodes: 131073}\n",
		 "1:24: from_nodes: a whole number from 1 to 131072 is expected, not '131073'"},
		{"defaults: {from_nodes: two}\n",
		 "1:24: from_nodes: a whole number from 1 to 131072 is expected, not 'two'"},
		{"defaults: {allow_off: 1}\n",
		 "1:23: allow_off: true or false is expected, not '1'"},
		{"defaults: {mix_kinds: \"true\"}\n",
		 "1:23: mix_kinds: true or false is expected, not \"true\""},
		{"defaults: {relax: nevr}\n", "1:19: relax: never or a time (" OSP_DURATION_FORMS
					      ") is expected, not 'nevr'; did you mean never?"},
		{"defaults: {unlaunched: lauch}\n", "1:24: unlaunched: one of wait, launch is "
						    "expected, not 'lauch'; did you mean launch?"},
		{"defaults: {launch_tries: 0}\n",
		 "1:26: launch_tries: a whole number from 1 to 100 is expected, not '0'"},
		{"defaults: {launch_place: soon}\n",
		 "1:26: launch_place: a time (" OSP_DURATION_FORMS
		 ", not 0) is expected, not 'soon'"},
		{"defaults: {launch_place: [1]}\n",
		 "1:26: launch_place: a word of 1 to 255 bytes is expected, not a list"},
		{"defaults: {launch_keep: {a: 1}}\n",
		 "1:25: launch_keep: a word of 1 to 255 bytes is expected, not a map"},
		{"defaults: {launch_place: 0}\n",
		 "1:26: launch_place: a time (" OSP_DURATION_FORMS ", not 0) is expected, not '0'"},
		{"defaults: {launch_keep: long}\n",
		 "1:25: launch_keep: 0 or a time (" OSP_DURATION_FORMS ") is expected, not 'long'"},
		{"defaults: {relax: 5h}\n",
		 "1:19: relax: never or a time (" OSP_DURATION_FORMS ") is expected, not '5h'"},
		{"defaults: {env: verbose}\n",
		 "1:17: env: one of off, auto, explain is expected, not 'verbose'"},
		{"defaults: {bind: verbos}\n", "1:18: bind: one of off, auto, verbose is expected, "
					       "not 'verbos'; did you mean verbose?"},
		{"partitions: gpu\n",
		 "1:13: partitions: a map of partitions by name is expected, not a word"},
		{"partitions:\n- gpu\n",
		 "2:1: partitions: a map of partitions by name is expected, not a list"},
		{"partitions:\n  gpu: enforce\n", "2:8: gpu: a map is expected, not 'enforce'"},
		{"partitions:\n  gpu:\n    form_nodes: 4\n",
		 "3:5: unknown key 'form_nodes'; did you mean from_nodes?"},
		{"partitions:\n  DEFAULT:\n    mode: advise\n",
		 "2:3: 'DEFAULT' is no partition; the key defaults beside partitions holds what is "
		 "true of all"},
		{"partitions:\n  Defaults: {}\n",
		 "2:3: 'Defaults' is no partition; the key defaults beside partitions holds what "
		 "is true of all"},
		{"partitions:\n  gpu: {}\n  gpu: {}\n",
		 "3:3: key 'gpu' is given twice (first in line 2)"},
		{"defaults: &a {}\n", "1:11: anchors (&name) are not allowed here"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {0};
		char words[800], expected[800];

		assert_null(
			osp_config_read(FILE_NAME, cases[i].text, strlen(cases[i].text), &error));
		snprintf(expected, sizeof(expected), FILE_NAME ":%s", cases[i].error);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), expected);
		assert_null(osp_config_read(FILE_NAME, cases[i].text, strlen(cases[i].text), NULL));
	}
}

static void refuses_a_huge_file(void **state)
{
	size_t bytes = OSP_CONFIG_FILE_BYTES_MAX + 1;
	char *text = malloc(bytes), words[800];
	struct osp_error error = {0};
	struct osp_config *config;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', bytes);
	assert_null(osp_config_read(FILE_NAME, text, bytes, &error));
	assert_string_equal(osp_error_format(&error, words, sizeof(words)),
			    FILE_NAME ": larger than 1048576 bytes: no onespine.yaml");
	config = osp_config_read(FILE_NAME, text, bytes - 1, NULL);
	assert_non_null(config);
	osp_config_free(config);
	free(text);
}

static void names_modes(void **state)
{
	(void)state;
	assert_string_equal(osp_mode_name(OSP_MODE_OFF), "off");
	assert_string_equal(osp_mode_name(OSP_MODE_ADVISE), "advise");
	assert_string_equal(osp_mode_name(OSP_MODE_ENFORCE), "enforce");
}

#define SHOWN                                                                                      \
	"defaults:\n"                                                                              \
	"  level: core\n"                                                                          \
	"  relax: 30:00\n"                                                                         \
	"partitions:\n"                                                                            \
	"  gpu:\n"                                                                                 \
	"    gang: always\n"                                                                       \
	"    from_nodes: 16\n"                                                                     \
	"    allow_off: false\n"

static void shows_what_is_in_force(void **state)
{
	struct osp_config *config = read_good(SHOWN);
	char *shown = osp_config_show(config, false);

	(void)state;
	assert_string_equal(shown,
			    "topology                    onespine.topology  (default)\n"
			    "without_match               hold               (default)\n"
			    "defaults.mode               enforce            (default)\n"
			    "defaults.level              core               (onespine.yaml:2)\n"
			    "defaults.gang               asked              (default)\n"
			    "defaults.from_nodes         2                  (default)\n"
			    "defaults.allow_off          true               (default)\n"
			    "defaults.mix_kinds          false              (default)\n"
			    "defaults.relax              30:00              (onespine.yaml:3)\n"
			    "defaults.env                auto               (default)\n"
			    "defaults.bind               auto               (default)\n"
			    "defaults.unlaunched         wait               (default)\n"
			    "defaults.launch_tries       3                  (default)\n"
			    "defaults.launch_place       5:00               (default)\n"
			    "defaults.launch_keep        5:00               (default)\n"
			    "defaults.gate.depth         passive            (default)\n"
			    "defaults.gate.jobs          gpus               (default)\n"
			    "defaults.gate.budget_s      60                 (default)\n"
			    "defaults.gate.fresh_s       3600               (default)\n"
			    "defaults.gate.failure       drain              (default)\n"
			    "defaults.gate.checks        {}                 (default)\n"
			    "defaults.gate.on_error      go                 (default)\n"
			    "defaults.gate.spares        2                  (default)\n"
			    "defaults.gate.restarts      3                  (default)\n"
			    "defaults.gate.network       auto               (default)\n"
			    "defaults.gate.ports         288-303            (default)\n"
			    "defaults.gate.breaker       10                 (default)\n"
			    "defaults.gate.breaker_s     3600               (default)\n"
			    "defaults.gate.breaker_jobs  go                 (default)\n"
			    "defaults.gate.evidence      local              (default)\n"
			    "defaults.gate.quarantine    0                  (default)\n"
			    "defaults.gate.quarantine_h  72                 (default)\n"
			    "defaults.gate.key_file      auto               (default)\n"
			    "history.folder              /var/lib/onespine/history  (default)\n"
			    "history.shared              off                (default)\n"
			    "history.file_mib            16                 (default)\n"
			    "history.files               4                  (default)\n"
			    "history.textfile            off                (default)\n"
			    "history.slurm_extra         true               (default)\n"
			    "history.strikes             3                  (default)\n"
			    "history.strike_days         30                 (default)\n"
			    "watch.from                  off                (default)\n"
			    "watch.interval_s            300                (default)\n"
			    "watch.max_lost              10                 (default)\n"
			    "watch.max_moved             10                 (default)\n"
			    "watch.block_ends            off                (default)\n"
			    "watch.slurm_topology        off                (default)\n"
			    "watch.launch_groups         off                (default)\n"
			    "watch.report_port           0                  (default)\n"
			    "watch.report_key_file       auto               (default)\n"
			    "gpu.mode                    enforce            (default)\n"
			    "gpu.level                   core               (onespine.yaml:2)\n"
			    "gpu.gang                    always             (onespine.yaml:6)\n"
			    "gpu.from_nodes              16                 (onespine.yaml:7)\n"
			    "gpu.allow_off               false              (onespine.yaml:8)\n"
			    "gpu.mix_kinds               false              (default)\n"
			    "gpu.relax                   30:00              (onespine.yaml:3)\n"
			    "gpu.env                     auto               (default)\n"
			    "gpu.bind                    auto               (default)\n"
			    "gpu.unlaunched              wait               (default)\n"
			    "gpu.launch_tries            3                  (default)\n"
			    "gpu.launch_place            5:00               (default)\n"
			    "gpu.launch_keep             5:00               (default)\n");
	free(shown);
	osp_config_free(config);
}

static void shows_json(void **state)
{
	struct osp_config *config = read_good(SHOWN);
	char *shown = osp_config_show(config, true);

	(void)state;
	assert_string_equal(
		shown,
		"{\n"
		"  \"file\": \"onespine.yaml\",\n"
		"  \"topology\": {\"value\": \"onespine.topology\", \"line\": null},\n"
		"  \"without_match\": {\"value\": \"hold\", \"line\": null},\n"
		"  \"defaults\": {\n"
		"    \"mode\": {\"value\": \"enforce\", \"line\": null},\n"
		"    \"level\": {\"value\": \"core\", \"line\": 2},\n"
		"    \"gang\": {\"value\": \"asked\", \"line\": null},\n"
		"    \"from_nodes\": {\"value\": 2, \"line\": null},\n"
		"    \"allow_off\": {\"value\": true, \"line\": null},\n"
		"    \"mix_kinds\": {\"value\": false, \"line\": null},\n"
		"    \"relax\": {\"value\": \"30:00\", \"line\": 3},\n"
		"    \"env\": {\"value\": \"auto\", \"line\": null},\n"
		"    \"bind\": {\"value\": \"auto\", \"line\": null},\n"
		"    \"unlaunched\": {\"value\": \"wait\", \"line\": null},\n"
		"    \"launch_tries\": {\"value\": 3, \"line\": null},\n"
		"    \"launch_place\": {\"value\": \"5:00\", \"line\": null},\n"
		"    \"launch_keep\": {\"value\": \"5:00\", \"line\": null},\n"
		"    \"gate\": {\n"
		"      \"depth\": {\"value\": \"passive\", \"line\": null},\n"
		"      \"jobs\": {\"value\": \"gpus\", \"line\": null},\n"
		"      \"budget_s\": {\"value\": 60, \"line\": null},\n"
		"      \"fresh_s\": {\"value\": 3600, \"line\": null},\n"
		"      \"failure\": {\"value\": \"drain\", \"line\": null},\n"
		"      \"checks\": {\"value\": \"{}\", \"line\": null},\n"
		"      \"on_error\": {\"value\": \"go\", \"line\": null},\n"
		"      \"spares\": {\"value\": 2, \"line\": null},\n"
		"      \"restarts\": {\"value\": 3, \"line\": null},\n"
		"      \"network\": {\"value\": \"auto\", \"line\": null},\n"
		"      \"ports\": {\"value\": \"288-303\", \"line\": null},\n"
		"      \"breaker\": {\"value\": 10, \"line\": null},\n"
		"      \"breaker_s\": {\"value\": 3600, \"line\": null},\n"
		"      \"breaker_jobs\": {\"value\": \"go\", \"line\": null},\n"
		"      \"evidence\": {\"value\": \"local\", \"line\": null},\n"
		"      \"quarantine\": {\"value\": 0, \"line\": null},\n"
		"      \"quarantine_h\": {\"value\": 72, \"line\": null},\n"
		"      \"key_file\": {\"value\": \"auto\", \"line\": null}\n"
		"    }\n"
		"  },\n"
		"  \"history\": {\n"
		"    \"folder\": {\"value\": \"/var/lib/onespine/history\", \"line\": null},\n"
		"    \"shared\": {\"value\": \"off\", \"line\": null},\n"
		"    \"file_mib\": {\"value\": 16, \"line\": null},\n"
		"    \"files\": {\"value\": 4, \"line\": null},\n"
		"    \"textfile\": {\"value\": \"off\", \"line\": null},\n"
		"    \"slurm_extra\": {\"value\": true, \"line\": null},\n"
		"    \"strikes\": {\"value\": 3, \"line\": null},\n"
		"    \"strike_days\": {\"value\": 30, \"line\": null}\n"
		"  },\n"
		"  \"watch\": {\n"
		"    \"from\": {\"value\": \"off\", \"line\": null},\n"
		"    \"interval_s\": {\"value\": 300, \"line\": null},\n"
		"    \"max_lost\": {\"value\": 10, \"line\": null},\n"
		"    \"max_moved\": {\"value\": 10, \"line\": null},\n"
		"    \"block_ends\": {\"value\": \"off\", \"line\": null},\n"
		"    \"slurm_topology\": {\"value\": \"off\", \"line\": null},\n"
		"    \"launch_groups\": {\"value\": \"off\", \"line\": null},\n"
		"    \"report_port\": {\"value\": 0, \"line\": null},\n"
		"    \"report_key_file\": {\"value\": \"auto\", \"line\": null}\n"
		"  },\n"
		"  \"partitions\": {\n"
		"    \"gpu\": {\n"
		"      \"mode\": {\"value\": \"enforce\", \"line\": null},\n"
		"      \"level\": {\"value\": \"core\", \"line\": 2},\n"
		"      \"gang\": {\"value\": \"always\", \"line\": 6},\n"
		"      \"from_nodes\": {\"value\": 16, \"line\": 7},\n"
		"      \"allow_off\": {\"value\": false, \"line\": 8},\n"
		"      \"mix_kinds\": {\"value\": false, \"line\": null},\n"
		"      \"relax\": {\"value\": \"30:00\", \"line\": 3},\n"
		"      \"env\": {\"value\": \"auto\", \"line\": null},\n"
		"      \"bind\": {\"value\": \"auto\", \"line\": null},\n"
		"      \"unlaunched\": {\"value\": \"wait\", \"line\": null},\n"
		"      \"launch_tries\": {\"value\": 3, \"line\": null},\n"
		"      \"launch_place\": {\"value\": \"5:00\", \"line\": null},\n"
		"      \"launch_keep\": {\"value\": \"5:00\", \"line\": null}\n"
		"    }\n"
		"  }\n"
		"}\n");
	free(shown);
	osp_config_free(config);
}

/* Names that need care in JSON, and the JSON read back by our own strict reader. */
static void json_is_well_formed(void **state)
{
	struct osp_config *config =
		read_good("{topology: \"a\\\"b\\\\c\\n\\x7f\", partitions: {'q\"p\\': {}, b: {}}}");
	char *shown = osp_config_show(config, true);
	struct osp_document *document;

	(void)state;
	assert_non_null(strstr(shown, "{\"value\": \"a\\\"b\\\\c\\u000a\\u007f\", \"line\": 1}"));
	assert_non_null(strstr(shown, "\n    \"q\\\"p\\\\\": {\n"));
	assert_non_null(strstr(shown, "    },\n    \"b\": {\n"));
	document = osp_document_read("shown", shown, strlen(shown), NULL);
	assert_non_null(document);
	osp_document_free(document);
	free(shown);
	osp_config_free(config);

	config = read_good("");
	shown = osp_config_show(config, true);
	assert_non_null(strstr(shown, "  \"partitions\": {}\n}\n"));
	free(shown);
	osp_config_free(config);
}

static char *read_sample(void)
{
	const char *top = getenv("top_srcdir");
	char path[1024], *text;
	size_t bytes;

	snprintf(path, sizeof(path), "%s/etc/onespine.yaml", top ? top : ".");
	text = osp_read_file(path, OSP_CONFIG_FILE_BYTES_MAX, &bytes);
	assert_non_null(text);
	return text;
}

static void the_sample_says_nothing(void **state)
{
	char *text = read_sample();
	struct osp_config *config = read_good(text);

	(void)state;
	has_defaults(config, NULL);
	assert_int_equal(osp_config_partition_count(config), 0);
	osp_config_free(config);
	free(text);
}

/* With every key switched on ("#key:"; "# words" are words) it says the defaults, and all of them.
 */
static void the_sample_has_every_key(void **state)
{
	char *text = read_sample(), *shown;
	struct osp_config *config;

	(void)state;
	for (char *hash = text; (hash = strchr(hash, '#')); hash++) {
		if (hash[1] != ' ' && hash[1] != '\n')
			memmove(hash, hash + 1, strlen(hash));
	}
	config = read_good(text);
	has_defaults(config, NULL);
	assert_string_equal(osp_config_topology(config), "onespine.topology");
	assert_int_equal(osp_config_partition_count(config), 1);
	assert_true(osp_config_policy(config, "gpu")->gang_always);
	shown = osp_config_show(config, false);
	assert_null(strstr(shown, "(default)"));
	free(shown);
	osp_config_free(config);
	free(text);
}

/* 64 groups are more than a word of 255 bytes. */
static void test_many_launch_groups(void **state)
{
	char text[OSP_LAUNCH_GROUPS_BYTES_MAX] = "watch:\n  launch_groups: >\n";
	struct osp_launch_groups groups;
	struct osp_error error = {.text = ""};
	struct osp_config *config;

	(void)state;
	for (int i = 0; i < OSP_LAUNCH_GROUPS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "    cr-0123456789abcde%02x=queue-dy-p5-[%d-%d]\n", i, i * 16 + 1,
			 i * 16 + 16);
	config = osp_config_read("onespine.yaml", text, strlen(text), &error);
	assert_non_null(config);
	assert_int_equal(
		osp_launch_groups_read(osp_config_watch(config)->launch_groups, &groups, &error),
		0);
	assert_int_equal(groups.count, OSP_LAUNCH_GROUPS_MAX);
	assert_int_equal(osp_launch_groups_of(&groups, "queue-dy-p5-1024"), 63);
	osp_launch_groups_free(&groups);
	osp_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_launch_groups),
		cmocka_unit_test(an_empty_file_is_the_defaults),
		cmocka_unit_test(partitions_stand_on_defaults),
		cmocka_unit_test(reads_whom_the_watch_asks),
		cmocka_unit_test(refuses_in_words),
		cmocka_unit_test(refuses_a_huge_file),
		cmocka_unit_test(names_modes),
		cmocka_unit_test(shows_what_is_in_force),
		cmocka_unit_test(shows_json),
		cmocka_unit_test(json_is_well_formed),
		cmocka_unit_test(the_sample_says_nothing),
		cmocka_unit_test(the_sample_has_every_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
