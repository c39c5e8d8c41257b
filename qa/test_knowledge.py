# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier runs teach, on the real server: they predict a new version of a model."""

from __future__ import annotations

import json

from qa.conftest import Scene
from qa.test_adaptive import BOUNDS, results

MORE = {**BOUNDS, "max_trials": 8}


def test_the_earlier_version_predicts_the_new_one(scene: Scene) -> None:
    status, output = scene.profile(**MORE, checkpoint_directory="memory")
    assert status == 0, output
    assert "Predicted" not in output

    code = scene.models / "add_sub" / "1" / "model.py"
    code.write_text(f"{code.read_text()}\n# version 2\n")
    model = ("-m", "add_sub", "--model-repository", str(scene.models))
    status, output = scene.run("predict", *model, "--knowledge", "memory", "--format", "json")
    assert status == 0, output
    (predicted,) = json.loads(output)["predicted"]

    status, output = scene.profile(**MORE, knowledge="memory")
    assert status == 0, output
    assert "Predicted before measuring: " in output
    assert results(scene)["conclusion"]["trials"] >= 2
    assert [each["model"] for each in predicted["donors"]] == ["add_sub"]
    assert len(predicted["trials"]) >= 2

    status, output = scene.profile(**MORE, knowledge="memory")  # resumed: the same questions
    assert status == 0, output
    assert "Profiling add_sub_" not in output
