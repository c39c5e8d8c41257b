# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The measurement setup and quality: server, load generator, time, noise and stability;
and how a user measures a trial again by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from statistics import median
from typing import Any

from model_analyzer.domain.arrivals import is_open, traffic_of
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import REQUESTS_FOR_P99, NoticeKind, Outcome
from model_analyzer.domain.profiles import Conclusion, FailedTrial, MeasuredTrial
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import Workload, trial_words
from model_analyzer.domain.words import chance_text, counted, expected_gain_text
from model_analyzer.noise.lag import SEND_LAG
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.reports.breakdown import missing_breakdown

Entry = tuple[str, str]

_ARRIVALS = "Arrivals of requests"

# Files that a run removes at its end: times of requests, or the repository of an embedded server.
_FILE_OF_THE_RUN = re.compile(r"/model-analyzer-[^/\s]+/")
# Servers that a run starts at an address of its own.
_OWN_ADDRESS = ("local", "docker")


def method_of(
    measured: Sequence[MeasuredTrial],
    failed: Sequence[FailedTrial] = (),
    conclusion: Conclusion | None = None,
    noise_model: NoiseModel | None = None,
    *,
    measurements: int | None = None,
    always_machines: bool = False,
) -> tuple[Entry, ...]:
    """Pairs of name and text about the measurements.

    The first of `measured` is the recommendation. `conclusion` is that of the search, if any.
    `measurements` is the number of all single measurements; equal variants share theirs.
    `noise_model` covers all measurements under the same conditions. By default, both are those of
    `measured`. The machines are named if there are several, or `always_machines`.
    """
    if not measured:
        return ()
    return (
        *_machines(measured, fewest=1 if always_machines else 2),
        *_setup(measured[0]),
        *_extent(measured, failed, measurements or sum(len(item.runs) for item in measured)),
        *(() if conclusion is None else end_of_search(conclusion)),
        *_evidence(measured, noise_model or NoiseModel(item.runs for item in measured)),
    )


def _machines(measured: Sequence[MeasuredTrial], fewest: int) -> Iterator[Entry]:
    """The machines, if at least so many are known, those that are alike together."""
    outcomes = (run for item in measured for run in item.runs)
    machines = dict.fromkeys(run.machine for run in outcomes if run.machine is not None)
    if len({machine.host for machine in machines}) < fewest:
        return
    alike: dict[str, list[str]] = {}
    for machine in machines:
        details = (machine.kind, machine.driver and f"driver {machine.driver}")
        text = ", ".join(filter(None, (*details, machine.processor_text)))
        alike.setdefault(text, []).append(machine.host)
    texts = (f"{', '.join(dict.fromkeys(hosts))} ({text})" for text, hosts in alike.items())
    yield "Measured on", "; ".join(texts)


def _setup(item: MeasuredTrial) -> Iterator[Entry]:
    setup, work = item.trial.setup, item.trial.workloads[0]
    details = {"launch mode": setup.launch, "protocol": setup.protocol, "version": setup.version}
    yield "Server setup", ", ".join(f"{name} {value}" for name, value in details.items() if value)
    if setup.flags:
        yield "Server flags", _flags(masked_values(setup.flags))
    if setup.environment:
        yield "Server environment", _pairs(setup.kept_environment)
    is_known = item.measurement.value(SEND_LAG) is not None
    yield _ARRIVALS, _open_loop(work, is_known) if is_open(work) else _closed_loop(work.load.value)
    flags = work.telling_flags
    if flags:
        yield "perf_analyzer flags", _flags(masked_values(flags))


def _open_loop(work: Workload, is_lag_known: bool) -> str:
    """How requests arrive without waiting for each other, and where latencies begin."""
    begin = "intended times" if is_lag_known else "moment of sending"
    return f"{traffic_of(work) or 'the intervals of a file'}; latencies count from the {begin}"


def _closed_loop(in_flight: int) -> str:
    """How requests arrive at a concurrency, and what its latencies do not show."""
    waiting = "this one waits" if in_flight == 1 else f"these {in_flight} wait"
    return (
        f"closed loop: {counted(in_flight, 'request')} at a time, each sent after an earlier"
        f" answer. If the server stalls, only {waiting} and no more are sent: percentiles hide how"
        " long users who arrive meanwhile would wait. The option load measures that"
    )


def _extent(
    measured: Sequence[MeasuredTrial], failed: Sequence[FailedTrial], measurements: int
) -> Iterator[Entry]:
    text = f"{len(measured)} measured"
    if measurements != len(measured):
        text += f" ({counted(measurements, 'measurement')})"
    yield "Trials", f"{text}, {len(failed)} failed" if failed else text
    outcomes: list[Outcome] = [item.measurement for item in measured]
    outcomes += [item.failure for item in failed]
    seconds = sum(outcome.duration_s for outcome in outcomes)
    started = [outcome.started for outcome in outcomes if outcome.started]
    if started:
        yield "Measured", _period(min(started), max(started))
    if seconds:
        yield "Time spent measuring", _duration(seconds)


def _period(first: float, last: float) -> str:
    """The minutes of two moments; their day once, if it is the same."""
    (day, begin), (last_day, end) = (minute_text(moment).split() for moment in (first, last))
    if day != last_day:
        return f"{day} {begin} to {last_day} {end} UTC"
    return f"{day} {begin} UTC" if begin == end else f"{day} {begin} to {end} UTC"


def minute_text(moment: float) -> str:
    """Day and minute of seconds since the epoch, in UTC."""
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M")


def end_of_search(conclusion: Conclusion) -> Iterator[Entry]:
    """Why a search ended, and what it may have missed, as pairs of name and text."""
    trials = counted(conclusion.trials, "trial")
    yield "End of the search", f"after {trials}: {conclusion.explanation}"
    if not conclusion.feasible:
        chance = f"a chance of {chance_text(conclusion.chance)}"
        yield "Possibly missed", f"a configuration that meets the constraints, with {chance}"
        return
    yield (
        "Possibly missed",
        f"a configuration more than {100 * conclusion.margin:.0f} % better, with a chance of"
        f" {chance_text(conclusion.chance)}; continuing would gain"
        f" {expected_gain_text(conclusion.gain)}",
    )


def _evidence(measured: Sequence[MeasuredTrial], noise_model: NoiseModel) -> Iterator[Entry]:
    of_models = [(model, item) for item in measured for model in item.measurement.models]
    requests = [model.requests for model, _ in of_models if model.requests is not None]
    if requests:
        fewest = min(requests)
        where = next(item for model, item in of_models if model.requests == fewest)
        few = len([count for count in requests if count < REQUESTS_FOR_P99])
        text = f"median {median(requests):.0f}, fewest {fewest} ({trial_words(where.trial)})"
        yield (
            "Requests per p99 value",
            (
                f"{text}; {f'{few} of {len(requests)} have fewer than' if few else 'all have'} the"
                f" {REQUESTS_FOR_P99} needed for 95 % confidence in a p99"
            ),
        )
    windows = [len(model.windows) for model, _ in of_models]
    if any(windows):
        low, high = min(windows), max(windows)
        yield "Measurement windows per value", str(low) if low == high else f"{low} to {high}"
    noises = [noise_model.of(item.runs, DEFAULT_OBJECTIVE) for item in measured]
    percents = [noise.percent for noise in noises if noise is not None]
    if percents:
        text = f"median ± {median(percents):.1f} % (95 % interval), largest ± {max(percents):.1f} %"
        recommended = noises[0]
        yield (
            "Throughput noise",
            text
            if recommended is None
            else f"{text}, recommended load ± {recommended.percent:.1f} %",
        )
    reason = missing_breakdown(measured)
    if reason:
        yield "Latency breakdown", reason
    yield "Stability", _stability(measured)


def _stability(measured: Sequence[MeasuredTrial]) -> str:
    """How many measurements became stable; unknown for measurements of another tool."""
    kinds = [{notice.kind for notice in item.measurement.notices} for item in measured]
    imported = sum(NoticeKind.UNVERIFIED in notices for notices in kinds)
    unstable = sum(NoticeKind.UNSTABLE in notices for notices in kinds)
    rounds = sum(item.measurement.is_round for item in measured)
    judged = len(measured) - imported - rounds
    texts = []
    if rounds:
        every = "all" if rounds == len(measured) else str(rounds)
        texts.append(f"{every} measured in rounds; their noise is in the intervals")
    if unstable:
        texts.append(f"{unstable} of {judged} measurements did not become stable")
    elif judged:
        others = "all other" if imported or rounds else "all"
        texts.append(f"{others} measurements became stable")
    if imported:
        texts.append(f"unknown for {counted(imported, 'imported measurement')}")
    return "; ".join(texts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _flags(flags: Mapping[str, Any]) -> str:
    return " ".join(f"--{name}={_flat(value)}" for name, value in sorted(flags.items()))


def _pairs(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_flat(value)}" for name, value in sorted(values.items()))


def _flat(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def measuring_commands(measured: MeasuredTrial) -> str:
    """The commands of the measurement for a shell, one a line; "" if they need files that only the
    run had.

    They send to the usual address of a server if the run had a server of its own, which has ended.
    """
    commands = tuple(dict.fromkeys(measured.measurement.commands))
    if any(_FILE_OF_THE_RUN.search(command) for command in commands):
        return ""
    if measured.trial.setup.launch in _OWN_ADDRESS:
        commands = tuple(re.sub(r" -u \S+", "", command, count=1) for command in commands)
    return "\n".join(f"model-analyzer runtime run {command}" for command in commands)
