# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in ensembles are found in their files: where the server refuses them, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.domain.models import is_decoupled
from model_analyzer.errors import RepositoryError
from model_analyzer.runner.ensembles import available_versions
from model_analyzer.runner.repository import ModelRepository
from tests.ensemble_cases import ENSEMBLES, PARTS, Ensemble, step, write_repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    path = tmp_path_factory.mktemp("models")
    write_repository(path)
    return ModelRepository(path)


@pytest.mark.parametrize("name", [name for name, case in ENSEMBLES.items() if not case.words])
def test_what_the_server_accepts_is_accepted(repository: ModelRepository, name: str) -> None:
    assert repository.facts(name).is_ensemble


@pytest.mark.parametrize("name", [name for name, case in ENSEMBLES.items() if case.words])
def test_what_the_server_refuses_is_refused_with_ensemble_and_step(
    repository: ModelRepository, name: str
) -> None:
    with pytest.raises(RepositoryError) as refused:
        repository.facts(name)

    assert ENSEMBLES[name].words in str(refused.value)
    assert name in str(refused.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "a", "")
    steps = [step("a", version=None, outputs="o:t"), step("a", version=None, inputs="x:t")]
    Ensemble(steps=steps).write(tmp_path / "chain")

    with pytest.raises(RepositoryError) as refused:
        ModelRepository(tmp_path).facts("chain")

    assert str(refused.value).endswith(
        "step 1 (a) of chain has no model_version: write -1;"
        " step 2 (a) of chain has no model_version: write -1"
    )


def test_a_missing_model_is_told_with_the_other_mistakes(tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "a", "")
    steps = [
        step("a", version=None, outputs="o:t"),
        step("qqqq", version=None, inputs="x:t", outputs="o:u"),
        step("qqqq", version=7, inputs="x:u"),
    ]
    Ensemble(steps=steps, more="optimization {}").write(tmp_path / "chain")

    with pytest.raises(RepositoryError) as refused:
        ModelRepository(tmp_path).facts("chain")

    assert str(refused.value) == (
        f"{tmp_path}/chain/config.pbtxt:"
        " chain is an ensemble and has optimization: move it to the models of its steps;"
        " step 1 (a) of chain has no model_version: write -1;"
        " step 2 (qqqq) of chain has no model_version: write -1;"
        f" step 2 (qqqq) of chain: no model 'qqqq' in {tmp_path} (add it, or correct its name)"
    )


def test_a_missing_model_of_a_step_is_not_the_ensemble_itself(tmp_path: Path) -> None:
    for name in ("resnet_chain", "resnet_chains"):
        Ensemble(steps=[step("resnet_chai")]).write(tmp_path / name)

    with pytest.raises(RepositoryError, match="did you mean 'resnet_chains'"):
        ModelRepository(tmp_path).facts("resnet_chain")
    (tmp_path / "resnet_chains").rename(tmp_path / "other")
    with pytest.raises(RepositoryError, match=r"\(add it, or correct its name\)"):
        ModelRepository(tmp_path).facts("resnet_chain")


@pytest.mark.parametrize(
    ("name", "streams"), [("two_streams", True), ("right", False), ("nested", False)]
)
def test_an_ensemble_with_a_decoupled_model_is_decoupled(
    repository: ModelRepository, name: str, streams: bool
) -> None:
    assert is_decoupled(repository.facts(name).config) is streams


def test_an_ensemble_needs_its_steps(tmp_path: Path) -> None:
    Ensemble(steps=[step("a")]).write(tmp_path / "chain")
    path = tmp_path / "chain" / "config.pbtxt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "ensemble_scheduling" not in line))

    with pytest.raises(RepositoryError, match="platform ensemble and no ensemble_scheduling"):
        ModelRepository(tmp_path).facts("chain")


@pytest.mark.parametrize(
    ("policy", "versions"),
    [
        ({}, [5]),
        ({"latest": {}}, [5]),
        ({"latest": {"num_versions": 2}}, [3, 5]),
        ({"all": {}}, [1, 3, 5]),
        ({"specific": {"versions": (1, 4)}}, [1]),
    ],
)
def test_a_policy_chooses_versions(policy: dict[str, object], versions: list[int]) -> None:
    assert available_versions({"version_policy": policy}, [3, 1, 5]) == versions


def test_a_policy_without_a_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    PARTS["specific"].write(path, "")
    (path / "1" / "model.py").unlink()
    (path / "1").rmdir()

    with pytest.raises(RepositoryError, match="version_policy leaves none of the versions 2"):
        ModelRepository(tmp_path).facts("a")
