#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `onespine env --script` says of random scripts with what bash does in them.

    lint_oracle.py [--seed N] [--count N] [--show]

Each script sets, unsets and hides two variables among branches, loops, subshells, pipes and functions, and starts a
program here and there. bash runs it once under every condition that its branches ask for, and the program writes down
which settings it got. ONESPINE is the command, SOURCE the source tree. A difference is

    wrong    a sure finding about a setting that no program ever gets
    surely   a sure finding about one whose line does not run under all conditions
    missed   no finding about one that a program gets
    unborne  "may be harmful" about one that no program ever gets
    doubted  "may be harmful" about one that programs get under all conditions

--show prints each with the script, of which everything is left out that the difference does without. Of those that are
known (KNOWN below says why) there may be any number. Ends with 1, after its script, if there is another one that is
wrong, surely or missed.
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

NAMES = ("VA", "VB")
CONDITIONS = 5
RULE = ("rules:\n  - {id: w, action: warn, variable: [VA, VB], severity: harmful, reason: r, cure: c, source: s}\n")
PROGRAM = '#!/bin/sh\nprintf "%s %s\\n" "${VA-}" "${VB-}" >>"$LOG"\n'
# as Slurm's own: beside ALL what is exported stands before a value of the list (22.05.8 and 25.11.7 were asked)
SRUN = '''#!/bin/sh
case $1 in
--export=ALL,*)
	one=${1#--export=ALL,} && shift
	eval "[ \\"\\${${one%%=*}+set}\\" ]" || exec env "$one" "$@" ;;
--export=*)
	list=${1#--export=} && shift
	set -- PATH="$PATH" LOG="$LOG" "$@"
	case $list in
	*=*) set -- "$list" "$@" ;;
	V?) eval "one=\\${$list+$list=\\$$list}" && set -- ${one:+"$one"} "$@" ;;
	esac
	exec env -i "$@" ;;
esac
exec "$@"
'''
# V is a variable's name, @ the number of the line, C a condition's
SETS = ["V=@", "V=@", "V=@", "export V=@", "export V=@", "V=@ ; export V", "V+=,@", "V=@,$V", "V=${V:-@}", "declare -x V=@",
        "eval 'V=@'", "eval \"export V=@\"", ": ${V:=@}"]
ENDS = ["unset V", "unset V", "unset V", "export -n V", "declare +x V", "let V=0", "((V = 0))", "printf -v V 0", "X=$((V = 0))",
        "eval 'unset V'", "read -r V </dev/null || true"]
STARTS = ["prog", "prog", "prog", "prog >f 2>&1", "V=@ prog", "env V=@ prog", "env -u V prog", "srun prog", "srun --export=ALL,V=@ prog",
          "prog | cat", "prog & wait", "echo | prog", "X=$(prog)", "X=$(V=@ prog)", "X=$(unset V; prog)", "bash -c 'prog'",
          "bash -c 'V=@; prog'", "srun bash -c 'unset V; prog'", "srun bash -c 'export V=@; prog'", "V=@ prog | cat",
          "if prog; then :; fi", "! prog", "time -p prog", "prog || :", "X=$(echo a; V=@ prog)", "env V=@ prog & wait",
          "X=$(echo $(prog))", "X=$(echo $(V=@ prog; prog))", "bash -c 'X=$(V=@ prog)'", "bash -c \"bash -c 'V=@; prog'; prog\"",
          "X=$(bash -c 'unset V; prog'; prog)", "env -i PATH=$PATH LOG=$LOG prog", "env -i PATH=$PATH LOG=$LOG V=@ prog",
          "(exec -c env PATH=$PATH LOG=$LOG V=@ prog)", "srun --export=NONE prog", "srun --export=V prog", "srun --export=V=@ prog",
          "SLURM_EXPORT_ENV=NONE srun --export=ALL prog", "srun --export=NONE bash -c 'export V=@; prog'", "A=(V=@); env \"${A[*]}\" prog"]
NOTHING = [":", "echo V=@", "echo do V=@ then", "cat </dev/null", "[ x ]", "case V=@ in V=@) ;; esac", "unset V | cat", "unset V & wait",
           "export V=@ | cat", "export V=@ & wait", "echo | unset V", "X=$(unset V)", "bash -c 'unset V'", "(unset V)", "(export V=@)",
           "(V=@; :)", "X=$(export V=@)"]
LISTS = ["[ $C ] && ", "[ $C ] || ", "! [ $C ] && ", ": && ", "cd . && "]
KNOWN = {
    # tests/corpus/README.md counts them; the first is this program's alone
    "exported again": "with allexport, bash exports again what += adds to, and nobody's script has that",
    "function": "every function is taken as called, and what it sets and unsets as its own alone",
    "computed": "a variable that arithmetic or printf -v sets is one that is set to nothing known",
    "branches": "the branches of an if or a case are read as if each followed the one before",
}


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = 0

    def fill(self, text):
        text = re.sub(r"\bV\b", self.random.choice(NAMES), text)
        return text.replace("$C", f"$C{self.random.randrange(CONDITIONS)}")

    def leaf(self):
        kind = self.random.choices((SETS, ENDS, STARTS, NOTHING), (4, 2, 4, 1))[0]
        text = self.fill(self.random.choice(kind))
        if self.random.random() < 0.15 and "if" not in text and ";" not in text:
            text = self.fill(self.random.choice(LISTS)) + text
        return text

    def condition(self):
        which = self.random.randrange(CONDITIONS)
        return self.random.choice([f"[ $C{which} ]", f"[ $C{which} ]", f"[[ $C{which} ]]", f"! [ $C{which} ]", "true"])

    def compound(self, depth):
        block = lambda: self.block(depth + 1)
        which = self.random.randrange(CONDITIONS)
        kind = self.random.choice(["if", "if", "ifelse", "elif", "case", "for", "some", "while", "group", "subshell", "subshell",
                                   "function", "until", "and", "or", "piped", "behind", "background"])
        if kind == "if":
            return ["if " + self.condition(), "then", block(), "fi"]
        if kind == "ifelse":
            return ["if " + self.condition() + "; then", block(), "else", block(), "fi"]
        if kind == "elif":
            return ["if " + self.condition() + "; then", block(), "elif " + self.condition() + "; then", block(), "else", block(), "fi"]
        if kind == "case":
            return [f"case $C{which} in", "1)", block(), ";;", "(*)", block(), "esac"]
        if kind == "for":
            return ["for i in a b; do", block(), "done"]
        if kind == "some":
            return [f"for i in $L{which}; do", block(), "done"]
        if kind == "while":
            return ["while read -r line; do", block(), f"done <$F{which}"]
        if kind == "until":
            return ["until false; do", block(), "break", "done"]
        if kind == "group":
            return ["{", block(), "}"]
        if kind == "subshell":
            return ["(", block(), ")"]
        if kind == "and":
            return [f"[ $C{which} ] && {{", block(), "}"]
        if kind == "or":
            return [f"[ $C{which} ] || (", block(), ")"]
        if kind == "piped":
            return ["{", block(), "} | cat"]
        if kind == "behind":
            return ["echo | {", block(), "}"]
        if kind == "background":
            return ["(", block(), ") & wait"]
        self.functions += 1
        name = f"f{self.functions}"
        return [f"{name}() {{", block(), "}"] + ([name] if self.random.random() < 0.7 else [])

    def block(self, depth):
        nodes = []
        for _ in range(self.random.randint(1, 4 if depth else 8)):
            if depth < 3 and self.random.random() < 0.3:
                nodes.append(self.compound(depth))
            else:
                nodes.append([self.leaf()])
        return nodes


def lines_of(block):
    lines = []
    for node in block:
        for part in node:
            lines += [part] if isinstance(part, str) else lines_of(part)
    return lines or [":"]


def text_of(block):
    lines = ["#!/bin/bash"] + lines_of(block) + ["prog"]
    return "".join(line.replace("@", str(number)) + "\n" for number, line in enumerate(lines, 1))


def settings_of(text):
    """The lines that have a setting, with its variable's name."""
    return {number: name for number, line in enumerate(text.splitlines(), 1) for name in NAMES
            if name in line and str(number) in line.replace("$", "")}


class Oracle:
    def __init__(self, folder):
        self.folder = folder
        self.onespine = os.environ.get("ONESPINE", "onespine")
        os.makedirs(f"{folder}/site/rules.d")
        os.makedirs(f"{folder}/bin")
        os.makedirs(f"{folder}/run")
        for path, content in (("site/rules.d/w.yaml", RULE), ("bin/prog", PROGRAM), ("bin/srun", SRUN), ("empty", ""), ("full", "a\nb\n"),
                              ("prompt", "PS4='+ $LINENO '\n")):
            with open(f"{folder}/{path}", "w") as out:
                out.write(content)
            os.chmod(f"{folder}/{path}", 0o755)

    def run(self, text):
        """Runs the script under all conditions. Returns the lines whose value a program got, "sometimes" or "always", and the
        lines that always ran."""
        got, runs, always = {}, 0, None
        used = [i for i in range(CONDITIONS) if f"$C{i}" in text or f"$L{i}" in text or f"$F{i}" in text]
        path, log = f"{self.folder}/run.sh", f"{self.folder}/log"
        with open(path, "w") as out:
            out.write(text)
        for values in itertools.product(("", "1"), repeat=len(used)):
            # all assignments are exported, as the lint takes each for one that a program may get
            environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "LOG": log, "SHELLOPTS": "allexport", "BASH_ENV": f"{self.folder}/prompt"}
            for i, value in zip(used, values):
                environment.update({f"C{i}": value, f"L{i}": "a b" if value else "", f"F{i}": f"{self.folder}/{'full' if value else 'empty'}"})
            with open(log, "w"):
                pass
            try:
                done = subprocess.run(["bash", "-x", path], env=environment, cwd=f"{self.folder}/run", stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=20, check=False)
            except subprocess.TimeoutExpired:
                return None
            if b"syntax" in done.stderr:
                raise SystemExit(f"{done.stderr}\n{text}")
            with open(log) as read:
                # a text within has the line 0 or 1
                ran = set(re.findall(rb"^\++ (\d+) ", done.stderr, re.M))
                always = ran if always is None else always & ran
                words = {(name, part) for line in read for name, word in zip(NAMES, line.rstrip("\n").split(" "))
                         for part in word.split(",") if part not in ("", "0")}
            for name, part in words:
                got[int(part)] = got.get(int(part), 0) + 1
            runs += 1
        return {line: "always" if count == runs else "sometimes" for line, count in got.items()}, {int(line) for line in always or ()}

    def lint(self, texts):
        """Returns what the lint says of each script: {line: "sure" or "may"}."""
        said, command = [], [self.onespine, "env", f"--data={os.environ['SOURCE']}/etc", f"--site={self.folder}/site", "--root=/nowhere",
                             "--json", "--script"]
        for text in texts:
            with open(f"{self.folder}/lint.sh", "w") as out:
                out.write(text)
            done = subprocess.run(command + [f"{self.folder}/lint.sh"], stdout=subprocess.PIPE, check=False)
            one = {}
            for finding in json.loads(done.stdout)["findings"]:
                if finding["rule"] == "w":
                    one[finding["line"]] = "may" if finding.get("doubt") else "sure"
            said.append(one)
        return said


def differences(text, ran, said):
    found, (got, always) = [], ran
    for line in settings_of(text):
        bash, lint = got.get(line, "never"), said.get(line, "none")
        if bash == "sometimes" and lint == "sure" and line in always and "[ $C" not in text.splitlines()[line - 1]:
            continue  # the program may not run, the setting does
        kind = {("never", "sure"): "wrong", ("sometimes", "sure"): "surely", ("sometimes", "none"): "missed", ("always", "none"): "missed",
                ("never", "may"): "unborne", ("always", "may"): "doubted"}.get((bash, lint))
        if kind:
            found.append((line, kind))
    return found


def without(block):
    """Each block that lacks one node, or has the inner block of one in its place."""
    for i, node in enumerate(block):
        yield block[:i] + block[i + 1:]
        for j, part in enumerate(node):
            if not isinstance(part, str):
                yield block[:i] + part + block[i + 1:]
                for less in without(part):
                    yield block[:i] + [node[:j] + [less] + node[j + 1:]] + block[i + 1:]


def shrink(oracle, block, kind):
    smaller = True
    while smaller:
        smaller = False
        for less in without(block):
            text = text_of(less)
            got = oracle.run(text)
            if got is not None and any(one[1] == kind for one in differences(text, got, oracle.lint([text])[0])):
                block, smaller = less, True
                break
    return block


def known(text):
    """The reason for which a difference is known, or None."""
    lines = text.splitlines()
    if any("export -n" in line or "+x" in line for line in lines):
        return "exported again"
    if any(line.endswith("() {") for line in lines):
        return "function"
    if any(word in line for line in lines for word in ("let ", "((", "printf -v")):
        return "computed"
    if any(line in ("else", "(*)", "if true", "if true; then", "elif true; then") for line in lines):
        return "branches"
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--show", action="store_true")
    options = options.parse_args()
    counts, bad, settings = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(folder)
        for seed in range(options.seed, options.seed + options.count):
            block = Maker(seed).block(0)
            text = text_of(block)
            got = oracle.run(text)
            if got is None:
                continue
            settings += len(settings_of(text))
            for kind in sorted({one[1] for one in differences(text, got, oracle.lint([text])[0])}):
                grave = kind in ("wrong", "surely", "missed")
                small = text_of(shrink(oracle, block, kind)) if grave or options.show else text
                why = known(small) if grave or options.show else "not read"
                counts[(kind, why or "-")] = counts.get((kind, why or "-"), 0) + 1
                bad += grave and why is None
                if options.show or (grave and why is None):
                    print(f"--- seed {seed}: {kind} {[one for one in differences(small, oracle.run(small), oracle.lint([small])[0])]} ({why})\n{small}",
                          flush=True)
    for (kind, why), count in sorted(counts.items()):
        print(f"{kind} ({why}): {count} scripts")
    print(f"{options.count} scripts, {settings} settings, {bad} differences that are not known")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
