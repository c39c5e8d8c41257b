# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the shape of the package: how large it is, and what is far apart.

    python tools/shape.py

tests/test_architecture.py has a limit for each number, so that none grows unnoticed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "model_analyzer"

SMALL, SHORT, MANY = 40, 110, 20


@dataclass(frozen=True)
class Source:
    """A file of Python, with the modules that it imports."""

    path: Path
    lines: Sequence[str]

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """The whole syntax tree."""
        return [*ast.walk(ast.parse("\n".join(self.lines)))]

    @property
    def module(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in self.nodes if isinstance(node, ast.ClassDef))

    @property
    def imported(self) -> set[str]:
        """Modules of the package, and names in them, that may be modules."""
        names = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {str(node.module), *(f"{node.module}.{each.name}" for each in node.names)}
        return names - {self.module}

    @property
    def import_lines(self) -> int:
        nodes = (n for n in self.nodes if isinstance(n, ast.Import | ast.ImportFrom))
        return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def sources(directory: Path) -> list[Source]:
    """All files below a directory, but the example models that users get."""
    paths = sorted(path for path in directory.rglob("*.py") if "starter" not in path.parts)
    return [Source(path, path.read_text().splitlines()) for path in paths]


def shape() -> dict[str, float]:
    """Each number of the table, by what it counts."""
    files = sources(PACKAGE)
    lines = sum(len(each.lines) for each in files)
    imported = [each.imported for each in files]
    importers = {each.module: sum(each.module in names for names in imported) for each in files}
    plain = [each for each in files if each.path.name not in ("__init__.py", "__main__.py")]
    once = [each for each in plain if importers[each.module] == 1]
    return {
        "lines": lines,
        "lines of the core, without features": lines - _lines_in(PACKAGE / "features", files),
        "files": len(plain),
        "files that one other imports": len(once),
        f"of these, files of up to {SHORT} lines": sum(len(each.lines) <= SHORT for each in once),
        f"files under {SMALL} lines": sum(len(each.lines) < SMALL for each in plain),
        "imports, % of lines": round(100 * sum(each.import_lines for each in files) / lines, 1),
        "names of classes used twice": _repeated(c.name for f in files for c in f.classes),
        "names of files used twice": _repeated(each.path.name for each in plain),
        "lines of domain": _lines_in(PACKAGE / "domain", files),
        "files with SearchMode.": _naming("SearchMode.", files),
        "files with OutputFormat.": _naming("OutputFormat.", files),
        f"classes with over {MANY} methods": sum(
            sum(isinstance(node, ast.FunctionDef) for node in each.body) > MANY
            for file in files
            for each in file.classes
        ),
        "lines of tests": sum(len(each.lines) for each in sources(ROOT / "tests")),
    }


def _lines_in(directory: Path, files: Sequence[Source]) -> int:
    return sum(len(each.lines) for each in files if each.path.is_relative_to(directory))


def _repeated(names: Iterator[str]) -> int:
    return sum(count > 1 for count in Counter(names).values())


def _naming(text: str, files: Sequence[Source]) -> int:
    return sum(any(text in line for line in each.lines) for each in files)


if __name__ == "__main__":
    for name, value in shape().items():
        print(f"{name:40} {value:>9,}")
