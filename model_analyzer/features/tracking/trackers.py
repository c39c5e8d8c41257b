# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint as an experiment tracker shows it: each measured trial is a run. Trackers are
reached through their own clients. Runs that are sent again are changed: there are no second ones.
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from model_analyzer.app.delivery.files import masked_configurations
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import PARAMETER, group_members
from model_analyzer.domain.secrets import masked_url, without_secrets_of
from model_analyzer.domain.words import shortened
from model_analyzer.errors import OutputError, wrong
from model_analyzer.extras import check_extra, install_command
from model_analyzer.reports.build import state_answer
from model_analyzer.results.answer import Answer
from model_analyzer.results.columns import Cell, Row, pooled_rows
from model_analyzer.state.checkpoint import Checkpoint

# The columns that say what was tried; of the others, those that are no metric are tags.
_TRIED = (
    "model", "variant", "composing", "load", "concurrency", "request_rate", "arrivals",
    "batch_size", "hardware",
)  # fmt: skip

# The tag of a recommended run only.
ANSWER = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """One model in a trial: all its measurements, pooled, or its failure. The `identity` stays the
    same when more is measured. It was `started` at a time in seconds since the epoch, if
    known, and measured for so many `seconds`. `files` are texts by name, of what is recommended.
    """

    identity: str
    name: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    started: float | None
    seconds: float
    has_failed: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


def tracked_runs(checkpoint: Checkpoint, answers: Sequence[Answer]) -> Iterator[TrackedRun]:
    """The runs of the models that the `answers` are about, which recommend some of them."""
    recommended = {
        answer.best.best.trial.first.key: answer for answer in answers if answer.best is not None
    }
    models = {frozenset(group_members(answer.ranking.model)) for answer in answers}
    records = (
        (key, record)
        for key, record in checkpoint.records.items()
        if frozenset(group_members(record.trial.models)) in models
    )
    places = Counter[str]()
    for row in pooled_rows(records):
        trial = str(row["trial"])
        yield _run(row, places[trial], recommended.get(trial))
        places[trial] += 1


def _run(row: Row, place: int, answer: Answer | None) -> TrackedRun:
    known = {name: cell for name, cell in row.items() if cell is not None and cell != ""}
    parameters = {
        name: str(cell)
        for name, cell in known.items()
        if name in _TRIED or name.startswith(PARAMETER)
    }
    metrics = {
        name: float(cell)
        for name, cell in known.items()
        if name in METRICS and isinstance(cell, int | float)
    }
    tags = {
        name: str(cell)
        for name, cell in known.items()
        if name not in parameters and name not in metrics
    }
    files = {}
    tags["recommended"] = "no" if answer is None else "yes"
    if answer is not None and answer.best is not None:
        tags[ANSWER] = state_answer(answer, complete=True).sentence
        files["config.pbtxt"] = masked_configurations(answer.best)
    load = known.get("concurrency", known.get("request_rate", ""))
    return TrackedRun(
        identity=f"{row['trial']}-{place}" if place else str(row["trial"]),
        name=f"{row['variant']} {row['load']} {load}".strip(),
        parameters=parameters,
        metrics=metrics,
        tags=tags,
        started=_epoch(row.get("started")),
        seconds=float(row["duration_s"] or 0),
        has_failed="failure" in row,
        files=files,
    )


def _epoch(at: Cell) -> float | None:
    return datetime.fromisoformat(at).timestamp() if isinstance(at, str) else None


# The tag by which a run is found again.
_IDENTITY = "model_analyzer.trial"

# The characters of a name and the length of a text that every version of MLflow takes, and how many
# parameters at once.
_ODD, _LONGEST, _MOST = re.compile(r"[^\w\-. :/]"), 500, 100
# Unless the user says otherwise, a server that does not answer is given up after a minute, and its
# client does not print two lines for each run.
_SETTINGS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}


class RunStore(Protocol):
    """Where runs are sent."""

    def send(self, runs: Sequence[TrackedRun]) -> None:
        """Raises OutputError where that fails."""


class Mlflow:
    """An MLflow server or store at a `uri`. Raises ConfigError without its library."""

    def __init__(self, uri: str, experiment: str) -> None:
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        library = _library("mlflow")
        self._entities, self._error = library.entities, library.exceptions.MlflowException
        self._uri, self._experiment = uri, experiment
        self._library = library

    def send(self, runs: Sequence[TrackedRun]) -> None:
        try:
            client = self._library.MlflowClient(tracking_uri=self._uri)
            place = client.get_experiment_by_name(self._experiment)
            identity = place.experiment_id if place else client.create_experiment(self._experiment)
            known = {run.data.tags.get(_IDENTITY): run for run in _all_runs(client, identity)}
            for run in runs:
                self._send(client, identity, run, known.get(run.identity))
        except self._error as error:
            text = _unreached(error) or " ".join(without_secrets_of(self._uri, str(error)).split())
            raise OutputError(f"--mlflow {masked_url(self._uri)}: {text}") from error

    def _send(self, client: Any, experiment: str, run: TrackedRun, known: Any) -> None:
        tags = {name: shortened(text, _LONGEST) for name, text in run.tags.items()} | {
            _IDENTITY: run.identity
        }
        began = round(1000 * (run.started or 0))
        made = known or client.create_run(experiment, began or None, tags, run_name=run.name)
        place, data = made.info.run_id, made.data
        # a parameter cannot be changed, and a value that is sent again is a second point of a curve
        parameters = [
            self._entities.Param(name, shortened(text, _LONGEST))
            for name, text in _named(run.parameters).items()
            if name not in data.params
        ]
        metrics = [
            self._entities.Metric(name, value, began, 0)
            for name, value in _named(run.metrics).items()
            if data.metrics.get(name) != value
        ]
        for name in data.tags.keys() & {ANSWER} - tags.keys():
            client.delete_tag(place, name)
        client.log_batch(place, metrics, tags=[self._entities.RunTag(*tag) for tag in tags.items()])
        for first in range(0, len(parameters), _MOST):
            client.log_batch(place, params=parameters[first : first + _MOST])
        for name, text in run.files.items():
            client.log_text(place, text, name)
        ended = began + round(1000 * run.seconds) if began else None
        client.set_terminated(place, "FAILED" if run.has_failed else "FINISHED", ended)


class WeightsAndBiases:
    """A `project` (`NAME` or `ENTITY/NAME`) of Weights & Biases. Files of its client are below the
    `directory`. Raises ConfigError without its library.
    """

    def __init__(self, project: str, directory: Path) -> None:
        entity, _, self._project = project.rpartition("/")
        self._entity, self._directory = entity or None, directory
        self._library = _library("wandb")

    def send(self, runs: Sequence[TrackedRun]) -> None:
        try:
            for run in runs:
                self._send(run)
        except self._library.Error as error:
            raise OutputError(f"--wandb: {' '.join(str(error).split())}") from error

    def _send(self, run: TrackedRun) -> None:
        quiet = self._library.Settings(silent=True, console="off", disable_git=True)
        made = self._library.init(
            entity=self._entity,
            project=self._project,
            id=run.identity,
            name=run.name,
            config=dict(run.parameters),
            notes=run.tags.get(ANSWER, ""),
            dir=str(self._directory),
            resume="allow",
            settings=quiet,
        )
        made.summary.update({ANSWER: None, **run.metrics, **run.tags, **run.files})
        made.finish(exit_code=int(run.has_failed))


def _unreached(error: BaseException) -> str:
    """Why there was no connection at all; "" if there was one."""
    cause = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    if not isinstance(cause, ConnectionError | TimeoutError | socket.gaierror):
        return ""
    why = cause.strerror or "no answer in time"
    return f"cannot be reached: {why}: is the server running, and is this its address?"


def _library(name: str) -> Any:
    try:
        check_extra(name)
        return import_module(name)
    except ImportError as error:
        raise wrong(f"--{name}", f"needs a library: {error}", install_command(name)) from error


def _all_runs(client: Any, experiment: str) -> Iterator[Any]:
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _named(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {_ODD.sub("_", name)[:250]: value for name, value in values.items()}
