# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal are no wider than it is, and no word of them is broken."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from model_analyzer.cli.table_layout import laid_out, wrapped
from model_analyzer.domain.goals import Goal
from model_analyzer.reports.tables import Table, answer_table, hardware_table
from model_analyzer.results.answer import answer_of
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import at_most, goal, measurement, objectives, ranking, record, variant
from tests.unit.reports.test_words_of_the_answer import CASES

LONG = "resnet50_with_a_long_name_as_teams_give_it"
WIDTHS = (60, 80, 100)


def long_names(by: Goal) -> Ranking:
    values: dict[str, Any] = {
        "perf_goodput": 1234.5,
        "output_token_throughput": 64000.0,
        "time_to_first_token_p99": 41.5,
        "inter_token_latency_p99": 7.25,
        "cpu_used_ram": 2048.0,
    }
    measured = [
        record(
            variant(f"{LONG}_config_{n}", model=LONG, max_batch_size=2 * n + 1),
            measurement(1000 + n, 20 - n, **values),
            concurrency=2**n,
            repetition=again,
        )
        for n in range(4)
        for again in (0, 1)
    ]
    return ranking(*measured, model=LONG, by=by)


WISHED = objectives(perf_goodput=2, output_token_throughput=1, time_to_first_token_p99=1)
RANKINGS = {
    **{name: each for name, each in CASES.items() if each.results},
    "long name": long_names(goal()),
    "many metrics": long_names(goal(*at_most(inter_token_latency_p99=10), wished=WISHED)),
}


def drawn(table: Table, width: int) -> list[str]:
    console = Console(width=width)
    with console.capture() as capture:
        for part in laid_out(table, width):
            console.print(part)
    return [line.rstrip() for line in capture.get().splitlines()]


BREAKS = r"(?<=[,;])(?!\d{3}(?!\d))|\s"


def words_of(table: Table) -> set[str]:
    """The parts of headers and cells that must stay together."""
    texts = [*table.headers, *(text or "" for row in table.texts() for text in row)]
    return {piece for text in texts for piece in re.split(BREAKS, text) if piece}


def check(table: Table, width: int) -> None:
    lines = drawn(table, width)
    assert max(map(cell_len, lines)) <= width
    shown = {piece for line in lines for piece in re.split(BREAKS, line) if piece}
    own = words_of(table) | {"Not", "shown", "in", f"{width}", "columns:", "-", ","}
    own |= {f"{word}," for word in own} | {word.rstrip(",") for word in own}
    assert {word for word in shown if word.strip("─")} <= own


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", RANKINGS)
def test_an_answer_has_no_long_line_and_no_broken_word(name: str, width: int) -> None:
    ranked = RANKINGS[name]
    check(answer_table(ranked.results, ranked.goal), width)
    check(hardware_table([answer_of(ranked)]), width)


WORDS = st.lists(st.text("abm_0,9:", min_size=1, max_size=50), min_size=1, max_size=4)
CELLS = WORDS.map(" ".join) | st.integers(0, 10**9) | st.none()


@given(data=st.data(), width=st.sampled_from(WIDTHS), size=st.integers(1, 12))
def test_no_table_of_any_command_has_a_long_line_or_a_broken_word(
    data: st.DataObject, width: int, size: int
) -> None:
    headers = data.draw(st.lists(WORDS.map(" ".join), min_size=size, max_size=size))
    rows = data.draw(st.lists(st.tuples(*[CELLS] * size), min_size=1, max_size=3))
    places = data.draw(st.sets(st.integers(0, size - 1), max_size=size - 1))
    check(Table(headers=tuple(headers), rows=tuple(rows), dispensable=tuple(places)), width)


def test_columns_that_a_table_can_do_without_go_first() -> None:
    table = Table(
        headers=("Name", "RAM", "Load"),
        rows=(("m_config_0", 4096, "concurrency 8"),),
        dispensable=(1,),
    )
    assert drawn(table, 40)[0].split() == ["Name", "RAM", "Load"]
    narrow = drawn(table, 28)
    assert narrow[0].split() == ["Name", "Load"]
    assert narrow[-1] == "Not shown in 28 columns: RAM"


def test_a_narrow_column_is_not_left_out_because_of_a_wide_one() -> None:
    wide = "instance_group.rate_limiter.resources.name"
    table = Table(
        headers=("Name", "Instances", "ms", wide),
        rows=(("m_config_0", 2, 5, "R1"),),
        dispensable=(1, 2, 3),
    )
    narrow = drawn(table, 50)
    assert narrow[0].split() == ["Name", "Instances", "ms"]
    assert narrow[-2:] == ["Not shown in 50 columns:", wide]


def test_what_does_not_fit_is_a_block_of_lines_for_each_row() -> None:
    table = Table(headers=("Name", "Latency (ms)"), rows=(("m_config_0", 15), ("m_config_1", 25)))
    assert drawn(table, 16) == [
        "m_config_0",
        "  Latency   15",
        "  (ms)",
        "m_config_1",
        "  Latency   25",
        "  (ms)",
    ]


def test_only_a_word_that_is_wider_than_the_terminal_is_broken() -> None:
    assert wrapped("one two,three  four", 8) == ["one two,", "three", "four"]
    assert wrapped("abcdefghij k", 4) == ["abcd", "efgh", "ij k"]
    assert wrapped("a\nb", 4) == ["a", "b"]
    assert wrapped("", 4) == [""]
