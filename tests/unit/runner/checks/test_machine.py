# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What readings of a machine mean: load, memory, clock rates, clocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.runner.checks.finding import Level
from model_analyzer.runner.checks.machine import (
    Clock,
    Frequency,
    MachineLoad,
    judge_clock,
    judge_frequency,
    judge_load,
    judge_memory,
    read_clock,
    read_frequency,
    read_load,
    read_memory,
)


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
    assert judge_clock(read_clock(), needs_time_of_day=True).found
    assert judge_frequency(read_frequency()).found


def test_governors_and_turbo_are_read(tmp_path: Path) -> None:
    cpus = tmp_path / "sys/devices/system/cpu"
    for number in (0, 1, 17):
        write(cpus / f"cpu{number}/cpufreq/scaling_governor", "powersave")
    write(cpus / "intel_pstate/no_turbo", "0")

    frequency = read_frequency(tmp_path)
    finding = judge_frequency(frequency)

    assert frequency == Frequency(governors=frozenset({"powersave"}), turbo=True)
    assert finding.level is Level.WARNING
    assert finding.found.startswith("governor powersave, turbo on")
    assert "cpupower" in finding.fix


@pytest.mark.parametrize(("text", "turbo"), [("1", True), ("0", False)])
def test_boost_of_other_drivers_is_read(tmp_path: Path, text: str, turbo: bool) -> None:
    write(tmp_path / "sys/devices/system/cpu/cpufreq/boost", text)

    assert read_frequency(tmp_path).turbo is turbo


def test_one_processor_that_saves_power_is_enough_for_a_warning() -> None:
    mixed = Frequency(governors=frozenset({"performance", "schedutil"}), turbo=None)

    assert judge_frequency(mixed).level is Level.WARNING


def test_steady_or_invisible_clock_rates_are_fine(tmp_path: Path) -> None:
    steady = judge_frequency(Frequency(governors=frozenset({"performance"}), turbo=False))
    invisible = judge_frequency(read_frequency(tmp_path))

    assert (steady.level, steady.found) == (Level.OK, "governor performance, turbo off")
    assert invisible.level is Level.OK
    assert "cannot be seen" in invisible.found


def test_a_slow_clock_source_names_a_better_one(tmp_path: Path) -> None:
    directory = tmp_path / "sys/devices/system/clocksource/clocksource0"
    write(directory / "current_clocksource", "hpet")
    write(directory / "available_clocksource", "hpet acpi_pm kvm-clock")

    finding = judge_clock(read_clock(tmp_path), needs_time_of_day=False)

    assert finding.level is Level.WARNING
    assert "clocksource=kvm-clock" in finding.fix


@pytest.mark.parametrize(
    ("synchronised", "level"), [(True, Level.OK), (None, Level.OK), (False, Level.WARNING)]
)
def test_a_time_that_nobody_keeps_right_gets_a_warning(
    synchronised: bool | None, level: Level
) -> None:
    clock = Clock(source="tsc", available=["tsc"], synchronised=synchronised)

    assert judge_clock(clock, needs_time_of_day=True).level is level


def test_the_time_of_day_is_of_no_account_on_one_machine() -> None:
    clock = Clock(source="tsc", available=["tsc"], synchronised=False)

    finding = judge_clock(clock, needs_time_of_day=False)

    assert finding.level is Level.OK
    assert finding.found == "tsc, not kept right by NTP"
