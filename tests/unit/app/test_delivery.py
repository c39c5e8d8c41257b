# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When a run has done what was asked for, and where its files are; the names of checkpoints on the
overview of models.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.delivery.answer import Answers, Deploying
from model_analyzer.app.delivery.files import configuration_difference, told_apart, write_best
from model_analyzer.app.recommend import source_names
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.settings import ExportSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import rank
from tests.unit.builders import (
    at_most,
    failure,
    goal,
    measurement,
    origin,
    record,
    settings,
    variant,
)

L4 = ServerSetup(devices=("L4",))
H100 = ServerSetup(devices=("H100",))
DEFAULT = variant("m_config_default", max_batch_size=1)


def answers(*records: TrialRecord) -> list[Answer]:
    by = goal(*at_most(perf_latency_p99=10))
    return [answer_of(each) for each in rank(Profile(records=records), "m", by)]


def of_run(answered: list[Answer], searched: Collection[str] | None) -> Answers:
    return Answers(
        rankings=[answer.ranking for answer in answered],
        answers=answered,
        sentences=(),
        searched=searched,
        pages=(),
        tables=(),
        deploying=Deploying.of_run(None, settings(""), {}),
        origin=origin(),
        complete=True,
    )


@pytest.mark.parametrize(
    ("searched", "succeeds"), [({"1 x L4"}, True), ({"1 x L4", "1 x H100"}, False), (None, False)]
)
@pytest.mark.parametrize("outcome", [failure(), measurement(1, 99)], ids=["failed", "misses"])
def test_only_the_hardware_of_a_run_decides_whether_it_succeeds(
    searched: Collection[str] | None, succeeds: bool, outcome
) -> None:
    answered = answers(
        record(DEFAULT, measurement(1, 5), setup=L4), record(DEFAULT, outcome, setup=H100)
    )
    export: ExportSettings = replace(settings("").export, fail_on_miss=True)
    assert of_run(answered, searched).is_success(export) is succeeds


def test_a_configuration_for_one_kind_of_hardware_replaces_that_for_all(tmp_path: Path) -> None:
    directory = ExportDirectory(tmp_path, "--export-path")
    on_l4 = record(DEFAULT, measurement(1, 5), setup=L4)
    (only,) = answers(on_l4)
    write_best(directory, only, "+x", "best")
    assert (tmp_path / "best" / "m" / "config.pbtxt").exists()

    for answer in answers(on_l4, record(DEFAULT, measurement(2, 5), setup=H100)):
        write_best(directory, answer, "+x", "best")

    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("config.*")}
    assert written == {
        f"best/1-x-{gpu}/m/config.{end}" for gpu in ("L4", "H100") for end in ("pbtxt", "diff")
    }


def ensemble(name: str, **parts: int) -> TrialRecord:
    """A measurement of an ensemble of parts with these batch limits."""
    steps = [variant(f"{part}_c", model=part, max_batch_size=size) for part, size in parts.items()]
    config: dict[str, Any] = {"platform": "ensemble", "ensemble_scheduling": {"step": []}}
    return record(variant(f"{name}_c", model=name, composing=steps, **config), measurement(1, 5))


def write_all(target: Path, *records: TrialRecord) -> tuple[dict[str, int], list[str]]:
    """The batch limit in each written configuration, and the remarks."""
    directory = ExportDirectory(target)
    remarks: list[str] = []
    models = dict.fromkeys(each.trial.workloads[0].variant.model for each in records)
    every = [rank(Profile(records=records), model, goal()) for model in models]
    for answer, apart in told_apart([answer_of(each) for (each,) in every]):
        difference = configuration_difference(
            answer.best, answer.ranking, {"part": {}}, apart=apart
        )
        write_best(directory, answer, difference, "best", apart=apart)
        remarks += apart.values()
        assert all(f"+++ best/{answer.ranking.model}/{part}/" in difference for part in apart)
    found = {
        str(path.parent.relative_to(target / "best")): int(
            "0" + path.read_text().partition("max_batch_size: ")[2].strip()
        )
        for path in target.rglob("config.pbtxt")
    }
    return found, remarks


def test_models_that_answers_configure_differently_are_not_mixed(tmp_path: Path) -> None:
    a, b = ensemble("a", part=1), ensemble("b", part=2, other=3)
    own = record(variant("part_c", model="part", max_batch_size=1), measurement(1, 5))
    others = {"a": 0, "b": 0, "other": 3}

    assert write_all(tmp_path, own, a) == ({"part": 1, "a": 0}, [])
    found, (remark,) = write_all(tmp_path, own, a, b)
    assert found == {**others, "part": 1, "b/part": 2}
    assert remark == (
        "b needs part with max_batch_size 2 instead of 1 (recommended for part): one server cannot"
        " have both. For b it is in b/part/config.pbtxt"
    )
    found, remarks = write_all(tmp_path, a, b)  # nobody's comes first, and the old one is removed
    assert (found, len(remarks)) == ({**others, "a/part": 1, "b/part": 2}, 2)
    assert write_all(tmp_path, b) == ({**others, "part": 2, "a/part": 1}, [])
    assert write_all(tmp_path, ensemble("b", part=1), a)[0] == {
        "a": 0,
        "b": 0,
        "part": 1,
        "other": 3,
    }


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/runs/a"], [""]),
        (["/runs/a", "/runs/b"], ["a", "b"]),
        (["/runs/a/checkpoints", "/runs/b/checkpoints"], ["a", "b"]),
        (["/runs/a/x", "/other/b"], ["runs/a/x", "other/b"]),
        (["/a/1/x/c", "/a/2/y/c"], ["1/x", "2/y"]),
        (["/ab", "/ac"], ["ab", "ac"]),
        (["/x", "/x/x"], ["x", "x/x"]),
        (["/x", "/x/y"], ["x", "x/y"]),
    ],
)
def test_directories_are_named_by_what_tells_them_apart(
    paths: Sequence[str], names: Sequence[str]
) -> None:
    assert source_names(paths) == names
