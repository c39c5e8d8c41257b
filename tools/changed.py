# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the tests that are due for what has changed since a branch: `make test CHANGED=1`.

    python -m tools.changed [main]

A test is due if it imports a changed file, itself or by others; so are tests that run the program,
and the tests of a feature if its code does. What is not Python counts for all code beside it. The
core names some features without importing them: a change of these is none of the core.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from tools.shape import ROOT, Source, sources

ALWAYS = ("tests/docs", "tests/test_architecture.py")
ALL = ("qa", "tests")
CODE = ("benchmarks", "model_analyzer", "qa", "tests", "tools")

# what is not code, and only tests/docs look at it
_DOCUMENTS = ("docs/", ".github/", ".ci/", "Makefile", "mkdocs.yml")

# module -> the folder of what it imports by name
_BY_NAME = {
    "model_analyzer": "model_analyzer/state/",
    "model_analyzer.cli.program": "model_analyzer/cli/commands/",
    "model_analyzer.search.choose": "model_analyzer/search/modes/",
}
_PROGRAM = "model_analyzer.cli.main"
_FEATURES, _TESTS_OF_FEATURES = "model_analyzer/features/", "tests/features/"


def changed_files(branch: str) -> Collection[str]:
    """What differs from where this branch left the other one, committed or not."""
    (base,) = _git("merge-base", branch, "HEAD")
    return {*_git("diff", "--name-only", base), *_git("ls-files", "-o", "--exclude-standard")}


def due(changed: Collection[str]) -> Collection[str]:
    """Files and folders for pytest."""
    files, touched = _files(), set[str]()
    for path in changed:
        if path.startswith(_DOCUMENTS) or path.endswith(".md"):
            continue
        if not path.startswith(CODE):
            return ALL
        touched |= {path} if path.endswith(".py") else {*_beside(path, files)}
    affected = _importers(touched, files)
    tests = {path for path in affected if Path(path).name.startswith("test_")}
    return sorted({*ALWAYS, *tests})


@cache
def _files() -> Mapping[str, Source]:
    """All code, by path."""
    every = (each for folder in CODE for each in sources(ROOT / folder))
    return {each.path.relative_to(ROOT).as_posix(): each for each in every}


def _importers(touched: Collection[str], files: Mapping[str, Source]) -> Collection[str]:
    """These files, and all that import them, themselves or by others."""
    modules = {source.module: path for path, source in files.items()}
    imports = {
        path: {modules[name] for name in _imported(path, source, files) if name in modules}
        for path, source in files.items()
    }
    affected, size = {*touched}, -1
    while size != len(affected):
        size = len(affected)
        affected |= {path for path, others in imports.items() if others & affected}
    return affected & files.keys()


def _imported(path: str, source: Source, files: Mapping[str, Source]) -> Iterator[str]:
    """The modules that a file imports; of a test also fixtures, and the program that it runs."""
    yield from source.imported
    folder = _BY_NAME.get(source.module)
    if folder:
        yield from (each.module for name, each in files.items() if name.startswith(folder))
    if path.startswith("qa/"):
        yield _PROGRAM
    if path.startswith(_TESTS_OF_FEATURES):
        own = path.replace(_TESTS_OF_FEATURES, _FEATURES).rpartition("/")[0]
        yield from (each.module for name, each in files.items() if name.startswith(f"{own}/"))
    else:
        yield from (f"{'.'.join(part.parts)}.conftest" for part in Path(path).parents)


def _beside(path: str, files: Collection[str]) -> Iterator[str]:
    """All code in the nearest folder above a file that has some."""
    for folder in Path(path).parents:
        found = [name for name in files if name.startswith(f"{folder}/")]
        if found:
            return iter(found)
    return iter(())


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return ended.stdout.split()


if __name__ == "__main__":
    print(*due(changed_files(*sys.argv[1:] or ["main"])), sep="\n")
