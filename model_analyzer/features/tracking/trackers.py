# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Experiment trackers, through their own clients. Runs that are sent again are changed: there are
no second ones.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from model_analyzer.domain.secrets import masked_url, without_secrets_of
from model_analyzer.domain.words import shortened
from model_analyzer.errors import OutputError, wrong
from model_analyzer.extras import check_extra, install_command
from model_analyzer.features.tracking.tracked_runs import ANSWER, TrackedRun

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
