# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What readings of a machine mean: load, memory, clock rates, time of day."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.machine_checks import (
    MachineLoad,
    judge_governors,
    judge_load,
    judge_memory,
    judge_platform,
    judge_time_of_day,
    read_governors,
    read_load,
    read_memory,
    read_synchronised,
)
from model_analyzer.runner.install import Platform


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.mark.parametrize(
    ("average", "share", "level"),
    [(0.2, 0.02, Level.OK), (6.0, 0.02, Level.WARNING), (0.2, 0.6, Level.WARNING)],
)
def test_a_busy_machine_gets_a_warning(average: float, share: float, level: Level) -> None:
    load = MachineLoad(cores=8, average=average, share=share, users=[("make", 3.0), ("idle", 0.01)])

    finding = judge_load(load)

    assert finding.level is level
    assert ("make (3.0 cores)" in finding.found) is (level is Level.WARNING)
    assert "idle" not in finding.found


def test_little_memory_gets_a_warning() -> None:
    assert judge_memory(0.4).level is Level.WARNING
    assert judge_memory(4).level is Level.OK


def test_this_machine_can_be_read() -> None:
    load = read_load()

    assert load.cores >= 1
    assert 0 <= load.share <= 1
    assert read_memory() > 0
    assert judge_time_of_day(read_synchronised()).found
    assert judge_governors(read_governors()).found


def test_governors_are_read(tmp_path: Path) -> None:
    cpus = tmp_path / "sys/devices/system/cpu"
    for number in (0, 1, 17):
        write(cpus / f"cpu{number}/cpufreq/scaling_governor", "powersave")

    governors = read_governors(tmp_path)
    finding = judge_governors(governors)

    assert governors == {"powersave"}
    assert finding.level is Level.WARNING
    assert finding.found.startswith("governor powersave")
    assert "cpupower" in finding.fix


def test_one_processor_that_saves_power_is_enough_for_a_warning() -> None:
    mixed = frozenset({"performance", "schedutil"})

    assert judge_governors(mixed).level is Level.WARNING


def test_steady_or_invisible_clock_rates_are_fine(tmp_path: Path) -> None:
    steady = judge_governors(frozenset({"performance"}))
    invisible = judge_governors(read_governors(tmp_path))

    assert (steady.level, steady.found) == (Level.OK, "governor performance")
    assert invisible.level is Level.OK
    assert "unknown" in invisible.found


@pytest.mark.parametrize(
    ("synchronised", "level"), [(True, Level.OK), (None, Level.OK), (False, Level.WARNING)]
)
def test_a_clock_without_synchronization_gets_a_warning(
    synchronised: bool | None, level: Level
) -> None:
    assert judge_time_of_day(synchronised).level is level


@pytest.mark.parametrize(
    ("system", "machine", "library", "version", "words"),
    [
        ("linux", "x86_64", "glibc", "2.34", ""),
        ("linux", "x86_64", "glibc", "2.100", ""),
        ("linux", "x86_64", "glibc", "2.31", "needs glibc 2.34 or newer"),
        ("linux", "x86_64", "musl", "", "found musl"),
        ("linux", "x86_64", "", "", "found another C library"),
        ("linux", "aarch64", "glibc", "2.39", "no runtime for linux on aarch64"),
        ("darwin", "arm64", "", "", "no runtime for darwin on arm64"),
    ],
)
def test_a_platform_without_programs_says_why(
    system: str, machine: str, library: str, version: str, words: str
) -> None:
    here = Platform(system, machine, library, version)

    finding = judge_platform(here, has_program=False)

    assert finding.level is (Level.PROBLEM if words else Level.OK)
    assert words in finding.found
    assert bool(finding.fix) is bool(words)
    assert judge_platform(here, has_program=True).level is Level.OK
