# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One slot against several: the arithmetic of the comparison, and finished runs that are kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.search.pairs import Pair, Result, difference_of, run_pairs, table
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.trials import Trial
from tests.unit.benchmarks.test_search_laboratory import surface


def pair(surface: str, seed: int, alone: float, together: float) -> Pair:
    return Pair(
        surface=surface,
        constrained=surface.endswith("-fast"),
        seed=seed,
        slots=8,
        single=Result(value=alone, measurements=20, wall_s=20.0),
        several=Result(value=together, measurements=30, wall_s=5.0),
    )


def seconds(_trial: Trial, _slot: Slot) -> float:
    return 2.0


def test_the_error_is_that_of_the_surfaces_not_of_the_runs() -> None:
    pairs = [pair("a", seed, 0.9, 1.0) for seed in range(50)]
    pairs += [pair("b", seed, 0.9, 0.9) for seed in range(50)]

    gain, error = difference_of(pairs)

    assert gain == pytest.approx(0.05)
    assert error == pytest.approx(0.1 / math.sqrt(2) / math.sqrt(2))


def test_every_surface_counts_alike() -> None:
    gain, _ = difference_of([pair("a", 0, 0.5, 1.0), *(pair("b", n, 0.5, 0.5) for n in range(9))])

    assert gain == pytest.approx(0.25)


def test_the_table_has_a_row_for_each_kind_and_one_for_all() -> None:
    rows = table([pair("a", 0, 0.9, 0.8), pair("a-fast", 0, 1.0, 1.0)]).splitlines()[2:]

    assert rows == [
        "| without constraints | 1 | 90.00% | 80.00% | -10.00 ± 0.00 points | 1.50 times | 0.250 |",
        "| with constraints | 1 | 100.00% | 100.00% | +0.00 ± 0.00 points | 1.50 times | 0.250 |",
        "| all | 2 | 95.00% | 90.00% | -5.00 ± 9.80 points | 1.50 times | 0.250 |",
    ]


def test_finished_pairs_are_kept_and_not_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "pairs.json"
    (first,) = run_pairs([surface()], [0], 2, lambda _: seconds, kept)

    assert first.single.wall_s == 2.0 * first.single.measurements
    assert first.several.wall_s < first.single.wall_s
    changed = json.loads(kept.read_text())
    changed["single"]["value"] = 0.125
    kept.write_text(json.dumps(changed) + "\n")
    again = list(run_pairs([surface()], [0, 1], 2, lambda _: seconds, kept))

    assert again[0] == replace(first, single=replace(first.single, value=0.125))
    assert again[1].seed == 1
    assert len(kept.read_text().splitlines()) == 2
