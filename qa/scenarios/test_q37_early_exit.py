# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q37: who interrupts again and again gets out at once.

Here one server serves all variants, unless an option asks for a new one for each.
"""

import signal
import time


def test_three_interrupts_end_the_run(scenario, three_models) -> None:
    process = scenario.start(
        "profile", "-v", "--server-restart", "variant", **three_models["multi"]
    )
    scenario.scene.wait_until(lambda: "Stopped Triton Server." in scenario.log)

    while process.poll() is None and interrupts_in(scenario.log) <= 3:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    run = scenario.finish(process, within_s=20)

    assert run.status == 1
    assert interrupts_in(run.output) > 3
    assert "Received SIGINT maximum number of times" in run.output
    assert run.output.count("Stopped Triton Server.") >= 2


def interrupts_in(log: str) -> int:
    return sum("SIGINT" in line for line in log.splitlines())
