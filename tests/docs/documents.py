# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ say, taken apart: commands, flags, blocks and links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

# A comment before a fence says that a test runs what is in it.
_FENCE = re.compile(
    r"^(<!-- run by a test -->\n)?```(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)
_PROMPT = "$ "


@dataclass(frozen=True)
class Block:
    """Text set as code: a fence with its language and the rest of its first line, or an indented
    block.
    """

    language: str
    title: str
    text: str
    is_marked: bool = False

    @property
    def commands(self) -> Sequence[str]:
        """Its shell commands: those after a prompt, all lines of `sh`, or those of this program."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        is_session = any(line.startswith(_PROMPT) for line in lines)
        if is_session:
            return [line.removeprefix(_PROMPT) for line in lines if line.startswith(_PROMPT)]
        if self.language == "sh":
            return lines
        return (
            []
            if self.language
            else [command for command in lines if command.startswith("model-analyzer ")]
        )

    @property
    def session(self) -> Sequence[str]:
        """The commands that a test runs: those after a prompt, or of a block that is marked."""
        return self.commands if self.is_marked or self.text.startswith(_PROMPT) else ()


def blocks(document: Path) -> Iterator[Block]:
    """All code blocks, in their order."""
    text = document.read_text(encoding="utf-8")
    place = 0
    for fence in _FENCE.finditer(text):
        yield from _indented(text[place : fence.start()])
        yield Block(fence[2], fence[3].strip(), fence[4], bool(fence[1]))
        place = fence.end()
    yield from _indented(text[place:])


def _indented(text: str) -> Iterator[Block]:
    for match in _INDENTED.finditer(text):
        lines = [line[4:] for line in match[0].strip("\n").splitlines()]
        yield Block("", "", "\n".join(lines) + "\n")


def words_of(command: str) -> Sequence[str]:
    """A command without its comment and where its output goes, as words."""
    lexer = shlex.shlex(re.sub(r" 2>\s*\S+", "", command), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)
    ends = [index for index, word in enumerate(words) if word in {"|", "&&", ";", ">", "<"}]
    return words[: min(ends, default=None)]


def parts_of(command: str) -> Iterator[Sequence[str]]:
    """The commands of a line with `&&`."""
    for part in command.split("&&"):
        yield words_of(part)
