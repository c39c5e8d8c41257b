# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the nodes of a cluster, before a run measures on them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.hardware import WITHOUT_GPU, kind_text
from model_analyzer.domain.words import with_error
from model_analyzer.features.doctor.findings import Finding, Level, finding_document

# the layout that docs/guides/cluster.md describes
_VERSION = 1

_MOST_OFFSET_MS = 500.0
_LEAST_FREE_GIB = 0.5
_MEMORY_TOLERANCE = 0.1

# follows the version of a program that a node does not have yet
INSTALLED_BY_RUN = "(installed by the run)"

_INSTALL_SAME = "install the same version on all nodes"
_CHOOSE_EQUAL = "choose equal nodes with --slot-label"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The time of a node minus that of the driver; the error is at most half of the round trip."""

    offset_ms: float
    half_round_trip_ms: float

    def __str__(self) -> str:
        return f"{with_error(self.offset_ms, self.half_round_trip_ms, sign='+')} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """What a node says about itself. Programs that are missing have the version ""; if the run will
    install them, INSTALLED_BY_RUN follows their version.

    `gpus` are names. `repository` is what the node sees of a model repository with a URL ("" for
    nothing), otherwise None. `models` are fingerprints by name, "" for a model that is missing.
    `niceness` and `threads` (OMP_NUM_THREADS, "" if not set) are those of the programs of a slot.
    """

    analyzer: str
    python: str
    ray: str
    server: str
    perf_analyzer: str
    gpus: tuple[str, ...]
    gpu_driver: str
    processor: str
    cores: int
    governor: str
    memory_gib: float
    niceness: int
    threads: str
    free_gib: float
    repository: str | None
    models: Mapping[str, str]
    findings: tuple[tuple[str, Finding], ...]

    @property
    def kind(self) -> str:
        """The kind of hardware, in words."""
        return kind_text(sorted(self.gpus))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedNode:
    """A node that would have `slots`. Without a `report`, `silence` says why there is none."""

    name: str
    slots: int
    clock: Clock | None = None
    report: NodeReport | None = None
    silence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A property, with the nodes that have each value; and what to do, if anything."""

    name: str
    level: Level
    values: Mapping[str, tuple[str, ...]]
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeComparison:
    """The nodes with slots; the others, each with the reason; the rows of the table; the warnings
    and problems of the doctor, with the nodes; and `problem`, why the slots do not fit, or "".
    """

    nodes: tuple[ExaminedNode, ...]
    without: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    findings: tuple[tuple[str, Finding, tuple[str, ...]], ...]
    problem: str = ""

    @property
    def can_start(self) -> bool:
        """Whether a run would start its slots."""
        return not self.problem and Level.PROBLEM not in self.levels

    @property
    def levels(self) -> Sequence[Level]:
        """Those of all rows and findings."""
        return [row.level for row in self.rows] + [f.level for _, f, _ in self.findings]


def compare_nodes(
    nodes: Sequence[ExaminedNode], without: Sequence[tuple[str, str]], problem: str = ""
) -> NodeComparison:
    """The comparison of all nodes that gave a report; `without` are nodes without a slot."""
    return NodeComparison(
        nodes=tuple(nodes),
        without=tuple(without),
        rows=(*_rows(nodes),),
        findings=_grouped_findings(nodes),
        problem=problem,
    )


def _rows(nodes: Sequence[ExaminedNode]) -> Iterator[Row]:
    silent = {node.name: node.silence for node in nodes if node.report is None}
    if silent:
        fix = "look at the node with `ray status`; equal versions of model-analyzer are needed"
        yield Row(name="answer", level=Level.PROBLEM, values=_by_value(silent), fix=fix)
    reports = {node.name: node.report for node in nodes if node.report is not None}
    clocks = {node.name: node.clock for node in nodes if node.clock is not None}
    if not reports:
        return

    def row(
        name: str,
        value: Callable[[NodeReport], str],
        fix: str,
        level: Level = Level.WARNING,
        is_bad: Callable[[NodeReport], bool] | None = None,
    ) -> Row:
        """A row whose values must be equal, or if `is_bad` is given, must not be bad."""
        values = _by_value({node: value(report) for node, report in reports.items()})
        bad = len(values) > 1 if is_bad is None else any(map(is_bad, reports.values()))
        return _judged(name, values, bad=bad, level=level, fix=fix)

    yield row("model-analyzer", lambda r: r.analyzer, _INSTALL_SAME, Level.PROBLEM)
    yield row("Python", lambda r: r.python, _INSTALL_SAME, Level.PROBLEM)
    yield row("Ray", lambda r: r.ray, _INSTALL_SAME, Level.PROBLEM)
    yield _program("tritonserver", {node: r.server for node, r in reports.items()})
    yield _program("perf_analyzer", {node: r.perf_analyzer for node, r in reports.items()})
    yield _judged(
        "clock",
        _by_value({node: str(clock) for node, clock in clocks.items()}),
        bad=any(
            abs(clock.offset_ms) - clock.half_round_trip_ms > _MOST_OFFSET_MS
            for clock in clocks.values()
        ),
        fix="`timedatectl set-ntp true` (as root)",
    )
    yield row("GPUs", lambda r: r.kind, "", is_bad=lambda r: False)  # each kind is searched
    yield row("GPU driver", lambda r: r.gpu_driver or "none", "install the same driver")
    yield from _hardware(reports)
    yield row(
        "CPU governor",
        lambda r: r.governor or "unknown",
        "`cpupower frequency-set -g performance` (as root)",
    )
    yield row(
        "niceness",
        lambda r: str(r.niceness),
        "start Ray there with `RAY_worker_niceness=0 ray start …`",
        is_bad=lambda r: r.niceness > 0,
    )
    yield row("OMP_NUM_THREADS", lambda r: r.threads or "not set", "set it equally")
    yield row(
        "free disk",
        lambda r: f"{r.free_gib:.1f} GiB",
        "free some space, or choose another directory with TMPDIR where Ray is started",
        is_bad=lambda r: r.free_gib < _LEAST_FREE_GIB,
    )
    stored = {
        node: report.repository for node, report in reports.items() if report.repository is not None
    }
    if stored:
        yield _judged(
            "model repository",
            _by_value({node: text or "not visible" for node, text in stored.items()}),
            bad=len(set(stored.values())) > 1 or "" in stored.values(),
            level=Level.PROBLEM,
            fix="each node fetches it: give all of them access and credentials",
        )
    for name in dict.fromkeys(name for report in reports.values() for name in report.models):
        digests = {node: report.models.get(name, "") for node, report in reports.items()}
        yield _judged(
            f"model {name}",
            _by_value({node: digest[:12] or "missing" for node, digest in digests.items()}),
            bad=len(set(digests.values())) > 1 or "" in digests.values(),
            level=Level.PROBLEM,
            fix="give all nodes the same files, at the path of --model-repository",
        )


def _hardware(reports: Mapping[str, NodeReport]) -> Iterator[Row]:
    """What else the nodes of a kind of hardware must have in common. Without GPUs, a run does not
    start if processors differ.
    """
    kinds: dict[str, list[NodeReport]] = {}
    for report in reports.values():
        kinds.setdefault(report.kind, []).append(report)

    def same(name: str, value: Callable[[NodeReport], str]) -> Row:
        differing = [kind for kind, own in kinds.items() if len(set(map(value, own))) > 1]
        return _judged(
            name,
            _by_value({node: value(report) for node, report in reports.items()}),
            bad=bool(differing),
            level=Level.PROBLEM if WITHOUT_GPU in differing else Level.WARNING,
            fix=_CHOOSE_EQUAL,
        )

    yield same("processor", lambda report: report.processor)
    yield same("cores", lambda report: str(report.cores))
    memory = [[each.memory_gib for each in own] for own in kinds.values()]
    yield _judged(
        "memory",
        _by_value({node: f"{report.memory_gib:.0f} GiB" for node, report in reports.items()}),
        bad=any(min(own) < (1 - _MEMORY_TOLERANCE) * max(own) for own in memory),
        fix=_CHOOSE_EQUAL,
    )


def _program(name: str, versions: Mapping[str, str]) -> Row:
    present = {version.removesuffix(f" {INSTALLED_BY_RUN}") for version in versions.values()}
    return _judged(
        name,
        _by_value({node: version or "missing" for node, version in versions.items()}),
        bad=len(present) > 1 or "" in present,
        level=Level.PROBLEM,
        fix="`model-analyzer runtime install` there, --runtime-install, or the same version at the"
        " same path",
    )


def _judged(
    name: str,
    values: Mapping[str, tuple[str, ...]],
    *,
    bad: bool,
    fix: str,
    level: Level = Level.WARNING,
) -> Row:
    return Row(name=name, level=level if bad else Level.OK, values=values, fix=fix if bad else "")


def _by_value(values: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    nodes: dict[str, tuple[str, ...]] = {}
    for node, value in values.items():
        nodes[value] = (*nodes.get(value, ()), node)
    return nodes


def _grouped_findings(
    nodes: Sequence[ExaminedNode],
) -> tuple[tuple[str, Finding, tuple[str, ...]], ...]:
    """Warnings and problems, each once, with the nodes that have it."""
    hosts: dict[tuple[str, Finding], tuple[str, ...]] = {}
    for node in nodes:
        for pair in node.report.findings if node.report is not None else ():
            if pair[1].level is not Level.OK:
                hosts[pair] = (*hosts.get(pair, ()), node.name)
    return tuple((subject, finding, names) for (subject, finding), names in hosts.items())


def document_of(comparison: NodeComparison) -> Mapping[str, Any]:
    """The comparison for programs."""
    return {
        "version": _VERSION,
        "can_start": comparison.can_start,
        "problem": comparison.problem or None,
        "nodes": [
            {"node": node.name, "slots": node.slots, "silence": node.silence or None}
            for node in comparison.nodes
        ],
        "without_slots": [{"node": name, "reason": reason} for name, reason in comparison.without],
        "rows": [
            {
                "name": row.name,
                "level": row.level.value,
                "values": [
                    {"value": value, "nodes": list(names)} for value, names in row.values.items()
                ],
                "fix": row.fix or None,
            }
            for row in comparison.rows
        ],
        "findings": [
            {"nodes": list(names), **finding_document(subject, finding)}
            for subject, finding, names in comparison.findings
        ],
    }
