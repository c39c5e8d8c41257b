# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints with right checksums and wrong content, and what must hold for all of them.

Shared by the tests, which try some and all that ever failed (tests/golden/hostile), and by
tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from model_analyzer import Checkpoint
from model_analyzer.app.resume import log_changed_secrets
from model_analyzer.cli.program import run
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.profiling.loop import profile
from model_analyzer.runner.trial_runner import LocalExecutor
from model_analyzer.state import checkpoint as checkpoints
from model_analyzer.state.mismatch import Run, differences
from model_analyzer.state.profile_state import ProfileState
from tests.unit.search import surfaces

GOLDEN = Path(__file__).parents[2] / "golden"
CHARTS = GOLDEN.parent / "fakes" / "charts"
OURS = (
    "checkpoints/format4/0.ckpt", "checkpoints/format4/journal", "checkpoints/format4/journal-a",
    "checkpoints/format3/0.ckpt", "checkpoints/format3/journal", "checkpoints/format3/journal-a",
    "checkpoints/format2/0.ckpt", "checkpoints/format2/journal", "masked/2026-11.ckpt",
    "checkpoints/rounds/0.ckpt",
)  # fmt: skip
UPSTREAM = tuple(f"upstream/{path.name}" for path in sorted((GOLDEN / "upstream").glob("*.ckpt")))

# Where a change is: the number of the entry from 0 (not in a file of upstream), and the keys and
# indices below it. Without "to", what is there is removed; "again" says the entry twice.
Change = Mapping[str, Any]
Example = Mapping[str, Any]

# Drawing takes longer than all else, and happens in a process of its own.
_WITHOUT_CHARTS = patch.dict(os.environ, PYTHONPATH=str(CHARTS))

_MOST_S = 60
_MOST_BYTES = 2 * 2**30


# ----------------------------------------------------------------------------------- making them


@cache
def _read(sample: str) -> str:
    text = (GOLDEN / sample).read_text(encoding="utf-8")
    if sample in UPSTREAM:
        return text
    entries = [json.loads(line) for line in text.split("\n") if line]
    for entry in entries:
        del entry["crc"]
    return json.dumps(entries)


def tree_of(sample: str) -> Any:
    """The entries of a file of ours without their checksums, or the object of upstream's."""
    return json.loads(_read(sample))


def changed(tree: Any, changes: Sequence[Change]) -> Any:
    """The tree with the changes; those are left out whose place an earlier one has removed."""
    for change in changes:
        *above, last = change["at"]
        try:
            parent = tree
            for step in above:
                parent = parent[step]
            if "again" in change:
                parent.insert(change["again"], deepcopy(parent[last]))
            elif "to" in change:
                parent[last] = deepcopy(change["to"])
            else:
                del parent[last]
        except (LookupError, TypeError, AttributeError):
            continue
    return tree


def _text(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return json.dumps(value, separators=(",", ":")).encode()


def sealed(entry: Any) -> bytes:
    """The line of an entry with the checksum that it should have."""
    raw = _text(entry)
    comma = b"," if len(raw) > 2 else b""
    return raw[:-1] + comma + b'"crc":"%08x"}\n' % zlib.crc32(raw)


def content_of(example: Example) -> bytes:
    """The file, with all its checksums right."""
    tree = changed(tree_of(example["sample"]), example["changes"])
    if example["sample"] in UPSTREAM:
        return _text(tree)
    if example.get("bare"):  # nothing that mends damage
        tree = [entry for entry in tree if _kind(entry) not in ("copy", "contents")]
    lines = [sealed(entry) for entry in tree if _kind(entry) != "end"]
    if example["sample"].endswith(".ckpt"):
        digest = hashlib.sha256(b"".join(lines)).hexdigest()
        lines.append(sealed({"entry": "end", "entries": len(lines), "digest": digest}))
    return b"".join(lines)


def _kind(entry: Any) -> Any:
    return entry.get("entry") if isinstance(entry, dict) else None


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 2.5, -0.0, 10**9, 10**30, 10**400, 2**63, -(2**63), 1e18, 1e308,
    -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), "", " ", "\0", "x" * 5000, "\ud800",
    "NaN", "1", "-1", "a,b", "../x", "/x", "a/b", "\n", "\x1b[2J", "m", "perf_throughput",
    "gpu_used_memory", "cpu_used_ram", "perf_latency_p99", "KIND_GPU", "default", "now",
    [], {}, [None], [[]], [1, 2], [1.5], ["a"], ["a", "b"], [[1, 2, 3]], [{}], {"": None},
    {"a": 1}, {"a": None}, {"a": {"a": 1}}, {"m": {}}, {"perf_throughput": 0}, {"count": -1},
)  # fmt: skip


def _nested(draw: Random) -> Any:
    deep = draw.randint(2, 150)
    opening, closing = draw.choice([("[", "]"), ('{"a":', "}")])
    return json.loads(opening * deep + "1" + closing * deep)


def _value(draw: Random) -> Any:
    match draw.randrange(10):
        case 0:
            return _nested(draw)
        case 1:
            return draw.randint(-3, 100_000)
        case 2:
            return draw.uniform(-10, 10) * 10.0 ** draw.randint(-300, 300)
    return deepcopy(draw.choice(ODD))


def example_of(samples: Sequence[str], number: int) -> Example:
    """The example with this number: a sample with a few changes, most often one."""
    draw = Random(number)
    sample = draw.choice(samples)
    tree = tree_of(sample)
    changes = []
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        changes.append(_change(draw, tree))
        tree = changed(tree, changes[-1:])
    return {
        "sample": sample,
        "bare": draw.random() < 0.5,
        "changes": changes,
        "commands": draw.sample([*COMMANDS], 8),
    }


def _change(draw: Random, tree: Any) -> Change:
    at = _place(draw, tree)
    match draw.randrange(10):
        case 0:
            return {"at": at}
        case 1 if isinstance(tree, list) and tree:
            return {"at": at[:1], "again": draw.randint(0, len(tree))}
        case 2:  # something from elsewhere
            value = tree
            for step in _place(draw, tree):
                value = value[step]
            return {"at": at, "to": deepcopy(value)}
        case 3:  # something more
            key = draw.choice(["", "a", "m", "perf_throughput", "count", "entry", "id"])
            return {"at": [*at[: draw.randint(1, len(at))], key], "to": _value(draw)}
    return {"at": at, "to": _value(draw)}


def _place(draw: Random, tree: Any) -> list[Any]:
    """Keys and indices down to anything in the tree; in each kind of entry as often."""
    at: list[Any] = []
    if isinstance(tree, list) and tree:
        kind = draw.choice(sorted({str(_kind(entry)) for entry in tree}))
        at.append(draw.choice([n for n, entry in enumerate(tree) if str(_kind(entry)) == kind]))
        tree = tree[at[0]]
    while isinstance(tree, (dict, list)) and tree and (not at or draw.randrange(6)):
        at.append(draw.choice([*tree] if isinstance(tree, dict) else range(len(tree))))
        tree = tree[at[-1]]
    return at or [0]


# ------------------------------------------------------------------------------------ using them

_CHECKPOINT = ("list", "show", "trials", "best", "verify", "stats")

# What uses a checkpoint; D is a directory with it, F its file, G is an intact one, O is for output.
COMMANDS: Mapping[str, Sequence[str]] = {
    text: text.split()
    for text in (
        *(f"checkpoint {name} -s D" for name in _CHECKPOINT),
        "checkpoint list -s D --json --sort-by perf_latency_p99",
        "checkpoint list -s D --sort-by time",
        "checkpoint stats -s D --json",
        "checkpoint verify -s D --json",
        "checkpoint show F --metric gpu_used_memory",
        "checkpoint trials -s D --where perf_latency_p99<50 --sort-by perf_throughput",
        "checkpoint trials -s D --format csv -o O/trials.csv",
        "checkpoint trials -s D --format json",
        "checkpoint best -s D --output-dir O --allow-miss --top-n 20",
        "checkpoint best -s D --metric perf_throughput:2,gpu_used_memory:1 --latency-budget 10",
        "checkpoint export -s D --format csv",
        "checkpoint export -s D --format json -o O/all.json",
        "checkpoint export -s D --format parquet -o O/all.parquet",
        "checkpoint export -s D --format upstream -o O/upstream.ckpt",
        "checkpoint metadata get -s D",
        "checkpoint metadata set -s D key value",
        "checkpoint merge D G --output-dir O",
        "checkpoint merge G D --output-dir O",
        "checkpoint import F -s O/imported",
        "checkpoint upload -s D --to O/store",
        "checkpoint download --latest --from D --output-dir O",
        "best -s D -m m",
        "best F -m m --format json",
        "best -s D -m m --diff --allow-miss",
        "best -s D -m m --format kubernetes --throughput 5000 --allow-miss",
        "best -s D -m ensemble,plain --output-dir O --allow-miss",
        "compare D G",
        "compare G D --format json",
        "compare G D --format md --strict --fail-on perf_throughput<-3%",
        "compare D D --format junit",
        "report -s D -e O -n m_config_default,m_config_3 -o html,md,json,csv,parquet,png,svg",
        "report -s D -e O -n add_sub_config_default -o html,md,json,csv",
        "--mode offline report -s D -e O -n m_config_default -o md",
        "analyze --profile-models m -s D -e O -o html,md,json,csv,parquet",
        "analyze --profile-models add_sub -s D -e O -o html,md,json,csv",
        "analyze --profile-models ensemble,plain -s D -e O -o html,md",
        "resume",
        "open",
    )
}  # fmt: skip


class Standing:
    """A directory in which one checkpoint is used in all ways."""

    def __init__(self, directory: Path, example: Example) -> None:
        self.root = directory
        self.checkpoints = directory / "D"
        self.checkpoints.mkdir()
        name = Path(example["sample"]).name
        is_numbered = name == "0.ckpt" or not name.startswith("journal")
        self.file = self.checkpoints / ("0.ckpt" if is_numbered else name)
        self.file.write_bytes(content_of(example))
        shutil.copytree(GOLDEN / "checkpoints" / "format3", directory / "G")

    def use(self, command: str) -> tuple[int, str, str]:
        """Exit status, output and error output of a command."""
        if command == "resume":
            return self._resume(), "", ""
        if command == "open":
            return self._open(), "", ""
        out = self.root / "O"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        used = self.root / "used"  # some write
        shutil.rmtree(used, ignore_errors=True)
        shutil.copytree(self.checkpoints, used)
        places = {"D": str(used), "F": str(used / self.file.name), "G": "G"}
        words = [
            places.get(word, word.replace("O/", f"{out}/") if word != "O" else str(out))
            for word in COMMANDS[command]
        ]
        return called(words, self.root)

    def _resume(self) -> int:
        """A run that answers what it can from the checkpoint, and measures the rest."""
        used = self.root / "resumed"
        shutil.rmtree(used, ignore_errors=True)
        shutil.copytree(self.checkpoints, used)
        try:
            for mode in (SearchMode.BRUTE, SearchMode.QUICK, SearchMode.ADAPTIVE):
                _search(used, mode)
        except CheckpointError:
            return 1
        loaded = checkpoints.load(used)
        reread = {*checkpoints.read_file(max(used.glob("*.ckpt"), key=_number)).records.keys()}
        assert reread == {*loaded.records.keys()}
        return 0

    def _open(self) -> int:
        try:
            opened = Checkpoint.open(self.file)
        except CheckpointError:
            return 1
        opened.to_pandas()
        assert Checkpoint.from_bytes(opened.to_bytes()).holds_same_as(opened)
        return 0


def _number(path: Path) -> int:
    return int(path.stem)


def _search(directory: Path, mode: SearchMode) -> None:
    facts = surfaces.model("m", max_batch_size=2)
    subject = surfaces.subject(facts, constraints=[surfaces.latency_within(40.0)])
    setup = ServerSetup(version="2.51.0", devices=("A100", "A100"))
    subject = replace(subject, setup=setup)
    bounds: dict[str, Any] = {"concurrency": (1, 2), "instances": (1, 2), "batch": (1, 2)}
    with ProfileState(directory, retry_failed=mode is SearchMode.QUICK) as state:
        names = VariantNames.known(state.profile.variants)
        log_changed_secrets(state, {"m": setup})
        run = Run(
            machines=(),
            ignores_gpus=False,
            server="2",
            models=[facts],
            searches={"m": {"search.mode": "x"}},
        )
        [*map(str, differences(state.checkpoint, run))]
        state.record_search("m", {"search.mode": mode.value}, subject.goal, subject.bases)
        search = surfaces.search(
            subject,
            surfaces.limits(**bounds, mode=mode),
            quick=surfaces.bounds(**bounds),
            names=names,
        )
        for _ in profile(
            {subject.lane: search}, LocalExecutor(_Runner(), subject.setup.kind), state
        ):
            pass
        if search.conclusion is not None:
            state.record_conclusion(subject.lane, search.conclusion)
        state.save()


class _Runner:
    """Measures more the more there is."""

    def run(self, trial: Trial) -> Any:
        (work,) = trial.workloads
        return surfaces.measurement(100.0 + work.load.value * work.variant.max_batch_size)


def called(words: Sequence[str], directory: Path) -> tuple[int, str, str]:
    """Runs the program in this process: a traceback is an exception here."""
    output, errors = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
    loggers = [logging.getLogger(), logging.getLogger("model_analyzer")]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    previous = os.getcwd()
    os.chdir(directory)
    try:
        with (
            patch.object(sys, "argv", ["model-analyzer", *words]),
            redirect_stdout(output),
            redirect_stderr(errors),
        ):
            loggers[0].handlers, loggers[1].handlers = [], []
            status = run()
    finally:
        os.chdir(previous)
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers, logger.level, logger.propagate = handlers, level, propagate
    texts = []
    for stream in (output, errors):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return status, texts[0], texts[1]


# ------------------------------------------------------------------------------ what must hold

_DAMAGED = re.compile(r"is damaged \(|cannot be used|nothing can be read|by a newer model-analyzer")


def check_checkpoint(example: Example) -> None:
    """Every use of it ends, in bounds of time and memory, with what can be read or one line that
    says why not; and `verify` says of damage what the others do.
    """
    commands = example.get("commands") or COMMANDS
    with tempfile.TemporaryDirectory() as scratch, _bounded(), _WITHOUT_CHARTS:
        standing = Standing(Path(scratch), example)
        status, output, _ = standing.use("checkpoint verify -s D")
        assert status in (0, 1)
        assert output.isprintable() or "\n" in output
        is_damaged = status == 1
        for command in ("checkpoint list -s D --json", *commands):
            try:
                _check(standing, command, is_damaged)
            except Exception as error:
                raise AssertionError(f"in {command}") from error


def _check(standing: Standing, command: str, is_damaged: bool) -> None:
    if command not in COMMANDS:
        return
    status, output, errors = standing.use(command)
    assert status in (0, 1, 2, 3)
    assert "Traceback" not in output + errors
    if status in (1, 2) and "verify" not in command and not output:
        assert errors.strip() or command in ("resume", "open"), "it fails and does not say why"
    damage = _DAMAGED.search(output + errors)
    assert is_damaged or not damage, f"verify says nothing of: {errors}"
    if command.startswith(("report", "analyze")) and is_damaged:
        assert damage, f"verify alone says that it is damaged: {errors}"


@contextmanager
def _bounded() -> Iterator[None]:
    """Inside, what takes too long or too much memory is an exception."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {_MOST_S} s")

    handler = signal.signal(signal.SIGALRM, late)
    signal.alarm(_MOST_S)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


# Each example is as likely as any other: what Hypothesis draws piece by piece is much alike.
CHECKPOINTS = st.integers(0, 2**63).map(partial(example_of, OURS))
UPSTREAM_CHECKPOINTS = st.integers(0, 2**63).map(partial(example_of, UPSTREAM))
