# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of models that `explain` is judged by."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2

from model_analyzer.results.explain.finding import Cause
from qa.explain_kinds.kinds import FRESH, KINDS, judged, looked_at


def test_forty_kinds_are_kept_apart_half_of_them_healthy() -> None:
    assert len(judged()) == 40
    assert sum(not kind.cause for kind in judged()) == 20
    assert not [kind for kind in judged() if kind in looked_at()]
    assert judged() == judged(), "the draw is always the same"


def test_half_of_the_fresh_kinds_are_healthy() -> None:
    assert len(FRESH) == 40
    assert sum(not kind.cause for kind in FRESH) == 20


def test_each_kind_has_a_name_of_its_own_and_causes_that_exist() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    causes = {cause for kind in KINDS for cause in kind.cause.split("|") if cause}
    assert causes <= {cause.name.lower() for cause in Cause}


def test_each_configuration_is_one_that_triton_reads(tmp_path: Path) -> None:
    for kind in KINDS:
        config = kind.write(tmp_path / kind.name)
        for path in Path(config["model_repository"]).glob("*/config.pbtxt"):
            text_format.Parse(path.read_text(), model_config_pb2.ModelConfig())
