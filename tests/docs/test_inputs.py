# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/guides/inputs.md: good ones are accepted, and mistakes read as shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from model_analyzer.domain.models import ModelFacts
from model_analyzer.runner.load.input_files import input_mistakes
from model_analyzer.runner.model_config import parse_text
from tests.docs.documents import DOCS, ROOT, blocks

GUIDE = DOCS / "guides" / "inputs.md"
PAIRS = [
    (above.text, block.text) for above, block in pairwise(blocks(GUIDE)) if block.language == "json"
]
ROWS = re.findall(r"^\| `(\{\"[Xx].*\})` \| (.*) \|$", GUIDE.read_text("utf-8"), re.MULTILINE)


def found(directory: Path, config: str, data: str) -> Sequence[str]:
    """The mistakes in the data of a model."""
    (directory / "in.json").write_text(data, encoding="utf-8")
    facts = ModelFacts(name="m", config=parse_text(config, "example"), files="")
    mistakes = input_mistakes({"input-data": "in.json"}, facts, [1], directory)
    return [f"{mistake.what} ({mistake.fix})" for mistake in mistakes]


@pytest.mark.parametrize(("config", "data"), PAIRS)
def test_an_example_is_accepted(tmp_path: Path, config: str, data: str) -> None:
    assert found(tmp_path, config, data) == []


@pytest.mark.parametrize(("step", "message"), ROWS)
def test_a_mistake_reads_as_shown(tmp_path: Path, step: str, message: str) -> None:
    config = 'input [ { name: "X" data_type: TYPE_FP32 dims: [ 4 ] } ]'

    texts = found(tmp_path, config, f'{{"data": [{step}]}}')

    assert any(message in text for text in texts), texts


def test_there_are_examples_of_every_kind() -> None:
    assert len(PAIRS) >= 8
    assert len(ROWS) >= 8


def test_the_prompts_of_the_example_fit_its_model(tmp_path: Path) -> None:
    model = ROOT / "model_analyzer" / "starter" / "model_repository" / "sim_llm" / "config.pbtxt"
    prompts = (ROOT / "config" / "prompts.json").read_text("utf-8")

    assert json.loads(prompts)["data"]
    assert found(tmp_path, model.read_text(), prompts) == []
