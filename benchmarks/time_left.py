# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How right the time left of the live view is: runs that ended are replayed from their checkpoints.

    python benchmarks/time_left.py DIRECTORY...

Each directory holds `config.yaml`, with every option of a run of `profile` that came to its end,
and `checkpoints`, what that run kept. At several shares of the run's time the estimate is held
against what was left then: an error of +25 % is an estimate that was a quarter too long. In
brackets is the same for the number of trials left, which a machine that gets busy does not change.
Starting and stopping programs and writing reports do not count.

A second line for each run is what any estimate has to beat: the trials that are listed, or else the
bound of the search, less those measured, times the mean of the last ten.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelConfig, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.forecast.run_plan import forecast
from model_analyzer.forecast.time_left import TimeLeft, time_left
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.search.choose import choose, mode_for, mode_of
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import Subject
from model_analyzer.state.checkpoint import load

SHARES = (0.1, 0.25, 0.5, 0.75)
_LATEST = 10

# Of the seconds and of the trials left.
Error = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directories", nargs="+", type=Path)
    print("| run | search | trials | seconds |" + "".join(f" at {at:.0%} |" for at in SHARES))
    print("|---" * (4 + len(SHARES)) + "|")
    for directory in parser.parse_args().directories:
        mode, count, seconds, errors = replayed(directory)
        ours, plain = zip(*errors, strict=True)
        print(f"| {directory.name} | {mode} | {count} | {seconds:.0f} |{_shown(ours)}")
        print(f"| | listed or bound | | |{_shown(plain)}")


def _shown(errors: Sequence[Error | None]) -> str:
    cells = ("-" if error is None else f"{error[0]:+.0%} ({error[1]:+.0%})" for error in errors)
    return "".join(f" {cell} |" for cell in cells)


def replayed(directory: Path) -> tuple[str, int, float, Sequence[tuple[Error, Error | None]]]:
    """Search mode, number of trials, seconds, and the errors at each of `SHARES`: ours, and those
    of the plain estimate.
    """
    settings = resolve_profile([], read_yaml(directory / "config.yaml"), directory).settings
    stored = [*load(settings.checkpoint.directory).profile.records]
    assert settings.repository.path is not None
    repository = ModelRepository(settings.repository.path)
    facts = {
        model.name: repository.facts(model.name, complete=as_it_is, calls=settings.bls_calls)
        for model in settings.models
    }
    os.chdir(directory)
    subjects = [
        replace(subject, setup=stored[0].trial.setup).without_gpus()
        for subject in searched_subjects(settings, facts)
    ]
    outcomes = {record.trial.key: record.outcome for record in stored}
    records = [*_as_asked(subjects, settings.search, outcomes)]
    names = [subject.name for subject in subjects]
    bounds = [_bound(subject, settings.search) for subject in subjects]
    began = records[0].outcome.started
    ends = [record.outcome.started + record.outcome.duration_s for record in records]
    total = ends[-1] - began
    errors = [
        errors_at(began + share * total, time_left(subjects, settings), names, records, bounds)
        for share in SHARES
    ]
    mode = mode_of(subjects[0], settings.search).value
    return mode, len(records), total, errors


def _as_asked(
    subjects: Sequence[Subject], settings: SearchSettings, outcomes: Mapping[str, Outcome]
) -> Iterator[TrialRecord]:
    """The trials as their searches asked for them, with these outcomes by key."""
    for subject in subjects:
        search = choose(subject, settings, VariantNames())
        while (trial := search.ask()) is not None and trial.key in outcomes:
            yield TrialRecord(trial=trial, outcome=outcomes[trial.key])
            search.tell(trial, outcomes[trial.key])


def errors_at(
    now: float,
    left: TimeLeft,
    names: Sequence[str],
    records: Sequence[TrialRecord],
    bounds: Sequence[int | None],
) -> tuple[Error, Error | None]:
    """The estimates at that time of the seconds and the trials left, against what was left."""
    before = records[0].outcome.started
    left.begin(0)
    current, done = 0, 0
    durations: list[float] = []
    for record in records:
        end = record.outcome.started + record.outcome.duration_s
        if end > now:
            break
        done += 1
        index = names.index(record.trial.models)
        if index != current:
            left.begin(index)
            current = index
        # a variant under two names is measured once
        left.record(record.trial, record.outcome, end - before if end > before else None)
        durations.append(max(end - before, 0.0))
        before = max(end, before)
    last = records[-1].outcome
    truth = (last.started + last.duration_s - now, len(records) - done)
    parts = left.parts[current:]
    trials = sum(part.expected.remaining().trials for part in parts)
    ours = _error(left.seconds() - (now - before), trials, truth)
    limits = [bound for bound in bounds[current:] if bound is not None]
    if not durations or len(limits) < len(parts):
        return ours, None
    rest = sum(limits) - sum(part.expected.outcomes for part in parts)
    return ours, _error(rest * fmean(durations[-_LATEST:]) - (now - before), rest, truth)


def _error(seconds: float, trials: float, truth: tuple[float, float]) -> Error:
    return seconds / truth[0] - 1, trials / truth[1] - 1


def _bound(subject: Subject, settings: SearchSettings) -> int | None:
    """How many trials are listed, or else how many there are at most, if that is known."""
    foreseen = forecast(subject, settings)
    if foreseen.trials is not None:
        return len(foreseen.trials)
    if foreseen.most_trials is not None or foreseen.size is None:
        return foreseen.most_trials
    mode = mode_for(subject, settings)
    swept = mode.most_swept(settings.refined) if isinstance(mode, RefiningMode) else 0
    return 1 + foreseen.size + swept  # with the default


def as_it_is(name: str, config: ModelConfig, files: str) -> ModelConfig:
    return config


if __name__ == "__main__":
    main()
