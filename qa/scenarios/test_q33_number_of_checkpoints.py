# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q33: checkpoints are numbered, and the last is all that is needed.

Here each model that is complete makes one, and none is ever written again.
"""


def test_one_checkpoint_for_each_model(scenario, three_models) -> None:
    run = scenario.profile(**three_models["single"])

    assert run.status == 0, run.output
    assert scenario.checkpoints == ["0.ckpt", "1.ckpt", "2.ckpt"]
    for name in ("0.ckpt", "1.ckpt"):
        (scenario.directory / "checkpoints" / name).unlink()
    run = scenario.profile(**three_models["single"])
    assert run.status == 0, run.output
    assert "Profiling " not in run.output.replace("Profiling server", "")
