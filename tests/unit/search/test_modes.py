# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every search mode: its file, its row in the docs, and the trials that it asks for.

`make goldens` writes the trials to `tests/golden/searches`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import optuna
import pytest

import model_analyzer
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode
from model_analyzer.search.choose import check, mode_for
from model_analyzer.search.plan import Subject
from tests.goldens import check_folder
from tests.unit.search.surfaces import (
    ensemble,
    failure,
    latency_within,
    limits,
    model,
    saturating,
    search,
    sequence,
    shares,
    subject,
    together,
)

PACKAGE = Path(model_analyzer.__file__).parent
ROOT = PACKAGE.parent

SUBJECTS: Mapping[str, Callable[[], Subject]] = {
    "one model": lambda: subject(constraints=[latency_within(5)]),
    "rounds": lambda: subject(in_rounds=True),
    "an ensemble": lambda: subject(ensemble(model("a"), model("b"))),
    "several models": lambda: together(
        subject(model("m"), loads=(2,)), subject(model("n"), loads=(4,))
    ),
    "listed loads": lambda: subject(loads=(1, 2, 8)),
}

every_mode = pytest.mark.parametrize("mode", SearchMode, ids=lambda mode: mode.value)


def test_every_file_is_a_mode() -> None:
    files = {path.stem for path in (PACKAGE / "search" / "modes").glob("*.py")}

    assert files - {"__init__", "mode"} == {mode.value for mode in SearchMode}


@every_mode
def test_it_has_an_object_and_a_row_of_docs(mode: SearchMode) -> None:
    made = mode_for(subject(), limits(mode=mode))

    assert made.__module__ == f"model_analyzer.search.modes.{mode.value}"
    assert f"| `{mode.value}`" in (ROOT / "docs" / "search.md").read_text()


def asked_by(mode: SearchMode, target: Subject) -> list[str]:
    """The trials on a surface, or why the mode does not take the subject."""
    where = limits(mode=mode, instances=(1, 2), batch=(1, 8), concurrency=(1, 16))
    problems = [*mode_for(target, where).problems()]
    if problems:
        return [f"refused: {problem}" for problem in problems]
    check([target], where)
    trials = sequence(search(target, where), saturating)
    return [f"{trial.variants} {trial.loads} {trial.repetition}" for trial in trials]


@every_mode
def test_it_asks_for_the_same_trials_as_ever(mode: SearchMode) -> None:
    if mode is SearchMode.OPTUNA and int(optuna.__version__.split(".")[0]) < 5:
        pytest.skip("the sampler of each major version of Optuna proposes trials of its own")
    texts = {
        f"{name.replace(' ', '_')}.txt": "".join(f"{line}\n" for line in asked_by(mode, make()))
        for name, make in SUBJECTS.items()
    }
    check_folder(f"searches/{mode.value}", texts)


@every_mode
def test_it_ends_if_everything_fails(mode: SearchMode) -> None:
    where = limits(mode=mode, instances=(1, 2), batch=(1, 4), concurrency=(1, 4))

    assert sequence(search(subject(), where), lambda _: failure())


def test_random_draws_each_legal_combination_once() -> None:
    target = subject(batch_sizes=(1, 8), constraints=[latency_within(5)])
    where = limits(mode=SearchMode.RANDOM, instances=(1, 2), batch=(1, 8), concurrency=(1, 4))
    space = mode_for(target, where).trial_map
    combinations = product(*(range(len(each.values)) for each in space.space.dimensions))

    default, *drawn = sequence(search(target, where, optuna=shares(100, 100)), saturating)

    assert default.variants == "m_config_default"
    assert {trial.key for trial in drawn} == {
        space.trial(coordinate, VariantNames()).key
        for coordinate in combinations
        if space.is_legal(coordinate)
    }
    assert len({trial.key for trial in drawn}) == len(drawn)


def test_random_draws_depend_on_the_seed() -> None:
    where = limits(mode=SearchMode.RANDOM)
    made = [mode_for(subject(), where).search(VariantNames(), seed=seed) for seed in (1, 1, 2)]

    first, same, other = ([trial.key for trial in sequence(each, saturating)] for each in made)

    assert first == same != other
    assert len(first) == made[0].most_trials == 1 + 440 // 10


FIRST = """
from model_analyzer.search.modes.mode import Mode
from model_analyzer.search.plan import recorded
from model_analyzer.search.plan import PlannedSearch


class FirstMode(Mode):
    def search(self, names, *, seed=0, slots=1):
        return PlannedSearch(self._plan(names), 1)

    def _plan(self, names):
        return [(yield from recorded(self.trial_map.default(names)))]


MODE = FirstMode
"""

USE = """
from pathlib import Path
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import parse_yaml
from model_analyzer.forecast.time_left import TrialsLeft
from model_analyzer.search.choose import check
from tests.goldens import check_folder
from tests.unit.search.surfaces import saturating, search, sequence, subject

text = "{model_repository: /r, profile_models: m, search: first}"
where = resolve_profile([], parse_yaml(text, "f"), Path("/")).settings.search
check([subject()], where)
print([str(trial) for trial in sequence(search(subject(), where), saturating)])
print(TrialsLeft(subject(), where).remaining().trials)
"""


def test_a_row_and_a_file_make_a_mode(tmp_path: Path) -> None:
    """As CONTRIBUTING.md says."""
    for name in ("model_analyzer", "tests/unit/search"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    settings = tmp_path / "model_analyzer" / "domain" / "settings.py"
    row = '    RANDOM = "random"'
    text = settings.read_text()
    assert text.count(row) == 1
    settings.write_text(text.replace(row, f'    FIRST = "first", ModeFacts()\n{row}'))
    (tmp_path / "model_analyzer" / "search" / "modes" / "first.py").write_text(FIRST)

    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=tmp_path, check=False, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "['m_config_default: concurrency=16']\n1\n"
