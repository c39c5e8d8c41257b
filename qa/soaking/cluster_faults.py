# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The faults of a run on a Ray cluster. The run is the driver; a slot is a process on a node."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from contextlib import suppress

import psutil

from qa.soaking.faults import FAULTS as ON_ONE_MACHINE
from qa.soaking.faults import LOAD, MAIN, SERVER, Fault, Strike
from qa.soaking.program import GUARD_OF, send
from qa.soaking.ray_nodes import HEAD, RAYLET, SLOT

_VICTIMS = (SLOT, SERVER, "stub", LOAD, GUARD_OF + SERVER, GUARD_OF + LOAD)


def _kill(role: str) -> Fault:
    """Kills one of several."""
    return Fault(lambda strike: bool(strike.reach(role, signal.SIGKILL, most=1)), needs_trial=True)


def _kill_raylet(strike: Strike) -> bool:
    """Kills the raylet of a slot. Another node comes before the next run."""
    killed = strike.reach(RAYLET, signal.SIGKILL, most=1)
    for _ in killed:
        strike.scene.mends.callback(strike.nodes.add_node)
    return bool(killed)


def _kill_with_guards(strike: Strike) -> bool:
    """Kills a slot and its guards one by one, in any order: the programs behind them live on."""
    if not strike.run.until(lambda: strike.find(GUARD_OF + SERVER)):
        return False
    guards = [guard for role in (SERVER, LOAD) for guard in strike.find(GUARD_OF + role)]
    if not guards:
        return False  # they have just ended
    strike.dice.shuffle(guards)
    with suppress(psutil.Error):  # and so may these
        slot = guards[0].parent()
        victims = [each for each in (slot, *guards) if each and slot in (each, each.parent())]
        strike.dice.shuffle(victims)
        return bool(send(victims, signal.SIGKILL))
    return False


def _start_another(strike: Strike) -> bool:
    """Starts a second driver with the same checkpoints."""
    is_in_time = not strike.run.has_ended
    strike.scene.start(f"another-{len(strike.scene.programs)}")
    return is_in_time


def _start_separate(strike: Strike) -> bool:
    """Starts a second driver with checkpoints of its own: on the same nodes, or on a free node of
    this host.
    """
    is_in_time = not strike.run.has_ended
    own = [f"--{name}={name}-2" for name in ("checkpoint-directory", "export-path")]
    own += ["--output-model-repository-path=variants-2"]
    place = strike.dice.choice([[], ["--slots=1", f"--slot-label={HEAD}"]])
    name = f"separate-{len(strike.scene.programs)}"
    strike.scene.start(name, *own, *place, is_separate=True)
    return is_in_time


FAULTS: Mapping[str, Fault] = {
    **{f"kill {role}": _kill(role) for role in _VICTIMS},
    "kill slot and guards": Fault(_kill_with_guards, is_swept_later=True, needs_trial=True),
    "kill raylet": Fault(_kill_raylet, needs_trial=True),
    **{name: ON_ONE_MACHINE[name] for name in (f"kill {MAIN}", "SIGTERM")},
    "two runs": Fault(_start_another),
    "two runs, separate checkpoints": Fault(_start_separate),
}
