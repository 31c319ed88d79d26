/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Job scripts: which settings are seen, where, and what is found against them. */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/env/env_lint.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* All settings in words: "2:8 A=b; 3:1 C=$D?; 4:1 E=f:$E?+". */
static char *settings_of(const char *text, size_t bytes)
{
	struct osp_script *script = osp_script_read("s", text, bytes, NULL);
	struct osp_text words = OSP_TEXT_INIT;

	assert_non_null(script);
	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *one = osp_script_at(script, i);

		osp_text_printf(&words, "%s%d:%d %s=%s%s%s", i ? "; " : "", one->line, one->column,
				one->name, one->value, one->unexpanded ? "?" : "",
				one->extends ? "+" : "");
	}
	osp_script_free(script);
	return osp_text_take(&words);
}

static void settings_are_seen(void **state)
{
	static const struct {
		const char *text;
		const char *settings;
	} cases[] = {
		{"export A=b", "1:8 A=b"},
		{"export A=b C=d\n", "1:8 A=b; 1:12 C=d"},
		{"A=b", "1:1 A=b"},
		{"A=b B=c cmd D=e\n", "1:1 A=b; 1:5 B=c"},
		{"  A=b cmd\n", "1:3 A=b"},
		{"export A=\"x y\" B='c d' C=e\\ f\n", "1:8 A=x y; 1:16 B=c d; 1:24 C=e f"},
		{"export A=\"$B\" C=${D:-x} E=$(cmd a b) F=`cmd`\n",
		 "1:8 A=$B?; 1:15 C=${D:-x}?; 1:25 E=$(cmd a b)?; 1:38 F=`cmd`?"},
		{"export A='$B'\n", "1:8 A=$B"},
		{"export A=\"a\\\"b\"\n", "1:8 A=a\"b"},
		{"export A=1 \\\n  B=2\n", "1:8 A=1; 2:3 B=2"},
		{"# export A=b\n  # A=b\ncmd # A=b\n", ""},
		{"export A=b#c # D=e\n", "1:8 A=b#c"},
		{"declare -x A=b\ntypeset -gx C=d\nreadonly E=f\n", "1:12 A=b; 2:13 C=d; 3:10 E=f"},
		{"setenv A b\n", "1:8 A=b"},
		{"env A=b cmd C=d\n", "1:5 A=b"},
		{"/usr/bin/env -i A=b cmd\n", "1:17 A=b"},
		{"srun env A=b cmd\n", "1:10 A=b"},
		{"if true; then export A=b; else C=d cmd; fi\n", "1:22 A=b; 1:32 C=d"},
		{"cmd && A=b cmd2 || C=d cmd3 | E=f cmd4 &\nG=h\n",
		 "1:8 A=b; 1:20 C=d; 1:31 E=f; 2:1 G=h"},
		{"f() { export A=b; }\n", "1:14 A=b"},
		{"case $x in a) A=b;; *) C=d;; esac\n", "1:15 A=b; 1:24 C=d"},
		{"A+=:b\n", "1:1 A=:b?+"},
		{"A+=$B\n", "1:1 A=$B?"},
		/* what adds to a variable's own value, and what is so only where nothing was */
		{"A=b:$A\nA=${A}:b\nA=b${A:+:$A}\n",
		 "1:1 A=b:$A?+; 2:1 A=${A}:b?+; 3:1 A=b${A:+:$A}?+"},
		{"A=b:$AB\nA=$B:$A\nA=`c`$A\nA=$(c)\nA=$A_\nA=$\n",
		 "1:1 A=b:$AB?; 2:1 A=$B:$A?; 3:1 A=`c`$A?; 4:1 A=$(c)?; 5:1 A=$A_?; 6:1 A=$"},
		{"A=${A:-b}\nA=${A-b}\nA=\"${A:=b c}\"\nA=${A:-}\n",
		 "1:1 A=b; 2:1 A=b; 3:1 A=b c; 4:1 A="},
		{"A=${B:-b}\nA=${A:-$B}\nA=${A:-b}c\nA=${A:+b}\nA='${A:-b}'\n",
		 "1:1 A=${B:-b}?; 2:1 A=${A:-$B}?; 3:1 A=${A:-b}c?+; 4:1 A=${A:+b}?+; 5:1 "
		 "A=${A:-b}"},
		{": ${A:=b} \"${C=d}\"\n: ${A:-b} '${A:=b}' ${A} ${:=b} ${A:=$B} :\n",
		 "1:3 A=b; 1:11 C=d"},
		{"cmd ${A:=b}\n", ""},
		{"A=(b c)\nD=e\n", "1:1 A=?; 2:1 D=e"},
		{"export -n A=b\nexport A\n", "1:11 A=b"},
		{"cmd 2>err A=b >out <in\nC=d >out cmd\n", "2:1 C=d"},
		{"A=b>out cmd\n", "1:1 A=b"},
		{"time A=b cmd\n", "1:6 A=b"},
		{"A=\nB=''\n", "1:1 A=; 2:1 B="},
		/* Slurm */
		{"#SBATCH --export=ALL,A=b,C=d\n", "1:9 A=b; 1:9 C=d"},
		{"#SBATCH -N 2 --export=A=b # more\n", "1:14 A=b"},
		{"#SBATCH --export \"A=b c\"\n", "1:9 A=b c"},
		{"#SBATCH --export-file=f --export=A=b\n", "1:25 A=b"},
		{"#SBATCH --export", ""},
		{"#!/bin/sh\n\n# x\n#SBATCH --export=A=b\ncd x\n#SBATCH --export=C=d\n", "4:9 A=b"},
		{"#SBATCH --export='A=b,c',D=e\n", "1:9 A=b,c; 1:9 D=e"},
		{"#SBATCH --export=NONE\n#SBATCH --export-file=A=b\n #SBATCH --export=A=b\n", ""},
		{"srun -N2 --export=ALL,A=b,C=d cmd\n", "1:10 A=b; 1:10 C=d"},
		{"srun --export ALL,A=b cmd\n", "1:15 A=b"},
		{"cmd --export=A=b\n", ""},
		{"S=(--mpi=pmix --export=ALL,A=b)\n", "1:1 S=?; 1:15 A=b"},
		{"declare -a S=(\n  -l --container-image $I\n  --export=ALL,A=b\n)\n",
		 "1:12 S=?; 3:3 A=b"},
		{"S=' -l --export=ALL,A=b'\nO=\"-x A=b\"\n",
		 "1:1 S= -l --export=ALL,A=b; 1:1 A=b; 2:1 O=-x A=b; 2:1 A=b"},
		/* others */
		{"mpirun -np 2 -x A=b -x C cmd\n", "1:17 A=b"},
		{"mpiexec -genv A b -env C d cmd\n", "1:15 A=b; 1:24 C=d"},
		{"docker run -e A=b --env C=d --env=E=f i\n", "1:15 A=b; 1:25 C=d; 1:29 E=f"},
		{"srun bash -c 'export A=b; C=d cmd'\n", "1:14 A=b; 1:14 C=d"},
		{"bash -c \"bash -c 'A=b cmd'\"\n", "1:9 A=b"},
		{"cat >f <<'E'\ncd\n  A=b cmd\nE\ncd\nsrun bash ./f\nC=d cmd\n",
		 "3:3 A=b; 7:1 C=d"},
		/* lines within are lines of the script, unless some were continued there */
		{"cd\nsrun bash -c '\n  A=b\n  export C=d'\nE=f\n", "3:3 A=b; 4:10 C=d; 5:1 E=f"},
		{"sh -c \"cmd \\\n  x\n  A=b\"\nsh -c 'cmd \\\n  x\n  A=b'\n", "1:7 A=b; 6:3 A=b"},
		{"S=\"\n  -l\n  --export=A=b\"\n", "1:1 S=\n  -l\n  --export=A=b; 3:3 A=b"},
		/* here-documents */
		{"cat <<EOF\nexport A=b\nEOF\nC=d\n", "4:1 C=d"},
		{"cat <<'E O'\nA=b\nE O\nC=d\n", "4:1 C=d"},
		{"cat <<-E\n\tA=b\n\tE\nC=d\n", "4:1 C=d"},
		{"cat <<A <<B\nX=1\nA\nY=1\nB\nC=d\n", "6:1 C=d"},
		{"bash <<EOF\nexport A=b\nEOF\n", "2:8 A=b"},
		{"sbatch <<EOF\n#!/bin/sh\n#SBATCH --export=A=b\nC=d cmd\nEOF\n",
		 "3:9 A=b; 4:1 C=d"},
		{"sbatch <<-EOF\n\t#!/bin/sh\n\t#SBATCH --export=A=b\n\tC=d cmd\n\tEOF\n",
		 "3:9 A=b; 4:2 C=d"},
		{"cat <<< A=b\nC=d\n", "2:1 C=d"},
		{"((x = 1 << 2))\nA=b\n", "2:1 A=b"}, /* no here-document */
		/* words that are reserved only where a command begins, and words that are shown */
		{"cmd do A=b then C=d\necho do A=b env C=d\n", ""},
		{"case $x in A=b) C=d;; esac\nfor i in A=b; do C=d; done\n", "1:17 C=d; 2:18 C=d"},
		{"echo $(A=b cmd) C=d\nfor i in $(A=b cmd); do a; done\n", "1:6 A=b; 2:10 A=b"},
		{"time -p A=b cmd\n! A=b cmd\n", "1:9 A=b; 2:3 A=b"},
		/* arithmetic, and brackets that look like it */
		{"((A=1))\nif ((A=1)); then B=c; fi\n", "2:18 B=c"},
		{"((A=b cmd) | (C=d cmd))\n", "1:3 A=b; 1:15 C=d"},
		/* not closed */
		{"echo don't\nA=b\n", "2:1 A=b"},
		{"echo \"a\nA=b\n", "2:1 A=b"},
		{"echo $(a\nA=b\n", "2:1 A=b"},
		{"cat <<NEVER\nA=b\n", "2:1 A=b"},
		{"\xff\xfe=b\n\x01", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *words = settings_of(cases[i].text, strlen(cases[i].text));

		if (strcmp(words, cases[i].settings) != 0)
			fail_msg("of\n%s\nis\n%s\nnot\n%s", cases[i].text, words,
				 cases[i].settings);
		free(words);
	}
}

static void limits_hold(void **state)
{
	struct osp_error error = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;
	char *large = calloc(1, OSP_SCRIPT_BYTES_MAX + 1);

	(void)state;
	assert_null(osp_script_read("s", large, OSP_SCRIPT_BYTES_MAX + 1, &error));
	assert_string_equal(error.text, "larger than 4194304 bytes: no job script");
	free(large);
	for (int i = 0; i <= OSP_SCRIPT_SETTINGS_MAX; i++)
		osp_text_add(&text, "A=b\n");
	osp_error_clear(&error);
	assert_null(osp_script_read("s", text.data, text.length_bytes, &error));
	assert_string_equal(error.text, "sets more than 20000 variables");
	osp_text_free(&text);
}

#ifdef OSP_SANITIZED /* slow, and no further path is looked for */
#define LONG_TEXT 64
#else
#define LONG_TEXT 1
#endif

/* Each took minutes: where one does again, this test does not end. */
static void no_text_takes_long(void **state)
{
	static const struct {
		bool after_settings;
		const char *before, *words, *ends;
		size_t count;
	} cases[] = {
		{false, "X=", "$(a)", "", 1000000},
		{false, "X=", "$(", ")", 1000000},
		{true, "", "export A\n", "", 300000},
		{true, "export", " A", "", 1000000},
		{true, "A=\nX=", "$A", "", 1000000},
		{false, "", "(", "", 4000000},
		{false, "", "((a) ", "", 800000},
		{false, "", "((a))", "", 800000},
		{false, "", "unset A|", "", 500000},
		{false, "", "A|", "", 1000000},
		{true, "X=", "$((A=1))", "", 400000},
		{true, "let", " A=1", "", 800000},
		{true, "((", "A=1,", "))", 500000},
		{false, "", "#SBATCH\n ", "", 400000},
		{true, "", "(A=1\n", "", 10},
		{true, "env -u C -u D -u E -u F -u G -u H -u I -u J bash -c '", "p;", "'", 1000000},
	};
	struct osp_text text = OSP_TEXT_INIT, settings = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_script *script;

	(void)state;
	for (int i = 0; i < (OSP_SCRIPT_SETTINGS_MAX - 10) / LONG_TEXT; i++)
		osp_text_printf(&settings, "B%d=\n", i);
	for (size_t i = 0; i < COUNT(cases); i++) {
		osp_text_add(&text, cases[i].after_settings ? settings.data : "");
		osp_text_add(&text, cases[i].before);
		for (size_t j = 0; j < cases[i].count / LONG_TEXT; j++)
			osp_text_add(&text, cases[i].words);
		for (size_t j = 0; j < cases[i].count / LONG_TEXT; j++)
			osp_text_add(&text, cases[i].ends);
		script = osp_script_read("s", text.data, text.length_bytes, NULL);
		assert_non_null(script);
		osp_script_free(script);
		osp_text_free(&text);
		text = (struct osp_text)OSP_TEXT_INIT;
	}
	osp_text_free(&settings);
	for (int i = 0; i < 6000; i++)
		osp_text_add(&text, "srun a\n");
	assert_null(osp_script_read("s", text.data, text.length_bytes, &error));
	assert_string_equal(error.text, "has more than 5000 options");
	osp_text_free(&text);
}

static const char rules_text[] =
	"rules:\n"
	"  - {id: w, action: warn, variable: [A, B], severity: harmful, reason: r, cure: c, "
	"source: s}\n"
	"  - {id: u, when: {rdma_read: no}, action: unset, variable: B, is: '1', severity: fatal, "
	"reason: r, cure: c, source: s}\n"
	"  - {id: m, when: {fabric: efa}, action: set, variable: M, value: '7', severity: missing, "
	"reason: r, source: s}\n"
	"  - {id: p, action: warn, variable: P, is: '*bad*', severity: harmful, reason: r, cure: "
	"c, "
	"source: s}\n"
	"  - {id: q, action: warn, variable: Q, not: '*good*', severity: harmful, reason: r, cure: "
	"c, source: s}\n"
	"  - {id: n, when: {fabric: efa}, action: set, variable: N, value: '7', severity: note, "
	"reason: r, source: s}\n";

static const char *const doubts[] = {[OSP_DOUBT_NONE] = "",
				     [OSP_DOUBT_BRANCH] = " branch",
				     [OSP_DOUBT_REPLACED] = " replaced",
				     [OSP_DOUBT_STARTED] = " started"};

/* "2:1 A [w]; 3:1 B [u]?; 4:1 A [w] branch; missing M=7 [m]" */
static void expect_findings(const char *script_text, const char *facts_text, const char *expected)
{
	struct osp_script *script = osp_script_read("s", script_text, strlen(script_text), NULL);
	struct osp_rule_set *rules = osp_rules_new(NULL);
	struct osp_text words = OSP_TEXT_INIT;
	struct osp_findings *findings;
	struct osp_facts facts;
	char *string;

	memset(&facts, 0, sizeof(facts));
	assert_int_equal(osp_rules_add(rules, 0, "r", rules_text, strlen(rules_text), NULL), 0);
	if (*facts_text)
		assert_int_equal(osp_facts_set_list(&facts, facts_text, NULL), 0);
	findings = osp_lint(rules, NULL, &facts, script, NULL);
	assert_non_null(findings);
	for (size_t i = 0; i < osp_findings_count(findings); i++) {
		const struct osp_finding *one = osp_findings_at(findings, i);

		osp_text_add(&words, i ? "; " : "");
		if (one->setting)
			osp_text_printf(&words, "%d:%d %s", one->setting->line,
					one->setting->column, one->variable);
		else
			osp_text_printf(&words, "missing %s=%s", one->variable, one->value);
		osp_text_printf(&words, " [%s]%s", one->rule->id, one->certain ? "" : "?");
		if (one->setting)
			osp_text_add(&words, doubts[one->setting->doubt]);
	}
	string = osp_text_take(&words);
	assert_string_equal(string, expected);
	free(string);
	osp_findings_free(findings);
	osp_script_free(script);
	osp_rules_free(rules);
	osp_findings_free(NULL);
	osp_script_free(NULL);
}

static void findings_are_reported(void **state)
{
	(void)state;
	expect_findings("cmd\nA=1 B=1 cmd\nexport B=1\n", "rdma_read=no,fabric=roce",
			"2:1 A [w]; 2:5 B [w]; 2:5 B [u]; 3:8 B [w]; 3:8 B [u]");
	expect_findings("export B=1\n", "", "1:8 B [w]; 1:8 B [u]?");
	expect_findings("export B=$x\n", "rdma_read=no", "1:8 B [w]; 1:8 B [u]?");
	/* what was there before is not what this line brings; what is lacking may stand in it */
	expect_findings("P=a:$P\nP=a:$X\nP=bad:$P\nP=${P:-bad}\nP=${P:-a}\n", "",
			"2:1 P [p]?; 3:1 P [p]");
	expect_findings("Q=a:$Q\nQ=good:$Q\ncmd\nQ=a\n", "", "1:1 Q [q]?; 4:1 Q [q]");
	expect_findings("export B=2\n", "rdma_read=no", "1:8 B [w]");
	expect_findings("export B=1\n", "rdma_read=yes", "1:8 B [w]");
	expect_findings("cmd\n", "fabric=efa", "missing M=7 [m]");
	expect_findings("M=3 cmd\n", "fabric=efa", "");
	expect_findings("A=1 cmd\n", "fabric=efa", "1:1 A [w]; missing M=7 [m]");
}

/* Settings where they may not run. */
static void branches_are_in_doubt(void **state)
{
	static const struct {
		const char *before, *after;
		bool doubt;
	} cases[] = {
		{"if x\nthen\n", "fi\ncmd\n", true},
		{"if a\nthen b\nelif c\nthen\n", "fi\ncmd\n", true},
		{"if a\nthen b\nelse\n", "fi\ncmd\n", true},
		{"if a\nthen b\nfi\n", "cmd\n", false},
		{"if [ a ] && [ b ]\nthen c\nfi\n", "cmd\n", false},
		{"if a\nthen if b\nthen c\nfi\n", "fi\ncmd\n", true},
		{"if a; then\nif b; then c; fi\nfi\n", "cmd\n", false},
		{"if\n", "then cmd\nfi\n", false},
		{"case $x in\n1|2)\n", ";;\nesac\ncmd\n", true},
		{"case $x in\n(a) b;;\n(*)\n", "esac\ncmd\n", true},
		{"case $x in\n1) a;;\nesac\n", "cmd\n", false},
		{"for i in \"$@\"; do\n", "done\ncmd\n", true},
		{"for i in *.c; do\n", "done\ncmd\n", true},
		{"for i in 1 2; do\n", "done\ncmd\n", false},
		{"for ((i = 0; i < 8; i++)); do\n", "done\ncmd\n", false},
		{"while read x; do\n", "done <f\ncmd\n", true},
		{"until a; do\n", "done\ncmd\n", true},
		{"until false; do\n", "done\ncmd\n", false},
		{"while :; do\n", "cmd\ndone\n", false},
		{"while a; do b; done\n", "cmd\n", false},
		{"[ a ] &&\n", "cmd\n", true},
		{"[[ $a && $b ]] && ", "cmd\n", true},
		{"((a)) && ", "cmd\n", true},
		{"lspci | grep -q x && ", "cmd\n", true},
		{"! a && ", "cmd\n", true},
		{"cd x && ", "cmd\n", false},
		{"a || ", "cmd\n", true},
		{"a || exit 1\n", "cmd\n", false},
		{"a || {\nb\n", "cmd\n}\n", true},
		{"a || {\nb\n}\n", "cmd\n", false},
		{"a || (\nb\n", "cmd\n)\n", true},
		{"{\n", "cmd\n}\n", false},
		{"f() {\n", "cmd\n}\n", false},
		{"f () {\nif a; then b; fi\n}\n", "cmd\n", false},
		{"function f {\nif a; then\n", "fi\n}\ncmd\n", true},
		{"f() {\nif a; then\nb\n}\n", "cmd\n", false},
		{"N=(a b)\n", "cmd\n", false},
		{"if a; then N=(a\nb)\n", "fi\ncmd\n", true},
		{"fi\ndone\nesac\n}\n)\n", "cmd\n", false},
		{"if a; then X=$(if b; then c; fi)\nfi\n", "cmd\n", false},
		{"if true; then\n", "fi\ncmd\n", false},
		{"if :\nthen\n", "fi\ncmd\n", false},
		{"if a; true; then\n", "fi\ncmd\n", false},
		{"if a && true; then\n", "fi\ncmd\n", true},
		{"if ! true; then\n", "fi\ncmd\n", true},
		{"if true; then a; else\n", "fi\ncmd\n", true},
		{"if true; then a; elif b; then\n", "fi\ncmd\n", true},
		{"if true; a; then\n", "fi\ncmd\n", true},
		{"if true; then if a; then\n", "fi; fi\ncmd\n", true},
		{"for i in $(seq 1 8); do\n", "done\ncmd\n", false},
		{"for i in `seq 8`; do\n", "done\ncmd\n", false},
		{"for i in {1..$N}; do\n", "done\ncmd\n", false},
		{"for i in $(seq 1 $N); do\n", "done\ncmd\n", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_text text = OSP_TEXT_INIT, expected = OSP_TEXT_INIT;
		int line = 1, column = 1;

		for (const char *at = cases[i].before; *at; at++) {
			column = *at == '\n' ? 1 : column + 1;
			line += *at == '\n';
		}
		osp_text_printf(&text, "%sA=1\n%s", cases[i].before, cases[i].after);
		osp_text_printf(&expected, "%d:%d A [w]%s", line, column,
				cases[i].doubt ? " branch" : "");
		print_message("%s\n", text.data);
		expect_findings(text.data, "", expected.data);
		osp_text_free(&text);
		osp_text_free(&expected);
	}
}

/* Settings that are unset, set anew or hidden before a program starts. */
static void what_no_program_gets_is_no_finding(void **state)
{
	static const struct {
		const char *text, *findings;
	} cases[] = {
		{"A=1\ncmd\n", "1:1 A [w]"},
		{"A=1\nunset A\ncmd\n", ""},
		{"A=1\nunset -v X A\ncmd\n", ""},
		{"A=1\nunset -f A\ncmd\n", "1:1 A [w]"},
		{"A=1\nunset AB\ncmd\n", "1:1 A [w]"},
		{"A=1\ncmd\nunset A\n", "1:1 A [w]"},
		{"A=1\n$CMD\nunset A\n", "1:1 A [w]"},
		{"A=1\nexport -n A\ncmd\n", ""},
		{"A=1\ndeclare +x A\ncmd\n", ""},
		{"export -n A=1\ncmd\n", ""},
		{"export -n A=1\nexport A\ncmd\n", "1:11 A [w]"},
		{"A=1\nA=2\ncmd\n", "2:1 A [w]"},
		{"A=1\necho a; module load b; cd c\nN=(a b)\nA=2\ncmd\n", "4:1 A [w]"},
		{"A=1\nA=2 cmd\n", "2:1 A [w]"},
		{"A=1\nA=2 cmd\ncmd\n", "1:1 A [w]; 2:1 A [w]"},
		{"A=1\nA=${A:-2}\ncmd\n", "1:1 A [w]"},
		{"[ a ] && A=1\nA=${A:-2}\ncmd\n", "1:10 A [w] branch; 2:1 A [w] branch"},
		{"A=1 cmd\nA=${A:-2}\ncmd\n", "1:1 A [w]; 2:1 A [w]"},
		{"A=${A:-1}\n: ${A:=2}\ncmd\n", "1:1 A [w]"},
		{"(A=1; a)\nA=${A:-2}\ncmd\n", "1:2 A [w]; 2:1 A [w]"},
		{"A=1\n(A=${A:-2}; a)\n", "1:1 A [w]"},
		{"A=1\nunset A\nA=${A:-2}\ncmd\n", "3:1 A [w]"},
		{"A=1\ncmd\nif a; then unset A; fi\nA=${A:-2}\ncmd\n",
		 "1:1 A [w]; 4:1 A [w] branch"},
		{"A=1\ncmd\n(unset A; A=${A:-2}; cmd)\n", "1:1 A [w]; 3:11 A [w] branch"},
		{"A=1\ncmd\n(unset A)\nA=${A:-2}\ncmd\n", "1:1 A [w]"},
		{"if a; then A=1; A=${A:-2}; cmd; fi\n", "1:12 A [w] branch"},
		{"[ a ] && A=1\nA=${A:-2}\nA=${A:-3}\ncmd\n",
		 "1:10 A [w] branch; 2:1 A [w] branch"},
		{"A=1\nA+=2\ncmd\n", "1:1 A [w]; 2:1 A [w]"},
		{"A=1\nA=2,${A}$x\ncmd\n", "1:1 A [w]; 2:1 A [w]"},
		{"A=1\nenv -u A cmd\n", ""},
		{"A=1\nenv --unset=A cmd\n", ""},
		{"A=1\nenv -uA cmd\ncmd\n", "1:1 A [w]"},
		{"A=1\nenv -u B cmd\n", "1:1 A [w]"},
		{"A=1\nsrun env -u A cmd\n", ""},
		{"A=1\nsrun bash -c 'unset A; cmd'\n", ""},
		{"A=1\nsrun bash -c 'cmd; unset A'\n", "1:1 A [w]"},
		{"A=1\nsrun bash -c 'export A=2; cmd'\n", "2:14 A [w]"},
		{"A=1\nsrun --export=ALL,A=2 cmd\n", "2:6 A [w]"},
		{"export A=1\nsrun --export=ALL,A=2 cmd\n", "1:8 A [w]"},
		{"export A=1\nsrun --export=NONE cmd\n", ""},
		{"export A=1\nenv -i B=2 cmd\n", "2:8 B [w]"},
		{"A=1\nbash -c 'unset A'\ncmd\n", "1:1 A [w]"},
		{"#SBATCH --export=ALL,A=1\nunset A\ncmd\n", ""},
		{"A=1\nif [ a ]\nthen unset A\nfi\ncmd\n", "1:1 A [w] replaced"},
		{"A=1\n[ a ] && unset A\ncmd\n", "1:1 A [w] replaced"},
		{"A=1\ncmd\nif a\nthen unset A\nfi\n", "1:1 A [w]"},
		{"if a\nthen A=1\nelse unset A\nfi\ncmd\n", "2:6 A [w] branch"},
		{"if a\nthen A=1\nfi\nunset A\ncmd\n", ""},
		{"if a\nthen A=1; unset A\nfi\ncmd\n", ""},
		{"A=1\nf() {\nunset A\n}\ncmd\n", "1:1 A [w]"},
		{"f() {\nA=1\nunset A\ncmd\n}\n", ""},
		{"bash -cx 'A=1; cmd'\n", "1:10 A [w]"},
		{"bash -c -x 'A=1; cmd'\n", "1:12 A [w]"},
		{"bash -ceuo pipefail 'A=1; cmd'\n", "1:21 A [w]"},
		{"bash --login -xec 'A=1; cmd'\n", "1:19 A [w]"},
		{"bash -x s -c 'A=1; cmd'\n", "1:14 A [w]"},
		{"X=$(A=1 srun cmd)\n", "1:1 A [w]"},
		{"X=$(\n\ncd x; A=1 srun cmd)\n", "3:7 A [w]"},
		{"X=$((A=1))$(a;A=1 b)\n", "1:1 A [w]"},
		{"X=\"$(a)$(A=1 b)\"\n", "1:1 A [w]"},
		/* what is unset in a subshell or behind a pipe is set after it */
		{"A=1\n(unset A)\ncmd\n", "1:1 A [w]"},
		{"A=1\n(unset A; a)\ncmd\n", "1:1 A [w]"},
		{"A=1\n(unset A; a)\n", ""},
		{"A=1\n(unset A; (a))\nunset A\ncmd\n", ""},
		{"A=1\n(A=2; a)\n", "2:2 A [w]"},
		{"A=1\n(a; unset A)\n", "1:1 A [w]"},
		{"(A=1; unset A; a)\n", ""},
		{"A=1\n(if a; then unset A; fi; b)\n", "1:1 A [w]"},
		{"A=1\n([ a ] && unset A; b)\n", "1:1 A [w] replaced"},
		{"A=1\necho a | unset A\ncmd\n", "1:1 A [w]"},
		{"A=1\necho a | cat; unset A\ncmd\n", ""},
		/* these are no branches */
		{"A=1\n{ unset A; }\ncmd\n", ""},
		{"A=1\nfor i in a b; do unset A; done\ncmd\n", ""},
		{"A=1\nif unset A; then a; fi\ncmd\n", ""},
		{"A=1\n[ a ] && { unset A; }\ncmd\n", "1:1 A [w] replaced"},
		/* builtins */
		{"eval \"export A=1\"\ncmd\n", "1:6 A [w]"},
		{"eval 'A=1 srun a'\n", "1:6 A [w]"},
		{"A=1\neval 'A=2'\ncmd\n", "2:6 A [w]"},
		{"A=1\neval 'unset A'\ncmd\n", ""},
		{"[ a ] && eval 'A=1'\ncmd\n", "1:15 A [w] branch"},
		{"A=1\neval \"$(conda shell.bash hook)\"\nunset A\ncmd\n", ""},
		{"A=1\neval \"$CMD\"\nunset A\n", "1:1 A [w]"},
		{"A=1\nread -r A <f\ncmd\n", ""},
		{"A=1\nread -r A B <f\ncmd\n", ""},
		{"A=1\nIFS=: read -r B A <f\ncmd\n", ""},
		{"A=1\nread AB\ncmd\n", "1:1 A [w]"},
		{"A=1\necho | read A\ncmd\n", "1:1 A [w]"},
		{"A=1\ngetopts ab A\ncmd\n", ""},
		{"A=1\ngetopts A B\ncmd\n", "1:1 A [w]"},
		{"A=1\nfor A in b c; do cmd; done\n", ""},
		{"A=1\nif [ x ]; then for A in b; do cmd; done; fi\n", "1:1 A [w] replaced"},
		{"A=1\nfor B in A; do cmd; done\n", "1:1 A [w]"},
		{"A=1\nprintf -v A %s b\ncmd\n", ""},
		{"A=1\nprintf A\ncmd\n", "1:1 A [w]"},
		/* what a process of its own takes back, or takes along and starts nothing */
		{"A=1\nunset A | cat\ncmd\n", "1:1 A [w]"},
		{"A=1\nunset A |& cat\ncmd\n", "1:1 A [w]"},
		{"A=1\nunset A &\ncmd\n", "1:1 A [w]"},
		{"A=1\ncd x && unset A & cmd\n", "1:1 A [w]"},
		{"A=1\nunset A && cd x\ncmd\n", ""},
		{"A=1\n{ unset A; } | cat\ncmd\n", "1:1 A [w]"},
		{"A=1\n{ unset A; a; } | cat\nunset A\ncmd\n", ""},
		{"A=1\n{ unset A; a; } &\ncmd\n", "1:1 A [w]"},
		{"A=1\nfor i in a b; do unset A; done | cat\ncmd\n", "1:1 A [w]"},
		{"A=1\nif unset A; then cd x; fi |& cat\ncmd\n", "1:1 A [w]"},
		{"A=1\necho | { unset A; }\ncmd\n", "1:1 A [w]"},
		{"A=1\necho | while read x; do unset A; done\ncmd\n", "1:1 A [w]"},
		{"{ A=1; } | cat\ncmd\n", ""},
		{"{ A=1; a; } | cat\ncmd\n", "1:3 A [w]"},
		{"echo | while read x; do export A=1; done\ncmd\n", ""},
		{"echo | { read x; A=1; a; }\ncmd\n", "1:18 A [w]"},
		{"A=1\n{ unset A; } && cat\ncmd\n", ""},
		/* a branch in a subshell is one for the programs of the subshell */
		{"A=1\n([ a ] && unset A; cd x)\ncmd\n", "1:1 A [w]"},
		{"A=1\n([ a ] && unset A; b)\ncmd\n", "1:1 A [w]"},
		{"A=1\n([ a ] && unset A; b)\nunset A\ncmd\n", "1:1 A [w] replaced"},
		{"A=1\ncd x & unset A\ncmd\n", ""},
		{"A=1\na |& unset A\ncmd\n", "1:1 A [w]"},
		{"A=1\nA=2 & cmd\n", "1:1 A [w]"},
		{"A=1\nunset A 2>&1\ncmd\n", ""},
		{"A=1\nunset A &>f\ncmd\n", ""},
		{"(export A=1)\ncmd\n", ""},
		{"(export A=1; cd x)\ncmd\n", ""},
		{"(cmd; export A=1)\ncmd\n", ""},
		{"(export A=1; cmd)\n", "1:9 A [w]"},
		{"(export A=1; (a | b))\n", "1:9 A [w]"},
		{"(export A=1; . f)\n", "1:9 A [w]"},
		{"(eval 'export A=1')\ncmd\n", ""},
		{"(export A=1; A=2 a)\ncmd\n", "1:14 A [w]"},
		{"(export A=1; eval \"$x\")\n", "1:9 A [w]"},
		{"(f() { export A=1; }; f; cmd)\n", "1:15 A [w]"},
		{"f() (export A=1)\nf\ncmd\n", "1:13 A [w]"},
		{"(export A=1; if a; then b; fi)\n", "1:9 A [w]"},
		{"export A=1 &\ncmd\n", ""},
		{"A=1 cmd | cat\nA=1 cmd &\n", "1:1 A [w]; 2:1 A [w]"},
		{"X=$(export A=1)\nY=$(export A=1; cmd)\n", "2:1 A [w]"},
		{"bash -c 'export A=1'\nbash -c 'export A=1; cmd'\n", "2:9 A [w]"},
		/* arithmetic sets variables */
		{"A=1\nlet A=2\ncmd\n", ""},
		{"A=1\nlet 'B = 1, A += 2'\ncmd\n", ""},
		{"A=1\nlet A++\ncmd\n", ""},
		{"A=1\n((A = 2))\ncmd\n", ""},
		{"A=1\n((A <<= 2))\ncmd\n", ""},
		{"A=1\n((--A))\ncmd\n", ""},
		{"A=1\nC=$((A += 2))\ncmd\n", ""},
		{"A=1\n: $((A++)) $((B++))\ncmd\n", ""},
		{"A=1\n((A == 2))\n((C = A + 0xA - A))\n((A <= 1)); ((1A=1))\ncmd\n", "1:1 A [w]"},
		{"A=1\nif [ a ]; then ((A = 2)); fi\ncmd\n", "1:1 A [w] replaced"},
		/* what is made of another variable with a longer name is set anew */
		{"A=1\nA=$AB\ncmd\n", "2:1 A [w]"},
		{"A=1\nA=$(x $A)\ncmd\n", "1:1 A [w]; 2:1 A [w]"},
		/* scripts of another language */
		{"#!/usr/bin/env python3\nA=1\ncmd\n", ""},
		{"#!/usr/bin/python3.11 -u\nA=1\ncmd\n", ""},
		{"#!/usr/bin/env bash\nA=1\ncmd\n", "2:1 A [w]"},
		{"#!/bin/bash -l\n#!/usr/bin/python\nA=1\ncmd\n", "3:1 A [w]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("%s\n", cases[i].text);
		expect_findings(cases[i].text, "", cases[i].findings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_are_in_doubt),
		cmocka_unit_test(what_no_program_gets_is_no_finding),
		cmocka_unit_test(settings_are_seen),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(no_text_takes_long),
		cmocka_unit_test(findings_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
