# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Judges the runs of a search mode: a verdict for each run, and their summary as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

import numpy as np

from benchmarks.search.drive import Moment, Run
from benchmarks.search.families import is_constrained
from benchmarks.search.machine import Point
from benchmarks.search.surface import Surface
from benchmarks.search.truth import Truth
from model_analyzer.domain.trials import LoadKind

# A load is too high if this part of it has the same merit, up to this share.
_QUARTER, _AS_MUCH = 4, 0.01

# A recommendation may break a constraint by noise: at most this number of standard deviations.
_TOLERANCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One run, judged by the true values of its recommendation.

    `value` is its share of the best of the grid, from 0 (it breaks a constraint by more than noise,
    or has no answer) to 1 (capped, since loads between those of the grid may be better).
    `value_any_load` is its share of the best under any load. `value_strict` is like `value`, but 0
    for any broken constraint. All are None if nothing is feasible. `answered`: it claims to meet
    the constraints. `chance`: its stated probability of a better configuration. `beaten`: by its
    own measurements, a different configuration is better and truly meets the constraints;
    `doubted`: or only measured so. `crowded`: a quarter of the requests in flight would give the
    same merit.
    """

    surface: str
    family: str
    mode: str
    seed: int
    constrained: bool
    exists: bool
    answered: bool
    breaks: bool
    value: float | None
    value_any_load: float | None
    value_strict: float | None
    measurements: int
    share: float
    variants: int
    variants_share: float
    loads: int
    server_starts: int
    seconds: float
    chance: float | None
    beaten: bool
    doubted: bool
    crowded: bool
    thinking_s: Sequence[float] = field(repr=False)


def judge(surface: Surface, truth: Truth, mode: str, seed: int, run: Run) -> Verdict:
    """The verdict on a run of `mode`."""
    best, best_any = truth.best.merit, truth.best_under_any_load.merit
    merit, excess = _merit_and_excess(truth, run.recommended if run.passes else None)
    hidden = _TOLERANCE * surface.noise.sigma

    def share_of(whole: float | None, allowed: float) -> float | None:
        return None if whole is None else _share(merit, excess, whole, allowed)

    return Verdict(
        surface=surface.name,
        family=surface.family,
        mode=mode,
        seed=seed,
        constrained=is_constrained(surface),
        exists=best is not None,
        answered=run.passes,
        breaks=excess > hidden,
        value=share_of(best, hidden),
        value_any_load=share_of(best_any, hidden),
        value_strict=share_of(best, 0.0),
        measurements=run.measurements,
        share=run.measurements / truth.size,
        variants=run.variants,
        variants_share=run.variants / len(truth.variants),
        loads=run.loads,
        server_starts=run.server_starts,
        seconds=run.seconds,
        chance=run.chance,
        beaten=any(truth.excess_of(point) == 0 for point in run.better),
        doubted=len(run.better) > 0,
        crowded=merit is not None and _is_crowded(truth, run.recommended, merit),
        thinking_s=run.thinking_s,
    )


def value_of(surface: Surface, truth: Truth, moment: Moment) -> float | None:
    """The `Verdict.value` of a recommendation on the way."""
    if truth.best.merit is None:
        return None
    merit, excess = _merit_and_excess(truth, moment.recommended if moment.passes else None)
    return _share(merit, excess, truth.best.merit, _TOLERANCE * surface.noise.sigma)


def _merit_and_excess(truth: Truth, point: Point | None) -> tuple[float | None, float]:
    """The merit of a recommendation, and by how much it breaks a constraint."""
    return (None, 0.0) if point is None else (truth.merit_of(point), truth.excess_of(point))


def _share(merit: float | None, excess: float, whole: float, allowed: float) -> float:
    if merit is None or excess > allowed:
        return 0.0
    return min(math.exp(merit - whole), 1.0)


def _is_crowded(truth: Truth, recommended: Point | None, merit: float) -> bool:
    """Whether a quarter of the requests in flight has the same merit, and meets the constraints."""
    if recommended is None or any(
        client.kind is not LoadKind.CONCURRENCY or client.values[0] < _QUARTER
        for client in recommended.clients
    ):
        return False
    clients = [
        replace(client, values=np.ceil(client.values / _QUARTER)) for client in recommended.clients
    ]
    fewer = replace(recommended, clients=clients)
    quarter = truth.merit_of(fewer)
    return quarter is not None and quarter >= merit - _AS_MUCH and truth.excess_of(fewer) == 0


def worst_tenth(values: Sequence[float]) -> float:
    """The mean of the lowest tenth, at least one value."""
    return float(np.mean(sorted(values)[: math.ceil(len(values) / 10)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The runs of a mode on surfaces of one kind. Values are shares (1: the best). Counts are means
    over the runs, except `beaten` and `doubted`, which are numbers of runs. Decision times are over
    all trials of all runs, in milliseconds.

    If nothing is feasible, there are no values, and `no_answer` is correct.
    """

    kind: str
    mode: str
    surfaces: int
    runs: int
    mean: float | None
    worst_tenth: float | None
    mean_any_load: float | None
    worst_tenth_any_load: float | None
    mean_strict: float | None
    no_answer: float
    breaks: float
    beaten: int
    doubted: int
    crowded: float
    measurements: float
    share: float
    variants_share: float
    loads: float
    server_starts: float
    seconds: float
    decide_median_ms: float | None
    decide_p99_ms: float | None


KINDS = ("without constraints", "with constraints", "none feasible")


def kind_of(verdict: Verdict) -> str:
    if not verdict.exists:
        return KINDS[2]
    return KINDS[1] if verdict.constrained else KINDS[0]


def summarize(verdicts: Iterable[Verdict], modes: Sequence[str]) -> Sequence[Summary]:
    """A summary for each kind of surface and each mode that ran on it, in this order."""
    groups: Mapping[tuple[str, str], list[Verdict]] = {
        (kind, mode): [] for kind in KINDS for mode in modes
    }
    for verdict in verdicts:
        groups[kind_of(verdict), verdict.mode].append(verdict)
    return [_summary(*key, runs) for key, runs in groups.items() if runs]


def _summary(kind: str, mode: str, runs: Sequence[Verdict]) -> Summary:
    values = [run.value for run in runs if run.value is not None]
    any_load = [run.value_any_load for run in runs if run.value_any_load is not None]
    strict = [run.value_strict for run in runs if run.value_strict is not None]
    thinking = [1000 * seconds for run in runs for seconds in run.thinking_s]

    def mean(numbers: Iterable[float]) -> float:
        return float(np.mean([*numbers]))

    return Summary(
        kind=kind,
        mode=mode,
        surfaces=len({run.surface for run in runs}),
        runs=len(runs),
        mean=mean(values) if values else None,
        worst_tenth=worst_tenth(values) if values else None,
        mean_any_load=mean(any_load) if values else None,
        worst_tenth_any_load=worst_tenth(any_load) if values else None,
        mean_strict=mean(strict) if values else None,
        no_answer=mean(not run.answered for run in runs),
        breaks=mean(run.breaks for run in runs),
        beaten=sum(run.beaten for run in runs),
        doubted=sum(run.doubted for run in runs),
        crowded=mean(run.crowded for run in runs),
        measurements=mean(run.measurements for run in runs),
        share=mean(run.share for run in runs),
        variants_share=mean(run.variants_share for run in runs),
        loads=mean(run.loads for run in runs),
        server_starts=mean(run.server_starts for run in runs),
        seconds=mean(run.seconds for run in runs),
        decide_median_ms=float(np.median(thinking)) if thinking else None,
        decide_p99_ms=float(np.quantile(thinking, 0.99)) if thinking else None,
    )


# The gain that counts as better, and the ranges of chances.
_BETTER = 0.03
_CHANCES = (0.0, 0.1, 0.25, 0.5, 1.0)


def calibration(verdicts: Iterable[Verdict]) -> str:
    """A table that compares the stated chances of a better configuration with how often there was
    one; "" if no search stated a chance.
    """
    said = [
        (run.chance, run.value_any_load < 1 - _BETTER)
        for run in verdicts
        if run.chance is not None and run.value_any_load is not None
    ]
    lines = [
        "### Something more than 3 % better remains",
        "",
        _row(["said", "runs", "mean of what was said", "it did"]),
        _row(["---", "--:", "--:", "--:"]),
    ]
    for low, high in pairwise(_CHANCES):
        those = [
            (chance, remained)
            for chance, remained in said
            if low <= chance < high or chance == high == 1
        ]
        if those:
            mean, share = (float(np.mean(numbers)) for numbers in zip(*those, strict=True))
            lines.append(
                _row([f"{low:.0%} to {high:.0%}", str(len(those)), f"{mean:.0%}", f"{share:.0%}"])
            )
    return "\n".join([*lines, ""]) if said else ""


_COLUMNS = (
    ("mode", "mode", "{}"),
    ("surfaces", "surfaces", "{}"),
    ("runs", "runs", "{}"),
    ("mean", "mean", "{:.1%}"),
    ("worst_tenth", "worst tenth", "{:.1%}"),
    ("mean_any_load", "mean, any load", "{:.1%}"),
    ("worst_tenth_any_load", "worst tenth, any load", "{:.1%}"),
    ("mean_strict", "mean, strictly", "{:.1%}"),
    ("no_answer", "no answer", "{:.1%}"),
    ("breaks", "breaks it", "{:.1%}"),
    ("beaten", "beaten", "{}"),
    ("doubted", "or by luck", "{}"),
    ("crowded", "crowded", "{:.1%}"),
    ("measurements", "measured", "{:.1f}"),
    ("share", "of the space", "{:.1%}"),
    ("variants_share", "of the variants", "{:.0%}"),
    ("loads", "loads", "{:.1f}"),
    ("server_starts", "server starts", "{:.1f}"),
    ("seconds", "seconds", "{:.0f}"),
    ("decide_median_ms", "decides, median ms", "{:.2f}"),
    ("decide_p99_ms", "p99 ms", "{:.1f}"),
)


def markdown(summaries: Sequence[Summary]) -> str:
    """The table, a section for each kind of surface."""
    lines: list[str] = []
    for kind in dict.fromkeys(summary.kind for summary in summaries):
        lines += [f"### {kind.capitalize()}", "", _row(title for _, title, _ in _COLUMNS)]
        lines.append(_row("---" if key == "mode" else "--:" for key, *_ in _COLUMNS))
        for summary in summaries:
            if summary.kind == kind:
                values = asdict(summary)
                lines.append(
                    _row(
                        "-" if values[key] is None else form.format(values[key])
                        for key, _, form in _COLUMNS
                    )
                )
        lines.append("")
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
