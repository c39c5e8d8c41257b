# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q35: an interrupt lets the running measurement end, saves it, and leaves the rest.

Here a measurement is first saved in the journal; the checkpoint is made of it at the end.
"""


def test_the_running_measurement_is_kept(scenario, interrupted) -> None:
    assert interrupted.status == 1
    assert "SIGINT" in interrupted.output
    assert scenario.checkpoints == ["0.ckpt"]
    assert interrupted.profiled("a") == 2
    assert interrupted.profiled("r") == interrupted.profiled("v") == 0
