# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer predict`: throughput and latency before anything is measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.cli.run_options import given_run_options, run_options
from model_analyzer.cli.shared_options import (
    config_file_option,
    format_option,
    print_json,
    print_table,
    warn_all,
)
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.app.bench.devices import Job
    from model_analyzer.features.prediction.predicted import Prediction
    from model_analyzer.reports.tables import Table

_JSON = "json"
_COLUMNS = {"perf_throughput": "Throughput (infer/s)", "perf_latency_p99": "p99 Latency (ms)"}


@click.command("predict", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-m", "--model", metavar="MODEL", default="", help="Model of the repository.")
@click.option(
    "--knowledge",
    required=True,
    metavar="URL",
    help="Checkpoints of earlier runs: a directory, or a store such as s3://bucket/folder.",
)
@config_file_option
@format_option(_JSON)
@run_options
@click.pass_context
def predict(
    ctx: click.Context, model: str, knowledge: str, config_file: Path | None, form: str
) -> int:
    """Predict throughput and latency from what other models taught. Nothing is measured.

    It shows the default configuration and the best ones by the prediction, with 90 % intervals. The
    model is one of --model-repository, or those of the configuration file.

    \b
    Examples:
      model-analyzer predict -m resnet --model-repository models --knowledge checkpoints
      model-analyzer predict -f my.yaml --knowledge s3://bucket/checkpoints --format json
    """
    from model_analyzer.app.bench.devices import Job

    given = {"--knowledge": knowledge, "--run-config-search-mode": "adaptive"}
    if model:
        given["--profile-models"] = model
    options = given_run_options(ctx, given, config_file, model)
    job = Job.of(options.profile(), os.environ, (ctx.obj or {}).get("timings"))
    predictions = [*_predictions(job)]
    if form == _JSON:
        print_json({"predicted": [_document(each) for each in predictions]})
    for each in predictions:
        if not each.trials:
            complain(f"{each.model}: nothing similar is known in {knowledge}")
        elif form != _JSON:
            names = ", ".join(dict.fromkeys(model for model, _ in each.donors))
            print_table(f"{each.model}: predicted, not measured (from {names})", _table(each))
            echo()
    return EXIT_OK if all(each.trials for each in predictions) else EXIT_RUN_FAILED


def _predictions(job: Job) -> Iterator[Prediction]:
    """The prediction for each model of a job. Raises ConfigError."""
    from dataclasses import replace

    from model_analyzer.app.bench.searched_subjects import examined_subjects, fetched_for_user
    from model_analyzer.app.bench.workplace import preflight
    from model_analyzer.features.prediction.predicted import prediction

    with ExitStack() as stack:
        job = fetched_for_user(job, stack)
        checked = preflight(job, stack)
        checked.raise_any()
        for name, reason in checked.models.unknown.items():
            raise wrong(name, reason)
        if job.settings.search.together:
            raise wrong("predict", "models that are profiled concurrently cannot be predicted")
        subjects, remarks = examined_subjects(job.settings, checked.models.facts, job.places)
        warn_all(remarks)
        for subject in subjects:
            name = subject.models[0].facts.name
            placed = replace(subject, setup=checked.devices.setups[name])
            placed = placed if checked.devices.present else placed.without_gpus()
            yield prediction(placed, job.settings.search)


def _document(each: Prediction) -> Mapping[str, Any]:
    from model_analyzer.features.prediction.predicted import sizes_text

    ends = ("low", "median", "high")
    return {
        "model": each.model,
        "donors": [{"model": model, "hardware": hardware} for model, hardware in each.donors],
        "trials": [
            {
                "configuration": sizes_text(trial),
                "load": trial.loads,
                "metrics": {tag: dict(zip(ends, value, strict=True)) for tag, value in of.items()},
            }
            for trial, of in each.trials
        ],
    }


def _table(each: Prediction) -> Table:
    from model_analyzer.domain.words import number_text
    from model_analyzer.features.prediction.predicted import sizes_text
    from model_analyzer.reports.tables import Table

    def text(values: Mapping[str, tuple[float, float, float]], tag: str) -> str | None:
        if tag not in values:
            return None
        low, middle, high = map(number_text, values[tag])
        return f"{middle} ({low} to {high})"

    rows = [
        (
            "proposed" if number else "default",
            sizes_text(trial),
            trial.loads,
            *(text(values, tag) for tag in _COLUMNS),
        )
        for number, (trial, values) in enumerate(each.trials)
    ]
    headers = ("", "Configuration", "Load", *_COLUMNS.values())
    return Table(headers=headers, rows=tuple(rows))
