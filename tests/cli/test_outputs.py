# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What commands say and write about checkpoints of every kind, word for word.

The texts are in tests/golden/outputs: a folder for each checkpoint, a file for each output.
`make goldens` writes them again, and git shows what has changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path

import pytest

from conftest import without_charts
from model_analyzer import __version__
from tests.cli.conftest import StringOutput, in_process
from tests.cli.measured import CHECKPOINTS, MODELS, write_base
from tests.goldens import check_folder

# The commands, by the name of their golden file.
COMMANDS: Mapping[str, Sequence[str]] = {
    "show.txt": ("checkpoint", "show"),
    "trials.txt": ("checkpoint", "trials"),
    "checkpoint_best.txt": ("checkpoint", "best", "-v"),
    "best.txt": ("best", "-v"),
    "best.diff": ("best", "--diff"),
    "capacity.txt": ("capacity", "--rate", "500"),
    "explain.txt": ("explain",),
    "compare.txt": ("compare", "../base", "checkpoints"),
    "fleet.txt": ("report", "--fleet", "-e", "fleet"),
}
ANALYZE = (
    "analyze", "-m", "models", "-e", "out", "-o", "html,md,csv,json",
    "--num-configs-per-model", "1", "--profile-models",
)  # fmt: skip
COMPARE = ("compare", "../base", "checkpoints", "--fail-on", "perf_throughput<-3%", "--format")
CAPACITY = ("capacity", "--rate", "500", "--format")
TRIALS = {
    "trials.csv": ("checkpoint", "trials", "--format", "csv"),
    "export.csv": ("checkpoint", "export", "--format", "csv"),
}

# Formats of commands, for the checkpoints that have most to show in them.
MORE: Mapping[str, Mapping[str, Sequence[str]]] = {
    "closed": {
        **TRIALS,
        "best.yaml": ("best", "--format", "kubernetes", "--throughput", "500"),
        "compare.md": (*COMPARE, "md"),
        "compare.json": (*COMPARE, "json"),
        "compare.xml": (*COMPARE, "junit"),
        "compare_page.txt": (*COMPARE, "html", "-o", "compare.html"),
    },
    "ensemble": {**TRIALS, "best.yaml": ("best", "--format", "kubernetes")},
    "together": {**TRIALS, "best.yaml": ("best", "--format", "kubernetes")},
    "two_kinds": {
        **TRIALS,
        "compare.md": (*COMPARE, "md"),
        "capacity.md": (*CAPACITY, "md"),
        "explain.json": ("explain", "--format", "json"),
    },
    "open_loads": {
        "capacity.md": (*CAPACITY, "md"),
        "capacity.json": (*CAPACITY, "json"),
        "capacity_hpa.yaml": (*CAPACITY, "hpa"),
        "capacity_keda.yaml": (*CAPACITY, "keda"),
        "capacity_helm.yaml": (*CAPACITY, "helm"),
    },
    "queueing": {"explain.json": ("explain", "--format", "json")},
}

_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?([.\d]*)( UTC|Z|[+-]\d\d:\d\d)?")
_NAMES = re.compile(
    r"(?<=\()[0-9a-f]{8}(?=, TIME)|\b[0-9a-f]{32}\b"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
_BLOCK = re.compile(
    r"</?(p|h\d|li|tr|table|summary|details|figure|figcaption|div|section|dt|pre|title|nav)\b[^>]*>"
)


def normalised(text: str, directory: Path) -> str:
    """The text without what differs between machines and runs."""
    for path in map(str, (directory, directory.parent)):
        text = text.replace(path, "DIR").replace(path.replace("_", r"\_"), "DIR")
    text = _NAMES.sub("NAME", _TIME.sub("TIME", text.replace(__version__, "VERSION")))
    text = re.sub(r"\d+\.\d{7,}", lambda number: f"{float(number[0]):.6g}", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def text_of(page: str) -> str:
    """What a reader sees of a page, a line for each part of it; without drawings and scripts."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    kept, *preformatted = re.split(r"(<pre\b.*?</pre>)", page, flags=re.DOTALL)
    parts = [re.sub(r"\s+", " ", kept)]
    for place, part in enumerate(preformatted):
        parts.append(re.sub(r"\s+", " ", part) if place % 2 else part)
    page = _BLOCK.sub("\n", re.sub(r"<t[dh]\b[^>]*>", " | ", "".join(parts)))
    page = unescape(re.sub(r"<[^>]*>", "", re.sub(r"<(br|span|button|a|dd)\b[^>]*>", " ", page)))
    return "\n".join(filter(None, (line.strip() for line in page.split("\n"))))


def compact(text: str) -> str:
    """A document with a line for each of its parts, without the catalogue of metrics."""
    document = {key: part for key, part in json.loads(text).items() if key != "metrics"}
    lines = [f"{key}: {part}" for key, part in document.items() if key != "models"]
    for model in document["models"]:
        lines += [f"  {key}: {json.dumps(part, ensure_ascii=False)}" for key, part in model.items()]
    return "\n".join(lines)


def written(directory: Path) -> Iterator[tuple[str, str]]:
    """The files that say something of their own, by the name of their golden file."""
    paths = {*directory.glob("out/re*/**/*"), *directory.glob("fleet/reports/index.html")}
    for path in sorted({*paths, *directory.glob("*.html")}):
        place = path.relative_to(directory).parts
        name = "_".join(place[3 if "reports" in place else 2 :]) or path.name
        if path.suffix == ".html":
            yield f"{name}.txt", text_of(path.read_text())
        elif path.name == "results.json":
            yield name, compact(path.read_text())
        elif path.suffix in (".md", ".csv"):
            yield name, path.read_text()


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_what_commands_say_is_as_ever(tmp_path: Path, name: str) -> None:
    directory = tmp_path / name
    CHECKPOINTS[name](directory / "checkpoints")
    write_base(tmp_path / "base")
    environment = without_charts({**os.environ, "COLUMNS": "160"})
    outputs = {}

    for file, command in {
        **COMMANDS,
        "analyze.txt": (*ANALYZE, *MODELS.get(name, ["m"])),
        **MORE.get(name, {}),
    }.items():
        with StringOutput() as output, StringOutput() as errors:
            status = in_process(command, environment, directory, output, errors)
            said = "".join(f"! {line}\n" for line in errors.text.splitlines())
            outputs[file] = f"{said}{output.text}! exit status {status}\n"
    outputs |= written(directory)

    texts = {file: normalised(text, directory) for file, text in outputs.items()}
    check_folder(f"outputs/{name}", texts)
