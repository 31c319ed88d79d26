/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's rules, over tables of slurm.conf and of what a host may look like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/doctor/doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SHADOW	     "/o/slurmctld"
#define PLUGINS	     "/o"
#define SLURM	     "/usr/lib/slurm"
#define OURS_DIR     "PluginDir=" SHADOW ":" PLUGINS ":" SLURM "\n"
#define RIGHT	     OURS_DIR "SelectType=select/cons_tres\nJobSubmitPlugins=onespine\n"
#define GATE_LINES   RIGHT "PrologFlags=Alloc,DeferBatch\nBatchStartTimeout=120\n"
#define GOOD                                                                                       \
	GATE_LINES                                                                                 \
	"SchedulerParameters=nohold_on_prolog_fail\nAuthInfo=cred_expire=70\n"
#define V22 0x160508
#define V24 0x180b05
#define V25 0x190b07

static char *read_text(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	(void)path;
	(void)error;
	*bytes = strlen(context);
	return strdup(context);
}

/* A host where all is right; a test spoils one thing. */
struct host {
	struct osp_plugin_folder folders[3];
	struct osp_trusted_file trusted[1];
	struct osp_error error;
	struct osp_doctor_facts facts;
};

static struct osp_plugin_file plugin_of(enum osp_plugin_state state, uint32_t slurm)
{
	return (struct osp_plugin_file){.state = state, .version = slurm};
}

static void make_host(struct host *host)
{
	memset(host, 0, sizeof(*host));
	host->folders[0] = (struct osp_plugin_folder){.path = SHADOW, .exists = true};
	host->folders[0].select = plugin_of(OSP_PLUGIN_OURS, V22);
	host->folders[1] = (struct osp_plugin_folder){.path = PLUGINS, .exists = true};
	host->folders[1].job_submit = plugin_of(OSP_PLUGIN_OURS, V22);
	host->folders[2] = (struct osp_plugin_folder){.path = SLURM, .exists = true};
	host->folders[2].select = plugin_of(OSP_PLUGIN_OTHERS, V22);
	host->facts = (struct osp_doctor_facts){
		.conf_path = "/e/slurm.conf",
		.controller = true,
		.slurm = V22,
		.shadow_dir = SHADOW,
		.plugin_dir = PLUGINS,
		.slurm_plugins = SLURM,
		.installed = true,
		.folders = host->folders,
		.folder_count = 3,
		.plugstack_path = "/e/plugstack.conf",
		.config_path = "/e/onespine.yaml",
		.topology_path = "/e/onespine.topology",
	};
	host->facts.spank = (struct osp_spank_line){
		.named = true,
		.required = true,
		.path = PLUGINS "/onespine.so",
		.file = "/e/plugstack.conf",
		.line = 1,
		.plugin = {.state = OSP_PLUGIN_OURS, .version = V22},
	};
}

/* Judges `host` with this slurm.conf; the text of all findings, "LEVEL NAME: SENTENCE | CURE" a
 * line. */
static char *judge(struct host *host, const char *text)
{
	struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
	struct osp_text reported = OSP_TEXT_INIT;
	struct osp_slurm_conf *conf =
		osp_slurm_conf_read("/e/slurm.conf", read_text, (void *)text, NULL);

	host->facts.conf = conf;
	assert_non_null(conf);
	assert_int_equal(osp_doctor_judge(&host->facts, &findings), 0);
	for (uint32_t i = 0; i < findings.count; i++)
		osp_text_printf(&reported, "%s%s %s: %s | %s", i ? "\n" : "",
				findings.items[i].level == OSP_DOCTOR_WRONG ? "wrong" : "warning",
				findings.items[i].name, findings.items[i].sentence,
				findings.items[i].cure);
	osp_doctor_findings_free(&findings);
	osp_slurm_conf_free(conf);
	return osp_text_take(&reported);
}

static void expect(struct host *host, const char *text, const char *wanted)
{
	char *reported = judge(host, text);

	if (strcmp(reported, wanted) != 0)
		fail_msg("slurm.conf:\n%s\nis:     %s\nwanted: %s", text, reported, wanted);
	free(reported);
}

static void test_right(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	expect(&host, RIGHT, "");
	expect(&host, OURS_DIR "selecttype=cons_tres\njobsubmitplugins=lua,job_submit/onespine\n",
	       "");
}

/* Each line of slurm.conf alone. */
static void test_settings(void **state)
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{OURS_DIR "JobSubmitPlugins=onespine\n",
		 "wrong select-type: SelectType is select/linear: Onespine places gangs with "
		 "select/cons_tres only | /e/slurm.conf: SelectType=select/cons_tres"},
		{OURS_DIR "SelectType=select/linear\nJobSubmitPlugins=onespine\n",
		 "wrong select-type: SelectType is select/linear: Onespine places gangs with "
		 "select/cons_tres only | /e/slurm.conf:2: SelectType=select/cons_tres instead of "
		 "select/linear"},
		{OURS_DIR "SelectType=select/cons_tres\n",
		 "wrong job-submit: JobSubmitPlugins lacks onespine: no policy holds, and nothing "
		 "stops "
		 "a slurmctld that cannot enforce | /e/slurm.conf: JobSubmitPlugins=onespine"},
		{OURS_DIR "SelectType=select/cons_tres\nJobSubmitPlugins=lua\n",
		 "wrong job-submit: JobSubmitPlugins lacks onespine: no policy holds, and nothing "
		 "stops "
		 "a slurmctld that cannot enforce | /e/slurm.conf:3: JobSubmitPlugins=lua,onespine "
		 "instead of lua"},
		{OURS_DIR "SelectType=select/cons_tres\nJobSubmitPlugins=job_submit/onespine,lua\n",
		 "warning job-submit: JobSubmitPlugins has lua after onespine: what that changes "
		 "in a job, its partition or its nodes, no policy of ours sees | "
		 "/e/slurm.conf:3: put onespine last"},
		{RIGHT "TopologyParam=RouteTree,SwitchAsNodeRank\n",
		 "warning node-rank: TopologyParam=SwitchAsNodeRank orders a job's ranks by "
		 "topology.conf: they follow onespine.topology only while both files say the same "
		 "| make "
		 "topology.conf from our file: onespine topology import --from onespine --to "
		 "topology.conf"},
		{RIGHT "SchedulerType=sched/builtin\n",
		 "warning backfill: SchedulerType=sched/builtin: a gang that waits stops every job "
		 "behind it | /e/slurm.conf:4: SchedulerType=sched/backfill instead of "
		 "sched/builtin"},
		{RIGHT "PartitionName=DEFAULT State=UP\nPartitionName=a MaxTime=2-0\n",
		 "warning backfill: backfill looks 1440 minutes ahead and jobs may run 2880: a "
		 "gang "
		 "whose nodes are free later than that is held no place, and small jobs go before "
		 "it | "
		 "/e/slurm.conf: SchedulerParameters=bf_window=2880"},
		{RIGHT "PartitionName=a MaxTime=2-0\nSchedulerParameters=x,bf_window=100\n",
		 "warning backfill: backfill looks 100 minutes ahead and jobs may run 2880: a gang "
		 "whose nodes are free later than that is held no place, and small jobs go before "
		 "it | "
		 "SchedulerParameters: bf_window=2880 instead of 100"},
		{RIGHT "PartitionName=a MaxTime=2-0\nSchedulerParameters=bf_window=2880\n", ""},
		{RIGHT "PartitionName=a MaxTime=INFINITE\n", ""},
		{RIGHT "PartitionName=a MaxTime=60\nPartitionName=b\n", ""},
		/* of the gate, which is off */
		{RIGHT "PrologFlags=RunInJob\n", ""},
	};
	struct host host;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make_host(&host);
		expect(&host, cases[i].text, cases[i].wanted);
	}
	make_host(&host); /* the default of a later Slurm */
	for (size_t i = 0; i < 3; i++)
		host.folders[i].select.version = host.folders[i].job_submit.version = V24;
	host.facts.spank.plugin.version = V24;
	expect(&host, OURS_DIR "JobSubmitPlugins=onespine\n", "");
}

static void test_plugin_dir(void **state)
{
	struct host host;

	(void)state;
	make_host(&host); /* PluginDir is not said */
	host.facts.folders = &host.folders[2];
	host.facts.folder_count = 1;
	expect(&host, "SelectType=select/cons_tres\nJobSubmitPlugins=lua\n",
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | /e/slurm.conf: "
	       "PluginDir=/o/slurmctld:/o:/usr/lib/slurm\n"
	       "wrong job-submit: JobSubmitPlugins lacks onespine: no policy holds, and nothing "
	       "stops a "
	       "slurmctld that cannot enforce | /e/slurm.conf:2: JobSubmitPlugins=lua,onespine "
	       "instead "
	       "of lua");
	host.facts.installed = false;
	expect(&host, "SelectType=select/cons_tres\nJobSubmitPlugins=onespine\n",
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | install Onespine with its "
	       "shadow "
	       "(configure --with-slurm-source): /o/slurmctld/select_cons_tres.so is not there\n"
	       "wrong job-submit: JobSubmitPlugins has onespine, and no directory of PluginDir has "
	       "job_submit_onespine.so: slurmctld will not start | have PluginDir name /o, where "
	       "Onespine is installed");
	make_host(&host); /* Slurm's own first */
	host.folders[0] = host.folders[2];
	host.folders[2] = (struct osp_plugin_folder){.path = SHADOW, .exists = true};
	host.folders[2].select = plugin_of(OSP_PLUGIN_OURS, V22);
	expect(&host,
	       "PluginDir=" SLURM ":" PLUGINS ":" SHADOW "/\nSelectType=select/cons_tres\n"
	       "JobSubmitPlugins=onespine\n",
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | /e/slurm.conf:1: "
	       "PluginDir=/o/slurmctld:/o:/usr/lib/slurm instead of "
	       "/usr/lib/slurm:/o:/o/slurmctld/");
	make_host(&host); /* a node: the folders must be there, the shadow need not */
	host.facts.controller = false;
	host.folders[0].select.state = OSP_PLUGIN_ABSENT;
	expect(&host, RIGHT, "");
	host.folders[1].exists = false;
	expect(&host, RIGHT,
	       "wrong folders: PluginDir names /o, which is not on this host: no command and no "
	       "daemon "
	       "of Slurm works here | install Onespine here, or take the directory out of "
	       "PluginDir");
	host.facts.folders = &host.folders[2];
	host.facts.folder_count = 1;
	expect(&host, "SelectType=select/cons_tres\nJobSubmitPlugins=onespine\n",
	       "wrong plugin-dir: PluginDir does not name Onespine's folders: the file differs "
	       "from "
	       "slurmctld's | /e/slurm.conf: PluginDir=/o/slurmctld:/o:/usr/lib/slurm");
}

static void test_versions(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.folders[2].select.version = 0x160509;
	expect(&host, RIGHT,
	       "wrong shadow-version: /o/slurmctld/select_cons_tres.so was built for Slurm "
	       "22.05.8, and "
	       "Slurm 22.05.9 is installed, which passes it over | install Onespine built for "
	       "exactly "
	       "Slurm 22.05.9\n"
	       "wrong shadow-version: /o/job_submit_onespine.so was built for Slurm 22.05.8, and "
	       "Slurm "
	       "22.05.9 is installed, which passes it over | install Onespine built for exactly "
	       "Slurm "
	       "22.05.9");
	host.facts.holds_gangs = true;
	expect(&host, RIGHT "Licenses=tool:2,onespine:1\n",
	       "wrong shadow-version: /o/slurmctld/select_cons_tres.so was built for Slurm "
	       "22.05.8, and Slurm 22.05.9 is installed: gangs wait for license onespine, and "
	       "other jobs run as without Onespine | install Onespine built for exactly Slurm "
	       "22.05.9, and start slurmctld again\n"
	       "wrong shadow-version: /o/job_submit_onespine.so was built for Slurm 22.05.8, and "
	       "Slurm 22.05.9 is installed: gangs wait for license onespine, and other jobs run as "
	       "without Onespine | install Onespine built for exactly Slurm 22.05.9, and start "
	       "slurmctld again");
	host.folders[2].select.version = V22;
	expect(&host, RIGHT "Licenses=tool:2\n",
	       "warning without-match: slurm.conf has no license onespine: when Slurm is updated "
	       "before Onespine, slurmctld does not start | /e/slurm.conf:4: "
	       "Licenses=tool:2,onespine:1 instead of tool:2");
	expect(&host, RIGHT "Licenses=onespine:4,tool:2\n",
	       "warning without-match: slurm.conf does not offer one license onespine, so it holds "
	       "no gang: when Slurm is updated before Onespine, slurmctld does not start | "
	       "/e/slurm.conf:4: Licenses=tool:2,onespine:1 instead of onespine:4,tool:2");
	host.facts.running.probe = OSP_PROBE_OURS;
	host.facts.running.gang_licenses = "onespine:1";
	expect(&host, RIGHT "Licenses=onespine:1\n",
	       "wrong without-match: slurmctld offers onespine:1 of licenses, so every gang waits: "
	       "its records are not as in the headers of the shadow's build (its log names the "
	       "difference), or it was started before that build was installed | build Onespine "
	       "with the source that this Slurm was built from, its patches included, and start "
	       "slurmctld again");
	host.facts.running.gang_licenses = "onespine:1000000";
	expect(&host, RIGHT "Licenses=onespine:1\n", "");
	host.facts.running.gang_licenses = NULL;
	host.facts.running.probe = OSP_PROBE_UNKNOWN;
	host.folders[2].select.version = 0x190b08; /* another release */
	host.folders[0].select.version = host.folders[1].job_submit.version = V22;
	host.facts.before_start = true;
	expect(&host, RIGHT "Licenses=onespine:1\n",
	       "wrong shadow-version: /o/slurmctld/select_cons_tres.so was built for Slurm "
	       "22.05.8, and Slurm 25.11.8 is installed, which passes it over | install Onespine "
	       "built for exactly Slurm 25.11.8\n"
	       "wrong shadow-version: /o/job_submit_onespine.so was built for Slurm 22.05.8, and "
	       "Slurm 25.11.8 is installed, which passes it over | install Onespine built for "
	       "exactly Slurm 25.11.8");
	make_host(&host);
	host.folders[2].select.version = 0x160509;
	host.folders[0].select_kept = host.folders[1].job_submit_kept = true;
	expect(&host, RIGHT,
	       "wrong shadow-version: /o/slurmctld/select_cons_tres.so was built for Slurm "
	       "22.05.8, and Slurm 22.05.9 is installed, which passes it over | as root run "
	       "onespine doctor --before-start, which puts the kept build for Slurm 22.05.9 in "
	       "place, and start slurmctld\n"
	       "wrong shadow-version: /o/job_submit_onespine.so was built for Slurm 22.05.8, and "
	       "Slurm 22.05.9 is installed, which passes it over | as root run onespine doctor "
	       "--before-start, which puts the kept build for Slurm 22.05.9 in place, and start "
	       "slurmctld");
	make_host(&host);
	host.folders[0].select.state = OSP_PLUGIN_BROKEN;
	expect(&host, RIGHT,
	       "wrong plugin-dir: slurmctld would load /o/slurmctld/select_cons_tres.so, not "
	       "Onespine's "
	       "shadow: gangs would be placed anywhere | /e/slurm.conf:1: "
	       "PluginDir=/o/slurmctld:/o:/usr/lib/slurm instead of "
	       "/o/slurmctld:/o:/usr/lib/slurm\n"
	       "wrong shadow-version: /o/slurmctld/select_cons_tres.so is no plugin that Slurm can "
	       "load "
	       "| install Onespine again");
}

static void test_spank(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.spank.named = false;
	host.facts.spank.file = NULL;
	expect(&host, RIGHT,
	       "wrong spank: /e/plugstack.conf does not name onespine.so: sbatch, salloc and srun "
	       "here "
	       "do not know --gang | /e/plugstack.conf: required /o/onespine.so");
	make_host(&host);
	host.facts.spank.required = false;
	host.facts.spank.plugin.state = OSP_PLUGIN_ABSENT;
	expect(&host, RIGHT,
	       "wrong spank: /e/plugstack.conf:1 names /o/onespine.so, which is not on this host | "
	       "/e/plugstack.conf:1: required /o/onespine.so\n"
	       "warning spank: /e/plugstack.conf:1 says optional: where onespine.so cannot be "
	       "loaded "
	       "--gang is unknown without a word | /e/plugstack.conf:1: required instead of "
	       "optional");
	make_host(&host); /* SPANK compares the release without its last number */
	host.facts.spank.plugin.version = 0x160501;
	expect(&host, RIGHT, "");
	host.facts.spank.plugin.version = V24;
	expect(&host, RIGHT,
	       "wrong spank: /o/onespine.so was built for Slurm 24.11.5, and Slurm 22.05.8 is "
	       "installed, which passes it over | install Onespine built for exactly Slurm "
	       "22.05.8");
}

static void test_files(void **state)
{
	struct osp_error error = {.text = ""};
	struct host host;

	(void)state;
	osp_error_at(&error, "/e/onespine.yaml", 2, 3, "unknown key");
	make_host(&host);
	host.facts.config_error = &error;
	expect(&host, RIGHT,
	       "wrong config: onespine.yaml is refused: /e/onespine.yaml:2:3: unknown key | put it "
	       "right; onespine config check reads it again");
	host.facts.controller = false;
	expect(&host, RIGHT, "");
	make_host(&host);
	host.facts.topology_error = &error;
	expect(&host, RIGHT,
	       "wrong topology: no topology, so no gang starts: /e/onespine.yaml:2:3: unknown key "
	       "| "
	       "onespine topology import --from KIND FILE -o /e/onespine.topology");
	host.facts.copies_hidden = true;
	expect(&host, RIGHT,
	       "wrong topology: the topology is refused, and only root and SlurmUser see whether "
	       "slurmctld has a last good one: /e/onespine.yaml:2:3: unknown key | "
	       "onespine topology import --from KIND FILE -o /e/onespine.topology");
	host.facts.copies_hidden = false;
	host.facts.running.probe = OSP_PROBE_OURS;
	host.facts.topology_copy = "/s/onespine_topology";
	host.facts.config_error = &error;
	host.facts.config_copy = "/s/onespine_config";
	expect(&host, RIGHT,
	       "wrong config: onespine.yaml is refused, and slurmctld goes by the last good one, "
	       "/s/onespine_config: /e/onespine.yaml:2:3: unknown key | put it right; onespine "
	       "config check reads it again\n"
	       "wrong topology: the topology is refused, and slurmctld goes by the last good one, "
	       "/s/onespine_topology: /e/onespine.yaml:2:3: unknown key | "
	       "onespine topology import --from KIND FILE -o /e/onespine.topology");
	make_host(&host);
	host.facts.node_count = 4;
	host.facts.uncovered_count = 1;
	host.facts.uncovered = "n4";
	expect(&host, RIGHT,
	       "warning topology: 1 of 4 nodes of slurm.conf is not in the topology, and no gang "
	       "gets it: n4 | onespine topology import again, with these nodes, to "
	       "/e/onespine.topology");
	host.facts.node_count = 1;
	expect(&host, RIGHT,
	       "wrong topology: 1 of 1 node of slurm.conf is not in the topology, and no gang "
	       "gets it: n4 | onespine topology import again, with these nodes, to "
	       "/e/onespine.topology");
	make_host(&host);
	host.trusted[0] = (struct osp_trusted_file){"/e/onespine.yaml", true, false};
	host.facts.trusted = host.trusted;
	host.facts.trusted_count = 1;
	expect(&host, RIGHT,
	       "wrong trusted: /e/onespine.yaml can be written by others than root and SlurmUser, "
	       "so slurmctld does not obey it | chown root /e/onespine.yaml && chmod go-w "
	       "/e/onespine.yaml && scontrol reconfigure");
	/* slurmctld's log would say the same */
	host.facts.running.probe = OSP_PROBE_OURS;
	host.facts.config_copy = "/s/onespine_config";
	expect(&host, RIGHT,
	       "wrong trusted: /e/onespine.yaml can be written by others than root and SlurmUser, "
	       "so slurmctld does not obey it | chown root /e/onespine.yaml && chmod go-w "
	       "/e/onespine.yaml && scontrol reconfigure\n"
	       "wrong obeyed: slurmctld has not taken /e/onespine.yaml as it is now: it obeys "
	       "what it keeps in /s/onespine_config | chown and chmod it as above, then scontrol "
	       "reconfigure");
	make_host(&host);
	host.trusted[0] = (struct osp_trusted_file){"/o/onespine.so", true, false};
	host.facts.trusted = host.trusted;
	host.facts.trusted_count = 1;
	expect(&host, RIGHT,
	       "wrong trusted: /o/onespine.so can be written by others than root and SlurmUser, "
	       "who obey it | chown root /o/onespine.so && chmod go-w /o/onespine.so");
}

/* Includes of slurm.conf by name, for read_included(). */
static char *read_included(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	const char *text = strcmp(path, "/e/slurm.conf") == 0 ? context
			   : strstr(path, "gate")	      ? "Prolog=/p\nEpilog=/p\n"
							      : RIGHT;

	(void)error;
	*bytes = strlen(text);
	return strdup(text);
}

static uint32_t count_with_include(const char *text, bool spank_included)
{
	struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
	struct osp_slurm_conf *conf =
		osp_slurm_conf_read("/e/slurm.conf", read_included, (void *)text, NULL);
	struct host host;
	uint32_t count = 0;

	make_host(&host);
	host.facts.conf = conf;
	host.facts.slurm = 0x170b00; /* for older ones: test_sent_includes() */
	host.facts.spank.included = spank_included;
	assert_int_equal(osp_doctor_judge(&host.facts, &findings), 0);
	for (uint32_t i = 0; i < findings.count; i++)
		count += strcmp(findings.items[i].name, "configless") == 0;
	assert_int_equal(count, findings.count);
	osp_doctor_findings_free(&findings);
	osp_slurm_conf_free(conf);
	return count;
}

static void test_configless(void **state)
{
	(void)state;
	assert_int_equal(count_with_include("include sub/a.conf\n", true), 0);
	assert_int_equal(count_with_include(
				 "SlurmctldParameters=enable_configless\ninclude a.conf\n", false),
			 0);
	assert_int_equal(count_with_include("SlurmctldParameters=x,enable_configless\n"
					    "include sub/a.conf\n",
					    false),
			 2); /* PluginDir, JobSubmitPlugins */
	assert_int_equal(count_with_include("SlurmctldParameters=x,enable_configless\n" RIGHT
					    "include sub/gate.conf\n",
					    false),
			 2); /* Prolog, Epilog */
	assert_int_equal(
		count_with_include("SlurmctldParameters=enable_configless\ninclude a.conf\n", true),
		1);
}

static void test_sent_includes(void **state)
{
	static const struct {
		const char *conf;
		uint32_t slurm;
		bool controller;
		uint32_t findings;
	} cases[] = {
		{"SlurmctldParameters=enable_configless\ninclude a.conf\n", V22, true, 1},
		{"SlurmctldParameters=enable_configless\ninclude a.conf\n", V22, false, 0},
		{"SlurmctldParameters=enable_configless\ninclude a.conf\n", 0x170b00, true, 0},
		{"SlurmctldParameters=enable_configless\n", V22, true, 0},
		{"include a.conf\n", V22, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
		struct osp_slurm_conf *conf = osp_slurm_conf_read("/e/slurm.conf", read_included,
								  (void *)cases[i].conf, NULL);
		struct host host;
		uint32_t found = 0;

		make_host(&host);
		host.facts.conf = conf;
		host.facts.slurm = cases[i].slurm;
		host.facts.controller = cases[i].controller;
		assert_int_equal(osp_doctor_judge(&host.facts, &findings), 0);
		for (uint32_t n = 0; n < findings.count; n++) {
			if (strcmp(findings.items[n].name, "configless") != 0)
				continue;
			found++;
			assert_string_equal(findings.items[n].sentence,
					    "on Slurm 22.05.8, Slurm's commands on a configless "
					    "host without a slurmd and a sackd end with an error "
					    "as long as slurm.conf includes a file (/e/a.conf)");
			assert_string_equal(findings.items[n].cure,
					    "/e/slurm.conf:2: on such hosts run a slurmd, or copy "
					    "Slurm's files there; Slurm 23.11 and later have no "
					    "such fault");
		}
		assert_int_equal(found, cases[i].findings);
		osp_doctor_findings_free(&findings);
		osp_slurm_conf_free(conf);
	}
}

static void test_sent_config(void **state)
{
	static const char conf[] = RIGHT "SlurmctldParameters=enable_configless\n";
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.controller = true;
	expect(&host, conf, "");
	host.facts.config_exists = true;
	expect(&host, conf,
	       "warning configless: configless nodes do not get /e/onespine.yaml as it is now: "
	       "slurmctld sends what slurm.conf includes, and slurm-onespine.conf does not hold it "
	       "| onespine setup --head, then scontrol reconfigure");
	host.facts.config_sent = true;
	expect(&host, conf, "");
	host.facts.config_sent = false;
	expect(&host, RIGHT, "");
	host.facts.controller = false;
	expect(&host, conf, "");
}

static void test_reach(void **state)
{
	static const struct osp_unread_file unread[] = {
		{"/e/onespine.topology", "slurm"},
		{"/e/plugstack.conf", NULL},
	};
	struct osp_error error = {.text = ""};
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.unread = unread;
	host.facts.unread_count = 2;
	expect(&host, RIGHT,
	       "wrong readable: slurmctld, which runs as slurm, cannot read "
	       "/e/onespine.topology | chmod a+r /e/onespine.topology, and a+x for the folders "
	       "that it is in\n"
	       "wrong readable: users cannot read /e/plugstack.conf: their sbatch, salloc and srun "
	       "fail, or do not know --gang | chmod a+r /e/plugstack.conf, and a+x for the folders "
	       "that it is in");
	make_host(&host);
	host.facts.node_part_error = "libhwloc.so.15: no such file";
	osp_error_at(&error, "/s/rules.d/a.yaml", 2, 3, "unknown key");
	host.facts.rules_error = &error;
	expect(&host, RIGHT,
	       "wrong node-part: steps on this host get no environment and no binding: "
	       "libhwloc.so.15: no such file | install what is missing, or Onespine again\n"
	       "wrong rules: rules and node types are refused, so no job gets our settings: "
	       "/s/rules.d/a.yaml:2:3: unknown key | put it right; onespine env reads it again");
}

static void test_obeyed(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.config_copy = "/s/onespine_config";
	host.facts.topology_copy = "/s/onespine_topology";
	expect(&host, RIGHT, ""); /* nobody obeys what is kept there */
	host.facts.running.probe = OSP_PROBE_OURS;
	expect(&host, RIGHT,
	       "wrong obeyed: slurmctld has not taken /e/onespine.yaml as it is now: it obeys "
	       "what it keeps in /s/onespine_config | scontrol reconfigure; its log says why where "
	       "that does not help\n"
	       "wrong obeyed: slurmctld has not taken /e/onespine.topology as it is now: it obeys "
	       "what it keeps in /s/onespine_topology | scontrol reconfigure; its log says why "
	       "where that does not help");
	host.facts.controller = false;
	expect(&host, RIGHT, "");
}

static void test_confined(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	expect(&host, RIGHT, "");
	host.facts.binds = true;
	expect(&host, RIGHT,
	       "warning confined: TaskPlugin is task/none: a job that shares a node is not bound, "
	       "as nothing says which cores are its own | /e/slurm.conf: "
	       "TaskPlugin=task/affinity,task/cgroup");
	expect(&host, RIGHT "TaskPlugin=affinity\n", "");
	expect(&host, RIGHT "TaskPlugin=task/cgroup\n",
	       "warning confined: TaskPlugin is task/cgroup, and cgroup.conf has no "
	       "ConstrainCores=yes: a job that shares a node is not bound, as nothing says which "
	       "cores are its own | /e/slurm.conf:4: TaskPlugin=task/affinity,task/cgroup instead "
	       "of task/cgroup");
	host.facts.cores_confined = true;
	expect(&host, RIGHT "TaskPlugin=task/cgroup\n", "");
}

static void test_reports(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.topology_path = "/e/onespine.topology";
	host.facts.running.unreported = "n[3,13]";
	host.facts.running.crossing =
		"what nodes report makes no level nvlink: block a.1 is in l1 and in l2";
	expect(&host, RIGHT, ""); /* nobody hears them */
	host.facts.report_port = 6830;
	host.facts.running.crossing = NULL;
	expect(&host, RIGHT,
	       "warning places: nodes that run have not reported their NVLink domain since they "
	       "booted: n[3,13] | systemctl enable --now onespine-report on these nodes; there "
	       "`onespine-gate report` says why it fails");
	host.facts.running.unreported = NULL;
	host.facts.running.crossing =
		"what nodes report makes no level nvlink: block a.1 is in l1 and in l2";
	expect(&host, RIGHT,
	       "warning places: what nodes report makes no level nvlink: block a.1 is in l1 and in "
	       "l2 | compare /e/onespine.topology.reports with the switches of "
	       "/e/onespine.topology: one of them is wrong, or NVLink domains are larger than "
	       "leaves");
	host.facts.running.crossing = NULL;
	host.facts.report_key_file = "/r";
	expect(&host, RIGHT, "");
	host.facts.report_key_wrong = "/r: No such file or directory";
	host.facts.report_key_missing = true;
	host.facts.controller = false;
	expect(&host, RIGHT, ""); /* of those who log in */
	host.facts.node = true;
	expect(&host, RIGHT,
	       "warning report-key: /r: No such file or directory: the watch hears no report of "
	       "what "
	       "a node knows of its place | onespine gate key new --key-file=/r on one host, then "
	       "copy it to all nodes and slurmctld's hosts");
	host.facts.report_key_wrong = "/r: others may read or write it";
	host.facts.report_key_missing = false;
	expect(&host, RIGHT,
	       "warning report-key: /r: others may read or write it: the watch hears no report of "
	       "what "
	       "a node knows of its place | remove it, then onespine gate key new --key-file=/r on "
	       "one host, then copy it to all nodes and slurmctld's hosts");
}

static void test_old_places(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.topology_path = "/e/onespine.topology";
	host.facts.running.old_places = "n[3,13]";
	expect(&host, RIGHT,
	       "warning places: no gang gets nodes that have booted since their places were asked "
	       "for: n[3,13] | onespine topology discover --from ec2 -o /e/onespine.topology; "
	       "onespine-topology-watch.service does so by itself");
	host.facts.running.old_places = NULL;
	host.facts.now_s = 1700003600;
	host.facts.watch_interval_s = 300;
	host.facts.watch_enabled = true;
	host.facts.asked_s = 1700003600 - 900;
	expect(&host, RIGHT, "");
	host.facts.asked_s = 1700000000;
	host.facts.watch_enabled = false; /* a site that asks by hand */
	expect(&host, RIGHT, "");
	host.facts.asked_s = 1700003600;
	host.facts.kept = "n[1-2]";
	host.facts.kept_s = 1700003600 - 900;
	expect(&host, RIGHT, "");
	host.facts.kept_s = 1700003600 - 1800;
	expect(&host, RIGHT,
	       "warning places: the places of n[1-2] are up to 30 minutes old: the cloud's calls "
	       "about them have failed since | systemctl status onespine-topology-watch says why");
	host.facts.kept = NULL;
	host.facts.asked_s = 1700000000;
	host.facts.watch_enabled = true;
	host.facts.held_s = 1700003600 - 600;
	expect(&host, RIGHT,
	       "warning places: an answer that takes places away or moves nodes has been held for "
	       "10 minutes: until it is accepted, a node that starts gets no place from its source "
	       "| onespine topology show /e/onespine.topology.held, and onespine topology accept\n"
	       "warning places: the cloud last answered 60 minutes ago where nodes are: one that "
	       "has started since has no place | systemctl status onespine-topology-watch says "
	       "why; onespine topology discover asks once");
}

static void test_clustermgtd(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.gate = (struct osp_doctor_gate){.on = true,
						   .budget_s = 60,
						   .prolog = OSP_GATE_CALLED,
						   .epilog = OSP_GATE_CALLED,
						   .quarantine_h = 72,
						   .evidence_local = true};
	host.facts.dynamic_node = "gpu-dy-p5-[1-4]";
	host.facts.recheck_enabled = true;
	expect(&host, GOOD, "");
	host.facts.gate.quarantine = 2;
	expect(&host, GOOD,
	       "warning clustermgtd: /e/onespine.yaml has gate: quarantine, which does nothing "
	       "here: "
	       "nobody ends drained nodes | leave it out; a node that failed is drained, and stays "
	       "so");
	host.facts.ends_drained = true;
	host.facts.gate.history_shared = true;
	expect(&host, GOOD,
	       "warning clustermgtd: clustermgtd ends the instance of a drained node, and its "
	       "evidence goes with it | set gate: evidence and history: shared in /e/onespine.yaml "
	       "to folders of root's that all nodes mount\n"
	       "warning clustermgtd: a dynamic node in quarantine, like gpu-dy-p5-[1-4], is "
	       "powered "
	       "down after SuspendTime | Slurm can except reserved nodes from 23.02 on; before, "
	       "only "
	       "static nodes stay in quarantine");
	host.facts.gate.evidence_local = false;
	host.facts.slurm = V25;
	expect(&host, GOOD "SuspendExcStates=DOWN,RESERVED\n", "");
	host.facts.dynamic_node = NULL;
	host.facts.recheck_enabled = false;
	expect(&host, GOOD,
	       "warning clustermgtd: nodes stay in quarantine after their 72 hours: "
	       "onespine-recheck.timer, which lets them go, is not enabled | systemctl enable "
	       "--now "
	       "onespine-recheck.timer");
	host.facts.gate.quarantine = 0; /* what an earlier policy left */
	host.facts.running.quarantined = "gpu-st-p5-[1-2]";
	expect(&host, GOOD,
	       "warning clustermgtd: nodes stay in quarantine after their 72 hours, now "
	       "gpu-st-p5-[1-2]: onespine-recheck.timer, which lets them go, is not enabled | "
	       "systemctl enable --now onespine-recheck.timer");
	host.facts.recheck_enabled = true;
	expect(&host, GOOD, "");
	host.facts.running.quarantined = NULL;
	host.facts.gate.history_shared = false;
	expect(&host, GOOD,
	       "warning clustermgtd: clustermgtd ends the instance of a drained node, and its "
	       "history goes with it | set gate: evidence and history: shared in /e/onespine.yaml "
	       "to folders of root's that all nodes mount\n"
	       "warning clustermgtd: onespine-recheck.timer has nothing to do: clustermgtd ends "
	       "the "
	       "instance of a drained node before it could be checked again | systemctl disable "
	       "--now onespine-recheck.timer");
}

static void test_block_ends(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.running.block_ends = "onespine-ends-cr-0a";
	expect(&host, RIGHT,
	       "warning places: watch.block_ends is off, and nobody moves or deletes what it left, "
	       "after the start of which no job runs on its nodes: reservation "
	       "onespine-ends-cr-0a | systemctl restart onespine-topology-watch, or scontrol "
	       "delete reservation=..");
	host.facts.reserves_block_ends = true;
	expect(&host, RIGHT, "");
	host.facts.running.block_partition = "gpu";
	expect(&host, RIGHT,
	       "warning places: block_ends: reserve, and a job of partition gpu that names no time "
	       "limit has none: it starts on none of the partition's nodes in Capacity Blocks | "
	       "DefaultTime or MaxTime for partition gpu in slurm.conf");
	host.facts.controller = false;
	expect(&host, RIGHT, "");
}

static void test_launch_left(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.running.launch_left = "onespine_launch_7,onespine_launch_9";
	expect(&host, RIGHT,
	       "warning places: nodes are kept for a gang's next start, but it was cancelled or "
	       "changed, or slurmctld was killed, and no gang waits with them: reservation "
	       "onespine_launch_7,onespine_launch_9 | "
	       "scontrol delete reservation=..; onespine-topology-watch.service does so by itself");
	host.facts.controller = false;
	expect(&host, RIGHT, "");
}

static void test_asleep(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.asleep = "d[1-4]";
	host.facts.asleep_partition = "gpu";
	expect(&host, RIGHT,
	       "warning asleep: every larger job of partition gpu is a gang (gang: always), and "
	       "these nodes have no place while they are powered down: no gang gets them then, and "
	       "none wakes them: d[1-4] | /e/onespine.yaml: unlaunched: launch for that partition, "
	       "or keep them running");
	host.facts.controller = false;
	expect(&host, RIGHT, "");
}

static void test_launch_groups(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.fleet_groups = "cr-0a=q-dy-p5-[1-2] cr-0b=q-dy-p5-3";
	expect(&host, RIGHT, ""); /* nobody launches nodes for gangs */
	host.facts.launches = true;
	expect(&host, RIGHT,
	       "warning places: gangs are not placed by the capacity reservations of their nodes "
	       "before these run: ParallelCluster launches q-dy-p5-1 into cr-0a, and "
	       "watch.launch_groups has it in none | /e/onespine.yaml: watch: {launch_groups: "
	       "\"cr-0a=q-dy-p5-[1-2] cr-0b=q-dy-p5-3\"}");
	host.facts.launch_groups = "cr-0c=q-dy-p5-4 cr-0a=q-dy-p5-[1-2] cr-0d=q-dy-p5-3";
	expect(&host, RIGHT,
	       "warning places: gangs are not placed by the capacity reservations of their nodes "
	       "before these run: ParallelCluster launches q-dy-p5-3 into cr-0b, and "
	       "watch.launch_groups has it in cr-0d | /e/onespine.yaml: watch: {launch_groups: "
	       "\"cr-0a=q-dy-p5-[1-2] cr-0b=q-dy-p5-3\"}");
	host.facts.launch_groups = "cr-0b=q-dy-p5-3 cr-0a=q-dy-p5-[1-2]";
	expect(&host, RIGHT, "");
	host.facts.launch_groups = "cr-0b=q-dy-p5-[3,7] cr-0a=q-dy-p5-[1-2]";
	expect(&host, RIGHT,
	       "warning places: gangs are not placed by the capacity reservations of their nodes "
	       "before these run: ParallelCluster launches q-dy-p5-7 into none, and "
	       "watch.launch_groups has it in cr-0b | /e/onespine.yaml: watch: {launch_groups: "
	       "\"cr-0a=q-dy-p5-[1-2] cr-0b=q-dy-p5-3\"}");
	host.facts.fleet_several = true; /* it may be in one of these */
	expect(&host, RIGHT, "");
	host.facts.fleet_several = false;
	host.facts.fleet_groups = "";
	expect(&host, RIGHT,
	       "warning places: gangs are not placed by the capacity reservations of their nodes "
	       "before these run: ParallelCluster launches q-dy-p5-3 into none, and "
	       "watch.launch_groups has it in cr-0b | /e/onespine.yaml: watch: {launch_groups: "
	       "off}");
	host.facts.launch_groups = NULL;
	expect(&host, RIGHT, "");
	host.facts.fleet_groups = NULL;
	host.facts.fleet_unclear = "it has too many";
	expect(&host, RIGHT,
	       "warning places: gangs are not placed by the capacity reservations of their nodes "
	       "before these run, and ParallelCluster's cannot be taken over: it has too many | "
	       "/e/onespine.yaml: watch: {launch_groups: \"cr-..=NODES ..\"}");
	host.facts.launch_groups = "cr-0b=q-dy-p5-3"; /* by hand */
	expect(&host, RIGHT, "");
	host.facts.fleet_unclear = NULL;
	host.facts.launch_groups = NULL;
	host.facts.fleet_groups = NULL; /* no ParallelCluster */
	expect(&host, RIGHT, "");
}

static void test_rechecks_left(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.running.trials = "n[3,13]";
	host.facts.rechecks_left = 1;
	expect(&host, RIGHT,
	       "wrong recheck: slurmctld has reservations of rechecks that have ended, and no job "
	       "gets "
	       "these nodes: n[3,13] | onespine recheck takes them over, and checks the nodes "
	       "anew\n"
	       "wrong recheck: a recheck that was killed has left 1 node inside reservations of "
	       "root's "
	       "| onespine recheck takes over what is left");
}

static void test_gpu_start(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.late_gpus = "gpu0, gpu3";
	expect(&host, RIGHT,
	       "warning gpu-start: gpu0, gpu3 did not start within the time of a check, three "
	       "times or more since this host booted | start nvidia-persistenced at boot, or "
	       "nvidia-smi -pm 1, so that the driver keeps the GPUs awake; if persistence is on, "
	       "reboot");
}

static void test_topology_yaml(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.topology_yaml = true;
	expect(&host, RIGHT "TopologyParam=SwitchAsNodeRank\n",
	       "warning node-rank: TopologyParam=SwitchAsNodeRank orders a job's ranks by "
	       "topology.yaml: they follow onespine.topology only while both files say the same | "
	       "make topology.yaml from our file: onespine topology import --from onespine --to "
	       "topology.yaml");
}

static void test_backup_and_running(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.state_location_kind = "ext4";
	expect(&host, RIGHT "SlurmctldHost=a\n", "");
	expect(&host, RIGHT "SlurmctldHost=a\nSlurmctldHost=b\nStateSaveLocation=/s\n",
	       "warning backup: there is a backup slurmctld, and StateSaveLocation (/s) is on "
	       "ext4, "
	       "which other hosts do not see: what it takes over then lacks jobs and the last good "
	       "topology | put StateSaveLocation where every SlurmctldHost sees it; onespine.yaml "
	       "and "
	       "onespine.topology beside slurm.conf on each of them");
	/* with one that both see, the watch's answers are to lie there too */
	host.facts.state_location_kind = NULL;
	host.facts.topology_location_kind = "ext4";
	expect(&host, RIGHT "SlurmctldHost=a\nSlurmctldHost=b\nStateSaveLocation=/s\n", "");
	host.facts.watch_enabled = true;
	expect(&host, RIGHT "SlurmctldHost=a\n", "");
	expect(&host, RIGHT "SlurmctldHost=a\nSlurmctldHost=b\nStateSaveLocation=/s\n",
	       "warning backup: there is a backup slurmctld, and what onespine-topology-watch "
	       "writes (/e/onespine.topology) is on ext4, which other hosts do not see: "
	       "the "
	       "one that takes over goes by old places | /e/onespine.yaml: topology: "
	       "/s/onespine.topology, and the watch as SlurmUser (doc/topology.md, With a backup "
	       "slurmctld)");
	make_host(&host);
	host.facts.running = (struct osp_running){.asked = OSP_NO_ANSWER, .why = "refused"};
	expect(&host, RIGHT,
	       "warning running: slurmctld does not answer: refused | start slurmctld, then ask "
	       "again");
	host.facts.running = (struct osp_running){
		.asked = OSP_ANSWERED,
		.plugin_dir = SLURM,
		.select_type = "select/cons_tres",
		.job_submit = "onespine",
		.probe = OSP_PROBE_STOCK,
	};
	expect(&host, RIGHT,
	       "wrong running: slurmctld runs with PluginDir=/usr/lib/slurm, and the file says "
	       "/o/slurmctld:/o:/usr/lib/slurm | restart slurmctld (a reconfigure does not do for "
	       "this)\n"
	       "wrong running: the slurmctld that runs takes no notice of a gang: jobs are placed "
	       "anywhere | restart slurmctld; when its log says why it does not start, follow "
	       "that");
}

/* The same host with a gate. */
static void make_gate(struct host *host)
{
	make_host(host);
	host->facts.gate = (struct osp_doctor_gate){.on = true,
						    .budget_s = 60,
						    .spares_max = 2,
						    .prolog = OSP_GATE_CALLED,
						    .epilog = OSP_GATE_CALLED};
	host->facts.munge_looked_at = host->facts.munge_answers = true;
}

static void test_gate(void **state)
{
	struct host host;

	(void)state;
	make_gate(&host);
	expect(&host, GOOD, "");
	host.facts.gate.program = "/l/onespine-gate";
	host.facts.gate.prolog = OSP_GATE_CALLED_FORMERLY;
	expect(&host, GOOD,
	       "warning prolog: Prolog runs the gate as 'onespine gate prolog', which release 0.4 "
	       "no "
	       "longer has | write /l/onespine-gate prolog instead");
	host.facts.gate.prolog = OSP_GATE_CALLED;
	expect(&host, RIGHT,
	       "wrong prolog-flags: PrologFlags lacks Alloc: nodes are checked when the first task "
	       "comes "
	       "to them, not at the start | /e/slurm.conf: PrologFlags=Alloc,DeferBatch\n"
	       "wrong prolog-time: BatchStartTimeout (10 s) and MessageTimeout (10 s) together are "
	       "no "
	       "longer than the gate's budget (60 s) and 8 s more: slurmctld would take a job that "
	       "is being checked "
	       "for lost | /e/slurm.conf: BatchStartTimeout=120\n"
	       "warning prolog-hold: SchedulerParameters lacks nohold_on_prolog_fail: where a "
	       "Prolog "
	       "fails all the same (slurmd killed, disk full) the job is held for ever | "
	       "/e/slurm.conf: "
	       "SchedulerParameters=nohold_on_prolog_fail\n"
	       "warning requeue-delay: a job that the gate puts back starts again only after "
	       "cred_expire "
	       "(120 s) and a second | /e/slurm.conf: AuthInfo=cred_expire=70");
	expect(&host,
	       RIGHT
	       "PrologFlags=Alloc,X11,RunInJob\nBatchStartTimeout=50\nMessageTimeout=600\n"
	       "PrologEpilogTimeout=68\nAuthInfo=socket=/m\n"
	       "SchedulerParameters=nohold_on_prolog_fail,disable_job_shrink,requeue_delay=5\n"
	       "SlurmctldParameters=enable_stepmgr\n",
	       "wrong prolog-flags: PrologFlags lacks DeferBatch: a batch script starts while "
	       "other "
	       "nodes are still being checked | /e/slurm.conf:4: "
	       "PrologFlags=Alloc,X11,RunInJob,DeferBatch "
	       "instead of Alloc,X11,RunInJob\n"
	       "wrong prolog-flags: PrologFlags has RunInJob: checks would run inside the job's "
	       "own "
	       "cgroup | take RunInJob out of PrologFlags\n"
	       "wrong prolog-time: PrologEpilogTimeout (68 s) ends a Prolog within the gate's "
	       "budget (60 "
	       "s) and 8 s more, and drains the node for it | /e/slurm.conf:7: "
	       "PrologEpilogTimeout=120 instead "
	       "of "
	       "68\n"
	       "warning requeue-delay: a job that the gate puts back starts again only after "
	       "cred_expire (120 s) and a second | /e/slurm.conf:8: "
	       "AuthInfo=socket=/m,cred_expire=70 instead of socket=/m\n"
	       "wrong spares: SchedulerParameters has disable_job_shrink: spares cannot be "
	       "released | "
	       "take it out, or set gate: spares: 0 in onespine.yaml\n"
	       "wrong spares: SlurmctldParameters has enable_stepmgr: steps would still count the "
	       "spares "
	       "that were released | take it out, or set gate: spares: 0 in onespine.yaml");

	/* before 25.11 requeue_delay does nothing; from there on it goes before cred_expire */
	expect(&host,
	       GATE_LINES "AuthInfo=cred_expire=300\n"
			  "SchedulerParameters=requeue_delay=5,nohold_on_prolog_fail\n",
	       "warning requeue-delay: a job that the gate puts back starts again only after "
	       "cred_expire (300 s) and a second | /e/slurm.conf:6: AuthInfo=cred_expire=70 "
	       "instead "
	       "of cred_expire=300");
	host.facts.slurm = V25;
	host.folders[0].select.version = host.folders[1].job_submit.version = V25;
	host.folders[2].select.version = host.facts.spank.plugin.version = V25;
	expect(&host,
	       GATE_LINES "AuthInfo=cred_expire=300\n"
			  "SchedulerParameters=requeue_delay=5,nohold_on_prolog_fail\n",
	       "");
	expect(&host, GATE_LINES "SchedulerParameters=requeue_delay=300,nohold_on_prolog_fail\n",
	       "warning requeue-delay: a job that the gate puts back starts again only after "
	       "requeue_delay (300 s) and a second | /e/slurm.conf:6: "
	       "SchedulerParameters=nohold_on_prolog_fail,requeue_delay=5 instead of "
	       "requeue_delay=300,nohold_on_prolog_fail");
	expect(&host, GOOD "BatchStartTimeout=59\n", "");
	expect(&host, GOOD "PrologFlags=Alloc,DeferBatch,NoHold,Serial\n",
	       "warning prolog-flags: PrologFlags has NoHold: salloc gives its shell while nodes "
	       "are being checked, with spares still among them | take NoHold out of PrologFlags\n"
	       "warning prolog-flags: PrologFlags has Serial: gangs that share nodes can wait for "
	       "each other's Prolog until the gate's budget is spent | take Serial out of "
	       "PrologFlags");
	host.facts.running = (struct osp_running){.asked = OSP_ANSWERED, .prolog_alloc = true};
	expect(&host, GOOD,
	       "wrong running: slurmctld runs without PrologFlags=DeferBatch, which the file has | "
	       "scontrol reconfigure");
	host.facts.running.asked = OSP_NOT_ASKED;
	host.facts.gate.config_exists = true;
	expect(&host, GOOD,
	       "wrong gate-config: /e/onespine.yaml is not root's alone, so the gate takes its "
	       "defaults "
	       "instead | chown root /e/onespine.yaml && chmod go-w /e/onespine.yaml");
	host.facts.gate.config_roots = true;
	expect(&host, GOOD, "");
	expect(&host, GOOD "BatchStartTimeout=58\n",
	       "wrong prolog-time: BatchStartTimeout (58 s) and MessageTimeout (10 s) together are "
	       "no "
	       "longer than the gate's budget (60 s) and 8 s more: slurmctld would take a job that "
	       "is being checked "
	       "for lost | /e/slurm.conf:8: BatchStartTimeout=120 instead of 58");
	host.facts.gate.prolog = host.facts.gate.epilog = OSP_GATE_NOT_CALLED;
	expect(&host, GOOD "Prolog=/p/*\n",
	       "wrong prolog: no Prolog runs the gate: nodes are not proven before a job | have "
	       "/p/* "
	       "(/e/slurm.conf:8) run /o/prolog too, and end where that fails\n"
	       "wrong prolog: no Epilog runs the gate: what a node suffered in a job is not on "
	       "record | "
	       "/e/slurm.conf: Epilog=/o/epilog");
	host.facts.gate.program = "/l/onespine-gate";
	host.facts.gate.prolog_broken =
		(struct osp_gate_broken){.program = "/x/prolog", .file = "/e/slurm.conf"};
	host.facts.gate.epilog = OSP_GATE_CALLED;
	host.facts.gate.epilog_broken = (struct osp_gate_broken){
		.program = "/x/onespine-gate", .file = "/p/10", .exists = true};
	expect(&host, GOOD "Prolog=/x/prolog\n",
	       "wrong prolog: Prolog runs /x/prolog (/e/slurm.conf), which is not on this host: "
	       "nodes "
	       "are not proven before a job | install it, or have /e/slurm.conf name what is "
	       "there: "
	       "the gate is /l/onespine-gate\n"
	       "wrong prolog: Epilog runs /x/onespine-gate (/p/10), which is not executable: what "
	       "a "
	       "node suffered in a job is not on record | chmod a+x /x/onespine-gate");
	host.facts.gate.prolog_broken = host.facts.gate.epilog_broken =
		(struct osp_gate_broken){.program = NULL};
	host.facts.gate.prolog = host.facts.gate.epilog = OSP_GATE_CALLED;
	host.facts.munge_answers = false;
	host.facts.munge_socket = "/m";
	expect(&host, GOOD,
	       "wrong munge: MUNGE does not answer at /m: the nodes cannot send each other what "
	       "their "
	       "checks found | start munged (systemctl start munge)");
	host.facts.munge_answers = true;
	host.facts.gate_key_file = "/k";
	expect(&host, GOOD, "");
	host.facts.gate_key_wrong = "/k: No such file or directory";
	host.facts.gate_key_missing = true;
	expect(&host, GOOD, ""); /* slurmctld has no use for it */
	host.facts.node = true;
	expect(&host, GOOD,
	       "wrong gate-key: /k: No such file or directory: the nodes cannot send each other "
	       "what their checks found | onespine gate key new --key-file=/k, then copy it to all "
	       "nodes, readable by root alone");
	host.facts.gate_key_wrong = "/k: others may read or write it";
	host.facts.gate_key_missing = false;
	expect(&host, GOOD,
	       "wrong gate-key: /k: others may read or write it: the nodes cannot send each other "
	       "what their checks found | remove it, then onespine gate key new --key-file=/k, "
	       "then copy it to all nodes, readable by root alone");
	host.facts.controller = false;
	expect(&host, GOOD,
	       "wrong gate-key: /k: others may read or write it: the nodes cannot send each other "
	       "what their checks found | copy it from the host of slurmctld or from another "
	       "node, readable by root alone");
	host.facts.node = false; /* of those who log in: others read it here too */
	expect(&host, GOOD,
	       "wrong gate-key: /k: others may read or write it: the nodes cannot send each other "
	       "what their checks found | copy it from the host of slurmctld or from another "
	       "node, readable by root alone");
	host.facts.gate_key_wrong = "/k: Permission denied";
	host.facts.gate_key_hidden = true;
	expect(&host, GOOD,
	       "warning gate-key: only root sees whether the gate can use the keys in /k | run "
	       "onespine doctor as root");
}

static void test_munge_key(void **state)
{
	static const char *const fine[] = {"0.5.18", "0.5.19", "0.6", "1.0.1", "git"};
	struct host host;

	(void)state;
	make_host(&host);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		host.facts.munge_version = fine[i];
		expect(&host, GOOD, "");
	}
	host.facts.munge_outdated = 812;
	expect(&host, GOOD,
	       "wrong munge-key: the munged that runs (process 812) is from before the update of "
	       "its file, and may have CVE-2026-25506: a user of this host reads MUNGE's key | "
	       "systemctl restart munge");
	host.facts.munge_outdated = 0;
	host.facts.munge_version = "0.5.15";
	expect(&host, GOOD,
	       "wrong munge-key: munged 0.5.15 has CVE-2026-25506: a user of this host reads "
	       "MUNGE's key, and is root to Slurm and to the gate | install munge 0.5.18 or your "
	       "distribution's update, then give all hosts a new key: an update does not take back "
	       "one that was read");
	host.facts.munge_fix = "CVE-2026-25506";
	expect(&host, GOOD, "");
	host.facts.munge_fix = "";
	host.facts.munge_version = "0.5.17";
	expect(&host, GOOD,
	       "warning munge-key: munged 0.5.17 may have (its package's changelog is not here) "
	       "CVE-2026-25506: a user of this host reads MUNGE's key, and is root to Slurm and to "
	       "the gate | install munge 0.5.18 or your distribution's update, then give all hosts "
	       "a new key: an update does not take back one that was read");
}

static void test_before_start(void **state)
{
	struct osp_error error = {.text = "x"};
	struct host host;

	(void)state;
	make_host(&host); /* what does not concern the start is not told then */
	host.facts.before_start = true;
	host.facts.spank.named = false;
	host.facts.config_error = host.facts.topology_error = &error;
	host.facts.gate.on = true;
	expect(&host, RIGHT "TopologyParam=SwitchAsNodeRank\n", "");
	host.folders[0].select.state = OSP_PLUGIN_ABSENT;
	expect(&host, RIGHT,
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | /e/slurm.conf:1: "
	       "PluginDir=/o/slurmctld:/o:/usr/lib/slurm instead of "
	       "/o/slurmctld:/o:/usr/lib/slurm");
}

static void test_no_conf(void **state)
{
	struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
	struct host host;

	(void)state;
	make_host(&host);
	osp_error_at(&host.error, "/e/slurm.conf", 3, 1, "Key=Value is expected here");
	host.facts.conf_error = &host.error;
	assert_int_equal(osp_doctor_judge(&host.facts, &findings), 0);
	assert_int_equal(findings.count, 1);
	assert_string_equal(
		findings.items[0].sentence,
		"slurm.conf cannot be read: /e/slurm.conf:3:1: Key=Value is expected here");
	osp_doctor_findings_free(&findings);
}

/* Only what is lacking altogether and wrong stands in the piece, each key once. */
static void test_piece(void **state)
{
	static const struct {
		const char *text;
		bool gate;
		const char *piece;
	} cases[] = {
		{RIGHT, false, ""},
		{"SelectType=select/cons_tres\n", false, OURS_DIR "JobSubmitPlugins=onespine\n"},
		{"PluginDir=" SLURM "\n", false, "JobSubmitPlugins=onespine\n"},
		{RIGHT, true, "PrologFlags=Alloc,DeferBatch\nBatchStartTimeout=120\n"},
		{RIGHT "PrologFlags=X11\nBatchStartTimeout=500\n", true, ""},
		{RIGHT "PrologFlags=Alloc,DeferBatch\nBatchStartTimeout=500\n", true,
		 "Prolog=/o/prolog\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
		struct osp_slurm_conf *conf = osp_slurm_conf_read("/e/slurm.conf", read_text,
								  (void *)cases[i].text, NULL);
		struct host host;
		char *piece;

		make_host(&host);
		if (i == 1 || i == 2) {
			host.facts.folders = &host.folders[2];
			host.facts.folder_count = 1;
		}
		host.facts.gate = (struct osp_doctor_gate){.on = cases[i].gate,
							   .budget_s = 60,
							   .prolog = i == 5 ? OSP_GATE_NOT_CALLED
									    : OSP_GATE_CALLED,
							   .epilog = OSP_GATE_CALLED};
		host.facts.conf = conf;
		assert_int_equal(osp_doctor_judge(&host.facts, &findings), 0);
		piece = osp_doctor_piece(&findings);
		assert_string_equal(piece, cases[i].piece);
		free(piece);
		osp_doctor_findings_free(&findings);
		osp_slurm_conf_free(conf);
	}
}

/* Whose ports below 1024 are: of the gate alone, and only where the kernel has said it. */
static void test_free_ports(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.first_free_port_known = true;
	expect(&host, RIGHT, ""); /* no gate */
	make_gate(&host);
	host.facts.first_free_port_known = true;
	host.facts.first_free_port = 1024;
	expect(&host, GOOD, "");
	host.facts.first_free_port = 80;
	expect(&host, GOOD,
	       "warning ports: net.ipv4.ip_unprivileged_port_start is 80: users can send from "
	       "ports "
	       "below 1024, which the gate takes for root's; a MUNGE credential of root is still "
	       "checked "
	       "before them | sysctl -w net.ipv4.ip_unprivileged_port_start=1024, and in "
	       "/etc/sysctl.d");
	host.facts.first_free_port_known = false;
	expect(&host, GOOD, "");
}

/* Whether users write to the kernel's log: of the gate alone. */
static void test_forged_log(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.users_netfilter_logged = true;
	expect(&host, RIGHT, ""); /* no gate */
	make_gate(&host);
	host.facts.users_netfilter_logged = true;
	expect(&host, GOOD,
	       "warning kernel-log: net.netfilter.nf_log_all_netns is 1: users' netfilter rules, "
	       "in network namespaces of their own, write to the kernel's log; no record that "
	       "looks like theirs counts as an XID, also that of a program which calls itself so "
	       "| sysctl -w net.netfilter.nf_log_all_netns=0, and in /etc/sysctl.d");
	host.facts.users_netfilter_logged = false;
	expect(&host, GOOD, "");
}

/* Where a hang cannot be judged: of the gate alone. */
static void test_hangs(void **state)
{
	struct host host;

	(void)state;
	make_host(&host);
	host.facts.hangs_unknowable = true;
	expect(&host, RIGHT, ""); /* no gate */
	make_gate(&host);
	host.facts.hangs_unknowable = true;
	expect(&host, GOOD,
	       "warning hangs: neither /proc/pressure nor kernel.task_delayacct is there to read: "
	       "a driver that hangs cannot be distinguished from a check that others keep waiting, "
	       "so a hang "
	       "drains no node | boot with psi=1, or sysctl -w kernel.task_delayacct=1, and in "
	       "/etc/sysctl.d");
	host.facts.hangs_unknowable = false;
	expect(&host, GOOD, "");
}

/* Packages: what a site did not install and nothing names is no fault of the host. */
static void test_parts_alone(void **state)
{
	struct host host;
	char *lacking;

	(void)state;
	make_host(&host); /* placement alone: gangs are made by policy */
	host.facts.lacks = OSP_PART_SPANK | OSP_PART_GATE | OSP_PART_ENVIRONMENT;
	host.facts.spank = (struct osp_spank_line){.named = false};
	expect(&host, RIGHT,
	       "warning spank: sbatch, salloc and srun here do not know --gang: only policy makes "
	       "gangs | install the package onespine-spank on this host");
	lacking = osp_doctor_lacking(&host.facts);
	assert_string_equal(lacking, "onespine-spank (sbatch, salloc and srun do not know --gang), "
				     "onespine-gate (nodes are not checked before a job)");
	free(lacking);
	make_host(&host); /* the gate alone, on slurmctld's host and on a node */
	host.facts.lacks = OSP_PART_PLACEMENT | OSP_PART_SPANK | OSP_PART_ENVIRONMENT;
	host.facts.installed = false;
	host.facts.folders = &host.folders[2];
	host.facts.folder_count = 1;
	host.facts.spank = (struct osp_spank_line){.named = false};
	host.facts.running = (struct osp_running){.asked = OSP_ANSWERED, .probe = OSP_PROBE_STOCK};
	host.facts.topology_error = &host.error;
	expect(&host, "SelectType=select/linear\n", "");
	host.facts.controller = false;
	host.facts.node = true;
	expect(&host, "", "");
	lacking = osp_doctor_lacking(&host.facts);
	assert_string_equal(lacking, "onespine-spank (sbatch, salloc and srun do not know --gang), "
				     "onespine-environment (steps get no environment and no "
				     "binding)");
	free(lacking);
	make_host(&host); /* the environment alone: nothing but plugstack.conf names us */
	host.facts.lacks = OSP_PART_PLACEMENT | OSP_PART_GATE;
	host.facts.installed = false;
	host.facts.folders = &host.folders[2];
	host.facts.folder_count = 1;
	expect(&host, "", "");
	host.facts.lacks = 0; /* a build that is not for packages */
	expect(&host, "SelectType=select/cons_tres\n",
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | install Onespine with its "
	       "shadow (configure --with-slurm-source): /o/slurmctld/select_cons_tres.so is not "
	       "there\n"
	       "wrong job-submit: JobSubmitPlugins lacks onespine: no policy holds, and nothing "
	       "stops a slurmctld that cannot enforce | /e/slurm.conf: JobSubmitPlugins=onespine");
}

/* What slurm.conf or plugstack.conf names must be here: the package is named, not its file. */
static void test_part_is_named_but_missing(void **state)
{
	struct host host;
	struct osp_slurm_conf *conf;
	char *lacking;

	(void)state;
	make_host(&host);
	host.facts.lacks = OSP_PART_PLACEMENT | OSP_PART_SPANK | OSP_PART_GATE;
	host.facts.installed = false;
	host.folders[0].select = host.folders[1].job_submit = (struct osp_plugin_file){0};
	host.facts.spank.plugin = plugin_of(OSP_PLUGIN_ABSENT, 0);
	host.facts.gate = (struct osp_doctor_gate){.on = true,
						   .program = "/l/onespine-gate",
						   .prolog = OSP_GATE_CALLED,
						   .epilog = OSP_GATE_CALLED};
	host.facts.gate.prolog_broken =
		(struct osp_gate_broken){"/l/onespine-gate", "/o/prolog", false};
	expect(&host, GOOD,
	       "wrong plugin-dir: slurmctld would load /usr/lib/slurm/select_cons_tres.so, not "
	       "Onespine's shadow: gangs would be placed anywhere | install the package "
	       "onespine-placement on this host\n"
	       "wrong job-submit: JobSubmitPlugins has onespine, and no directory of PluginDir has "
	       "job_submit_onespine.so: slurmctld will not start | install the package "
	       "onespine-placement on this host\n"
	       "wrong spank: /e/plugstack.conf:1 names /o/onespine.so, which is not on this host | "
	       "install the package onespine-spank on this host");
	conf = osp_slurm_conf_read("/e/slurm.conf", read_text, (void *)GOOD, NULL);
	assert_non_null(conf);
	host.facts.conf = conf; /* expect() has freed its own */
	lacking = osp_doctor_lacking(&host.facts);
	assert_string_equal(lacking, "");
	free(lacking);
	osp_slurm_conf_free(conf);
	host.facts.lacks = OSP_PART_PLACEMENT | OSP_PART_GATE; /* a node: the gate, no placement */
	host.facts.spank.plugin = plugin_of(OSP_PLUGIN_OURS, V22);
	host.facts.controller = false;
	host.facts.node = true;
	expect(&host, GOOD,
	       "wrong prolog: Prolog runs /l/onespine-gate (/o/prolog), which is not on this host: "
	       "nodes are not proven before a job | install the package onespine-gate on this "
	       "host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_left),
		cmocka_unit_test(test_parts_alone),
		cmocka_unit_test(test_part_is_named_but_missing),
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_forged_log),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_plugin_dir),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_spank),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_configless),
		cmocka_unit_test(test_sent_includes),
		cmocka_unit_test(test_sent_config),
		cmocka_unit_test(test_topology_yaml),
		cmocka_unit_test(test_backup_and_running),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_munge_key),
		cmocka_unit_test(test_before_start),
		cmocka_unit_test(test_no_conf),
		cmocka_unit_test(test_piece),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_obeyed),
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_free_ports),
		cmocka_unit_test(test_old_places),
		cmocka_unit_test(test_block_ends),
		cmocka_unit_test(test_clustermgtd),
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_launch_groups),
		cmocka_unit_test(test_rechecks_left),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_gpu_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
