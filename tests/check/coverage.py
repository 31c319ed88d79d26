#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""coverage.py - how much of what is mapped into slurmctld has run

usage: coverage.py BUILD_DIR [--missing] [--least PERCENT]

BUILD_DIR was compiled with gcc --coverage and its tests were run (tests/check/coverage does both). What is
mapped into slurmctld is read from the two objects themselves: the functions that the linker left in the shadow
and in job_submit. Prints for each source file its lines as wc counts them, the functions mapped, their lines,
how many of these are neither blank nor comment, and how many lines and branches ran; then the sums of each room,
the sum, and the functions that never ran. gcov says what ran.

A line of the source with the words "unreached:" and a reason in a comment is not counted; how many these are is
told. --missing lists each branch and line that did not run. Fails below --least percent of the branches.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

OBJECTS = (".libs/onespine_select.so", ".libs/job_submit_onespine.so")
MARK = "unreached:"


def ask(*command, cwd=None):
    """What a command prints. gcov says for each object that has not run that it takes it for not executed."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True, cwd=cwd,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def mapped_functions(path):
    """Functions of an object: (file, name) of those that only their file knows, (None, name) of the others."""
    file, found = None, set()
    for line in ask("readelf", "--syms", "--wide", path).splitlines():
        field = line.split()
        if len(field) < 7 or not field[0].endswith(":"):
            continue
        if field[3] == "FILE":
            file = field[7] if len(field) > 7 else None
        elif field[3] == "FUNC" and field[6] != "UND":
            found.add((file, field[7].split("@")[0]))
    return found


class File:
    """One source file: what ran of the functions that are mapped."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as source:
            self.text = source.read().splitlines()
        self.functions = set()
        self.calls = collections.Counter()
        self.mapped = set()
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def excluded(self, number):
        return MARK in self.text[number - 1]

    def add(self, line):
        number = line["line_number"]
        self.lines[number] += line["count"]
        for index, branch in enumerate(line["branches"]):
            self.branches[number, index] += branch["count"]

    def code(self):
        """The lines of the mapped functions that are neither blank nor comment."""
        inside, found = False, set()
        for number, line in enumerate(self.text, 1):
            rest = line.strip()
            if inside:
                inside = "*/" not in rest
                continue
            if rest.startswith("/*"):
                inside = "*/" not in rest
            elif rest and number in self.mapped:
                found.add(number)
        return found

    def counted(self, kind):
        """What is counted of lines or branches: how often each ran."""
        return {key: count for key, count in kind.items()
                if not self.excluded(key[0] if isinstance(key, tuple) else key)}


def read(build, source, functions):
    """The files with functions that are mapped, by path."""
    files = {}
    named = {name for _, name in functions}
    for notes in notes_of(build):
        answer = json.loads(ask("gcov", "--json-format", "--branch-probabilities", "--stdout", notes, cwd=build))
        for part in answer["files"]:
            path = os.path.normpath(os.path.join(answer["current_working_directory"], part["file"]))
            if not path.startswith(source + os.sep):
                continue
            base = os.path.basename(path)
            mine = {function["name"]: function for function in part["functions"]
                    if function["name"] in named and ((base, function["name"]) in functions
                                                      or is_unique(function["name"]))}
            if not mine:
                continue
            file = files.setdefault(path, File(path))
            file.functions |= set(mine)
            file.calls.update({name: function["execution_count"] for name, function in mine.items()})
            for function in mine.values():
                file.mapped |= set(range(function["start_line"], function["end_line"] + 1))
            for line in part["lines"]:
                if line.get("function_name") in mine:
                    file.add(line)
    return files


def is_unique(name):
    """A function that every file knows stands behind no file's name of its own."""
    return name.startswith(("osp_", "shadow_", "select_p_")) or name in ("init", "fini", "job_submit", "job_modify")


def notes_of(build):
    """gcc's notes on the objects of lib/ and sched/: not on those compiled anew for one test."""
    for room in ("lib", "sched"):
        for folder, _, names in os.walk(os.path.join(build, room)):
            yield from (os.path.join(folder, name) for name in names if name.endswith(".gcno"))


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


class Sum:
    def __init__(self):
        self.values = collections.Counter()

    def add(self, file):
        lines, branches = file.counted(file.lines), file.counted(file.branches)
        row = {"text": len(file.text), "functions": len(file.functions), "mapped": len(file.mapped),
               "code": len(file.code()), "lines": len(lines),
               "lines_run": sum(count > 0 for count in lines.values()), "branches": len(branches),
               "branches_run": sum(count > 0 for count in branches.values()),
               "left_out": len(file.branches) - len(branches)}
        self.values.update(row)
        return row

    @staticmethod
    def show(name, row):
        print(f"{name:38} {row['text']:6} {row['functions']:9} {row['mapped']:6} {row['code']:5} {row['lines_run']:6} of {row['lines']:5} "
              f"{percent(row['lines_run'], row['lines']):5.1f} % {row['branches_run']:6} of {row['branches']:5} "
              f"{percent(row['branches_run'], row['branches']):5.1f} %")


def show_rooms(files, source):
    """A line a room: lib/place, sched."""
    rooms, count = collections.defaultdict(Sum), collections.Counter()
    for path in sorted(files):
        room = os.path.dirname(os.path.relpath(path, source))
        rooms[room].add(files[path])
        count[room] += 1
    for room, total in rooms.items():
        total.show(f"{room} ({count[room]})", total.values)


def show_idle(files):
    idle = sorted(name for file in files.values() for name in file.functions if not file.calls[name])
    print(f"{len(idle)} functions never ran{': ' if idle else ''}{', '.join(idle)}")


def show_missing(file, name):
    for number in sorted(number for number, count in file.counted(file.lines).items() if not count):
        print(f"{name}:{number}: did not run: {file.text[number - 1].strip()}")
    ran = {number for number, count in file.lines.items() if count}
    short = sorted({number for (number, _), count in file.counted(file.branches).items()
                    if not count and number in ran})
    for number in short:
        ways = [count for (at, _), count in sorted(file.branches.items()) if at == number]
        print(f"{name}:{number}: {sum(not way for way in ways)} of {len(ways)} ways not taken: "
              f"{file.text[number - 1].strip()}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build")
    options.add_argument("--source", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    options.add_argument("--missing", action="store_true")
    options.add_argument("--least", type=float, default=0)
    given = options.parse_args()
    build, source = os.path.realpath(given.build), os.path.realpath(given.source)
    functions = set().union(*(mapped_functions(os.path.join(build, path)) for path in OBJECTS))
    files, total = read(build, source, functions), Sum()
    print(f"{'file':38} {'lines':>6} {'functions':>9} {'theirs':>6} {'code':>5} {'lines that ran':>23} {'branches that ran':>24}")
    for path in sorted(files):
        name = os.path.relpath(path, source)
        total.show(name, total.add(files[path]))
    show_rooms(files, source)
    total.show(f"{len(files)} files", total.values)
    print(f"mapped into slurmctld: {total.values['mapped']} lines, {total.values['code']} of them neither blank nor "
          f"comment")
    show_idle(files)
    print(f"{total.values['left_out']} branches left out, each for a reason in the source")
    for path in sorted(files) if given.missing else []:
        show_missing(files[path], os.path.relpath(path, source))
    reached = percent(total.values["branches_run"], total.values["branches"])
    if reached < given.least:
        print(f"coverage: {reached:.1f} % of the branches, and {given.least:g} % are asked for")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
