# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of all models in some checkpoints, and the overview of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from model_analyzer.app.delivery.deploying import Deploying
from model_analyzer.app.delivery.files import (
    OVERVIEW,
    ReportWriter,
    origin_of,
    originals_of,
    write_fleet,
)
from model_analyzer.app.selection.asked_goals import goals_of, other_goals, priced
from model_analyzer.app.selection.conditions import ranked, run_of
from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.reports.build import build_page
from model_analyzer.reports.fleet import FleetModel
from model_analyzer.reports.images import Images
from model_analyzer.reports.libraries import writable
from model_analyzer.results.answer import answer_of, by_model
from model_analyzer.state.checkpoint import Checkpoint, load_existing

log = logging.getLogger(__name__)

# The subdirectory that a run writes its checkpoints to by default.
_USUAL = "checkpoints"

# Configurations of each model on its page.
_BEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A checkpoint, and what its directory is called on the page; "" if it is the only one."""

    checkpoint: Checkpoint
    name: str


def fleet(settings: ReportSettings, directories: Sequence[Path]) -> Iterator[Path]:
    """Writes the page of each model in the checkpoints of these directories, and the overview of
    all; yields each path after writing it.

    What cannot be read is left out, and mentioned on the overview. Raises CheckpointError about it
    at the end, or before anything is written if nothing can be read.
    """
    settings = replace(settings, formats=writable(settings.formats))
    sources, errors = _read(directories, settings.checkpoint_prefix)
    if not sources:
        raise _together(errors)
    models: list[FleetModel] = []
    with Images() as images:
        writer = ReportWriter.of_report(settings, images)
        for source in sources:
            for model in _models(source, settings, writer):
                yield writer.directory.path / "reports" / model.link
                models.append(model)
        for remark in images.remarks():
            log.warning("%s", remark)
    yield write_fleet(writer.directory, models, remarks=[f"Left out: {error}" for error in errors])
    if errors:
        raise _together(errors)


def _together(errors: Sequence[CheckpointError]) -> CheckpointError:
    """One error for all."""
    is_usage = all(isinstance(error, UnusableCheckpoint) for error in errors)
    kind = UnusableCheckpoint if is_usage else CheckpointError
    return kind("; ".join(map(str, errors)))


def _read(
    directories: Sequence[Path], prefix: str
) -> tuple[Sequence[_Source], Sequence[CheckpointError]]:
    """The checkpoints of the directories, and why others cannot be used."""
    distinct = list({path.resolve(): path for path in reversed(directories)}.values())[::-1]
    names = source_names([os.path.abspath(path) for path in distinct])
    sources: list[_Source] = []
    errors: list[CheckpointError] = []
    for path, name in zip(distinct, names, strict=True):
        try:
            checkpoint = _load(path, prefix)
            if not measured_subjects(checkpoint):
                raise UnusableCheckpoint(f"{path}: no measurements")
        except CheckpointError as error:
            errors.append(error)
            continue
        for warning in checkpoint.damage_warnings:
            log.warning("%s", warning)
        sources.append(_Source(checkpoint=checkpoint, name=name))
    return sources, errors


def _load(path: Path, prefix: str) -> Checkpoint:
    """The checkpoint in a directory, or in the usual subdirectory of it."""
    try:
        return load_existing(path, prefix)
    except UnusableCheckpoint:
        if not (path / _USUAL).is_dir():
            raise
        return load_existing(path / _USUAL, prefix)


def source_names(paths: Sequence[str]) -> Sequence[str]:
    """The parts that tell these absolute paths apart, without what all begin or end with; "" for
    the only path.
    """
    if len(paths) == 1:
        return [""]
    parts = [Path(path).parts for path in paths]
    start = _shared(parts)
    end = _shared([list(reversed(each[start:])) for each in parts])
    names = ["/".join(each[start : len(each) - end]) for each in parts]
    return names if all(names) else ["/".join(each[1:]) for each in parts]


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """The number of first items that all lists have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*lists, strict=False)))


def _models(
    source: _Source, settings: ReportSettings, writer: ReportWriter
) -> Iterator[FleetModel]:
    """The models of a checkpoint, after their pages were written."""
    checkpoint = source.checkpoint
    profile = priced(checkpoint.profile, settings.prices, GoalOverride())
    goals, _ = goals_of(checkpoint, list(measured_subjects(checkpoint)), GoalOverride(), settings)
    run = run_of(settings.config_file)
    rankings = [
        ranking
        for subject, goal in goals.items()
        for ranking in ranked(profile, subject, goal, settings.conditions, run)
    ]
    origin = origin_of(profile, checkpoint.path)
    deploying = Deploying.of_report(
        checkpoint.path, settings, originals_of(profile), other_goals(checkpoint, goals)
    )
    for answer in by_model(map(answer_of, rankings)):
        page = build_page(
            answer,
            [*map(deploying.deployment, answer.answers)],
            best=_BEST,
            origin=origin,
            complete=True,
            offline=settings.offline,
            always_gpus=settings.always_gpus,
        )
        drawings = writer.images.svg(page.charts, page.model)
        folders = tuple(filter(None, source.name.split("/")))
        path, *_ = writer.summary(page, drawings, *folders, related=[OVERVIEW])
        link = path.relative_to(writer.directory.path / "reports").as_posix()
        yield FleetModel(answer=answer, link=link, source=source.name)
