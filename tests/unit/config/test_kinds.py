# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every kind of value: what it accepts, from YAML and from the command line, and what it says.

Values of flags: perf_analyzer 2.51 and tritonserver 2.51 accept and refuse the same ones.

What they accept was found by starting the real programs with each value. They also accept numbers
with any text after them, of which they read the numbers: here, that is a mistake.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import jsonschema
import pytest

from model_analyzer.config.flag_values import PERF_ANALYZER_VALUES, TRITON_SERVER_VALUES
from model_analyzer.config.kinds import (
    Boolean,
    Duration,
    Endpoint,
    Environment,
    Fields,
    FilePath,
    Flags,
    Gpus,
    Integer,
    IntegerOr,
    Integers,
    Kind,
    Label,
    ListOf,
    Number,
    OneOf,
    PathOrUrl,
    Percent,
    Text,
)
from model_analyzer.config.model_options import PERF_ANALYZER, TRITON_SERVER
from model_analyzer.config.nodes import Node
from model_analyzer.domain.flags import PERF_ANALYZER_FLAGS, TRITON_SERVER_FLAGS
from tests.phrases import EMPTY_RANGE, NO_PASSWORD, NOT_AN_INTEGER
from tests.unit.builders import flag, parse_problem, parse_problems, yaml


class Colour(Enum):
    RED = "red"
    GREEN = "green"


EVERY_KIND: list[Kind] = [
    Text(),
    FilePath(),
    PathOrUrl(),
    Integer(),
    Number(),
    Duration(),
    Percent(50, 99),
    Boolean(),
    OneOf(Colour),
    ListOf(Text(), "NAMES"),
    IntegerOr("auto", 1),
    Label(),
    Integers(1),
    Endpoint(),
    Flags("tool", ["verbose"], underscores=False),
    Environment(),
]
ids = [type(kind).__name__ for kind in EVERY_KIND]


@pytest.mark.parametrize("kind", EVERY_KIND, ids=ids)
def test_an_invalid_value_is_reported_with_its_place(kind: Kind) -> None:
    nowhere_accepted = Node((Node((Node(None, "f.yaml:3:9"),), "f.yaml:3:8"),), "f.yaml:3:7")
    for problem in parse_problems(kind, nowhere_accepted):
        assert problem.where in ("f.yaml:3:7", "f.yaml:3:8")
        assert problem.message


@pytest.mark.parametrize("kind", EVERY_KIND, ids=ids)
def test_null_is_not_a_value_of_any_kind(kind: Kind) -> None:
    assert "found nothing" in parse_problem(kind, Node(None, "f.yaml:1:1")).message


# ---------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("written", "meant"),
    [("add_sub", "add_sub"), ("''", ""), ("8", "8"), ("2.5", "2.5"), ("2026-01-02", "2026-01-02")],
)
def test_any_scalar_is_text(written: str, meant: str) -> None:
    assert Text().parse(yaml(written)) == meant


@pytest.mark.parametrize(
    ("written", "actual"), [("[a, b]", "a list"), ("{a: b}", "a mapping"), ("null", "nothing")]
)
def test_text_refuses_lists_and_mappings(written: str, actual: str) -> None:
    problem = parse_problem(Text(), yaml(written))
    assert problem.message == f"expected text, found {actual}"
    assert problem.where == "f.yaml:1:1"


# ---------------------------------------------------------------------------------------- path


def test_a_path_stays_as_it_was_written() -> None:
    assert FilePath().parse(yaml("some dir/models")) == Path("some dir/models")


def test_a_tilde_is_the_home_of_the_user() -> None:
    assert FilePath().parse(flag("~/models")) == Path.home() / "models"


@pytest.mark.parametrize("kind", [FilePath(), PathOrUrl()])
@pytest.mark.parametrize("written", ["''", '"a\\0b"', "[a]", "~no-such-user-here/models"])
def test_a_path_refuses(kind: Kind, written: str) -> None:
    assert parse_problem(kind, yaml(written)).where == "f.yaml:1:1"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("some dir/models", Path("some dir/models")),
        ("~/models", Path.home() / "models"),
        ("s3://bucket/models", "s3://bucket/models"),
        ("simplecache::s3://bucket/~", "simplecache::s3://bucket/~"),
    ],
)
def test_a_url_is_no_path(written: str, meant: Path | str) -> None:
    assert PathOrUrl().parse(flag(written)) == meant


# ------------------------------------------------------------------------------------- integer


@pytest.mark.parametrize("written", ["3", "3.0", "'3'", "' 3 '", "+3"])
def test_a_whole_number_in_any_writing(written: str) -> None:
    number = Integer().parse(yaml(written))
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize(
    ("written", "actual"),
    [
        ("2.7", "2.7"),
        ("'2.7'", "'2.7'"),
        ("true", "true"),
        ("three", "'three'"),
        ("''", "''"),
        ("[3]", "a list"),
        ("{a: 3}", "a mapping"),
        (".inf", "inf"),
        (".nan", "nan"),
    ],
)
def test_a_value_that_is_not_a_whole_number_is_refused_not_truncated(
    written: str, actual: str
) -> None:
    problem = parse_problem(Integer(), yaml(written))
    assert problem.message == f"{NOT_AN_INTEGER}, found {actual}"


def test_bounds_of_a_whole_number_belong_to_it() -> None:
    assert Integer(1, 5).parse(flag("1")) == 1
    assert Integer(1, 5).parse(flag("5")) == 5


def test_a_whole_number_outside_its_bounds_is_refused_with_the_bound() -> None:
    assert parse_problem(Integer(1), flag("0")).message == "must be at least 1, found 0"
    assert parse_problem(Integer(1, 5), flag("6")).message == "must be at most 5, found 6"


# -------------------------------------------------------------------------------------- number


@pytest.mark.parametrize(
    ("written", "meant"), [("1.5", 1.5), ("2", 2.0), ("'0.25'", 0.25), ("1e3", 1000.0), ("0", 0.0)]
)
def test_a_number_in_any_writing(written: str, meant: float) -> None:
    assert Number(0).parse(yaml(written)) == meant


@pytest.mark.parametrize("written", ["true", "x", "''", "[1]", "{a: 1}", "0x10x"])
def test_a_value_that_is_not_a_number_is_refused(written: str) -> None:
    assert parse_problem(Number(), yaml(written)).message.startswith("expected a number, found ")


@pytest.mark.parametrize("written", [".nan", ".inf", "-.inf", "nan", "inf", "1e999"])
def test_a_number_is_finite(written: str) -> None:
    assert parse_problem(Number(), yaml(written)).message.startswith("expected a finite number")


def test_the_least_number_is_accepted_unless_only_more_is() -> None:
    assert Number(0).parse(flag("0")) == 0
    assert parse_problem(Number(0), flag("-0.5")).message == "must be at least 0, found -0.5"
    assert parse_problem(Number(0, above=True), flag("0")).message == "must be above 0, found 0"


# ------------------------------------------------------------------------------------- boolean


@pytest.mark.parametrize("written", ["true", "'true'", "True", "yes", "on", "1", "'1'", "' TRUE '"])
def test_words_for_true(written: str) -> None:
    assert Boolean().parse(yaml(written)) is True


@pytest.mark.parametrize("written", ["false", "'false'", "False", "no", "off", "0", "'0'", "'NO'"])
def test_words_for_false_are_false_even_as_text(written: str) -> None:
    assert Boolean().parse(yaml(written)) is False


@pytest.mark.parametrize("written", ["maybe", "''", "2", "1.0", "[true]", "{a: true}"])
def test_other_words_are_neither_true_nor_false(written: str) -> None:
    assert parse_problem(Boolean(), yaml(written)).message.startswith(
        "expected true or false, found"
    )


# -------------------------------------------------------------------------------------- choice


def test_a_choice_gives_the_value_of_the_enum() -> None:
    assert OneOf(Colour).parse(flag("green")) is Colour.GREEN
    assert OneOf(Colour).metavar == "[red|green]"


def test_a_choice_may_have_further_names() -> None:
    colours = OneOf(Colour, {"vert": Colour.GREEN})
    assert colours.parse(flag("Vert")) is colours.parse(yaml("green")) is Colour.GREEN
    assert (colours.metavar, colours.words) == ("[red|green]", ("red", "green"))
    assert ListOf(colours, "COLOURS").parse(flag("red,vert")) == (Colour.RED, Colour.GREEN)
    assert "vert" not in parse_problem(colours, yaml("bleu")).message
    jsonschema.validate("vert", ListOf(colours, "COLOURS").schema())
    jsonschema.validate(["red,vert"], ListOf(colours, "COLOURS").schema())


def test_a_wrong_choice_names_the_choices_and_the_nearest() -> None:
    problem = parse_problem(OneOf(Colour), yaml("gren"))
    assert problem.message == "expected one of red, green, found 'gren'"
    assert problem.hint == "did you mean 'green'?"


@pytest.mark.parametrize("written", ["[red]", "{red: 1}", "''"])
def test_a_choice_refuses(written: str) -> None:
    assert parse_problem(OneOf(Colour), yaml(written)).message.startswith("expected one of")


# --------------------------------------------------------------------------------------- lists

NAMES = ListOf(Text(), "NAMES")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a", ("a",)),
        ("[a, b]", ("a", "b")),
        ("'a,b'", ("a", "b")),
        ("' a , b '", ("a", "b")),
        ("['a,b', c]", ("a", "b", "c")),
        ("a,,b,", ("a", "b")),
        ("[]", ()),
        ("3", ("3",)),
    ],
)
def test_a_list_is_one_value_a_yaml_list_or_text_with_commas(
    written: str, meant: tuple[str, ...]
) -> None:
    assert NAMES.parse(yaml(written)) == meant


def test_every_wrong_item_of_a_list_is_reported_with_its_place() -> None:
    problems = parse_problems(NAMES, yaml("- a\n- [b]\n- {c: d}"))
    assert [problem.where for problem in problems] == ["f.yaml:2:3", "f.yaml:3:3"]


def test_a_mapping_is_not_a_list() -> None:
    assert parse_problem(NAMES, yaml("{a: b}")).message == "expected text, found a mapping"


# ------------------------------------------------------------------------- lists of whole numbers


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("4", (4,)),
        ("[4, 2]", (2, 4)),
        ("'4, 2 ,1'", (1, 2, 4)),
        ("[2, '2', 2.0]", (2,)),
        ("[]", ()),
        ("{start: 1, stop: 3}", (1, 2, 3)),
        ("{start: 2, stop: 10, step: 4}", (2, 6, 10)),
        ("{start: 2, stop: 64, step: 8}", (2, 10, 18, 26, 34, 42, 50, 58)),
        ("{start: 3, stop: 3}", (3,)),
        ("[{start: 1, stop: 2}, 8]", (1, 2, 8)),
    ],
)
def test_whole_numbers_in_yaml_are_sorted_and_without_repetitions(
    written: str, meant: tuple[int, ...]
) -> None:
    assert Integers(1).parse(yaml(written)) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("8", (8,)),
        ("1,2,4", (1, 2, 4)),
        (" 4 , 1 ", (1, 4)),
        ("1:4", (1, 2, 3, 4)),
        ("1:10:2", (1, 3, 5, 7, 9)),
        ("2:64:8", (2, 10, 18, 26, 34, 42, 50, 58)),
        ("5:5", (5,)),
        ("1:3,16", (1, 2, 3, 16)),
    ],
)
def test_whole_numbers_on_the_command_line(written: str, meant: tuple[int, ...]) -> None:
    assert Integers(1).parse(flag(written)) == meant


@pytest.mark.parametrize("written", ["5:1", "1:5:0", "1:5:-1"])
def test_a_range_without_numbers_is_refused(written: str) -> None:
    assert parse_problem(Integers(1), flag(written)).message.endswith(EMPTY_RANGE)


@pytest.mark.parametrize(
    "written", ["{start: 1}", "{stop: 3}", "{start: 1, stop: 3, by: 1}", "{}", "{a: 1}"]
)
def test_a_range_has_start_and_stop_and_nothing_else_but_step(written: str) -> None:
    problem = parse_problem(Integers(1), yaml(written))
    assert problem.message == "a range has start, stop and (if not 1) step"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("1:2:3:4", "a range is start:stop or start:stop:step, found '1:2:3:4'"),
        ("a:3", f"{NOT_AN_INTEGER}, found 'a'"),
        ("1:", f"{NOT_AN_INTEGER}, found ''"),
        ("0", "must be at least 1, found 0"),
        ("0:4", "must be at least 1, found 0"),
        ("1:1000000", "a range of more than 10000 numbers"),
        ("1,x", f"{NOT_AN_INTEGER}, found 'x'"),
        ("", f"{NOT_AN_INTEGER}, found ''"),
    ],
)
def test_wrong_whole_numbers_on_the_command_line(written: str, message: str) -> None:
    problem = parse_problem(Integers(1), flag(written))
    assert (problem.where, problem.message) == ("--flag", message)


def test_an_endless_looking_range_ends_where_it_is_allowed_to() -> None:
    assert len(Integers(1).parse(flag("1:10000"))) == 10_000


@pytest.mark.parametrize(
    "node",
    [
        yaml(f"[{','.join(map(str, range(1, 10_002)))}]"),
        yaml("[{start: 1, stop: 10000}, {start: 10001, stop: 10001}]"),
        yaml("['1:10000', 10001]"),
        flag(",".join(map(str, range(1, 10_002)))),
    ],
    ids=["list", "ranges", "range and number", "text"],
)
def test_a_list_has_a_limit_too(node: Node) -> None:
    assert parse_problem(Integers(1), node).message == "more than 10000 numbers"


def test_text_with_commas_has_a_limit() -> None:
    assert parse_problem(Integers(1), flag("1," * 10_001)).message == (
        "more than 10000 values between commas"
    )


def test_every_wrong_number_is_reported_with_its_place() -> None:
    problems = parse_problems(Integers(1), yaml("[1, 0, 4, x, [2]]"))
    assert [(problem.where, problem.message) for problem in problems] == [
        ("f.yaml:1:5", "must be at least 1, found 0"),
        ("f.yaml:1:11", f"{NOT_AN_INTEGER}, found 'x'"),
        ("f.yaml:1:14", f"{NOT_AN_INTEGER}, found a list"),
    ]


# ------------------------------------------------------------------------------------ endpoint


@pytest.mark.parametrize("written", ["localhost:8001", "10.0.0.1:80", "host.example:65535"])
def test_an_endpoint_is_host_and_port(written: str) -> None:
    assert Endpoint().parse(flag(written)) == written


@pytest.mark.parametrize(
    "written", ["localhost:8002", "http://localhost:8002/metrics", "http://h:1/a/b:c"]
)
def test_a_url_may_have_a_scheme_and_a_path(written: str) -> None:
    assert Endpoint(url=True).parse(flag(written)) == written


@pytest.mark.parametrize(
    "written", ["localhost", ":8000", "h:0", "h:65536", "h:x", "h:", "", "h:80/path", "h:-1"]
)
def test_an_endpoint_refuses(written: str) -> None:
    problem = parse_problem(Endpoint(), flag(written))
    assert problem.message == f"expected HOST:PORT with a port from 1 to 65535, found {written!r}"


@pytest.mark.parametrize("written", ["https://me:s3cr3t@host:443", "me:s3cr3t@host:8000"])
def test_a_password_in_an_endpoint_is_refused_without_showing_it(written: str) -> None:
    problem = parse_problem(Endpoint(), flag(written))
    assert NO_PASSWORD in problem.message
    assert "http-header" in problem.hint
    assert "s3cr3t" not in str(problem)


def test_a_url_needs_a_port() -> None:
    problem = parse_problem(Endpoint(url=True), flag("http://localhost/metrics"))
    assert problem.message.startswith("expected URL with a port from 1 to 65535")


# --------------------------------------------------------------------------------------- flags

KEBAB = Flags("tool", ["log-level", "shape", "verbose"], repeatable=["shape"], underscores=False)
EITHER = Flags("tool", ["log-level", "shape"], underscores=True)


def test_values_of_flags_become_text() -> None:
    node = yaml("{log-level: 3, verbose: true, shape: 'IN:4'}")
    assert KEBAB.parse(node) == {"log-level": "3", "verbose": "true", "shape": "IN:4"}


def test_a_flag_that_repeats_takes_a_list() -> None:
    assert KEBAB.parse(yaml("{shape: ['A:1', 'B:2']}")) == {"shape": ("A:1", "B:2")}


def test_a_flag_that_does_not_repeat_takes_no_list() -> None:
    problem = parse_problem(KEBAB, yaml("{verbose: [true]}"))
    assert (problem.where, problem.message) == ("f.yaml:1:11", "expected text, found a list")


def test_a_flag_without_a_value_is_not_given() -> None:
    assert KEBAB.parse(yaml("{verbose: , log-level: 0, shape: false}")) == {
        "log-level": "0",
        "shape": "false",
    }


def test_underscores_in_flags_become_dashes_for_some_programs() -> None:
    assert EITHER.parse(yaml("{log_level: 1}")) == {"log-level": "1"}
    assert EITHER.parse(yaml("{log-level: 1}")) == {"log-level": "1"}
    problem = parse_problem(KEBAB, yaml("{log_level: 1}"))
    assert problem.message == "tool has no flag 'log_level'"
    assert problem.hint == "did you mean 'log-level'?"


def test_all_unknown_flags_are_reported_with_their_places() -> None:
    problems = parse_problems(KEBAB, yaml("verbose: 1\nshap: 2\nlog-leve: 3"))
    assert [(problem.where, problem.hint) for problem in problems] == [
        ("f.yaml:2:1", "did you mean 'shape'?"),
        ("f.yaml:3:1", "did you mean 'log-level'?"),
    ]


@pytest.mark.parametrize("written", ["verbose", "[verbose]", "true"])
def test_flags_are_a_mapping(written: str) -> None:
    message = parse_problem(KEBAB, yaml(written)).message
    assert message.startswith("expected a mapping of tool flags, found")


# --------------------------------------------------------------------------------- environment


def test_values_of_variables_become_text() -> None:
    node = yaml("OMP_NUM_THREADS: 4\nPATHS: $HOME/x\nEMPTY: ''")
    assert Environment().parse(node) == {"OMP_NUM_THREADS": "4", "PATHS": "$HOME/x", "EMPTY": ""}


def test_names_of_variables_that_no_system_takes_are_refused() -> None:
    problems = parse_problems(Environment(), yaml("GOOD: 1\n'A=B': 2\n'': 3"))
    assert [(problem.where, problem.message) for problem in problems] == [
        ("f.yaml:2:1", "not a valid variable name"),
        ("f.yaml:3:1", "not a valid variable name"),
    ]


def test_a_variable_holds_no_list() -> None:
    problem = parse_problem(Environment(), yaml("A: [1, 2]"))
    assert (problem.where, problem.message) == ("f.yaml:1:4", "expected text, found a list")


# --------------------------------------------------------------------------------- GPUs, fields


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("all", ("all",)),
        ("0", ("0",)),
        ("[0, 1]", ("0", "1")),
        ("'0, 1'", ("0", "1")),
        ("[GPU-1a, GPU-2b]", ("GPU-1a", "GPU-2b")),
        ("[]", ()),
        ("'[]'", ()),
    ],
)
def test_gpus_are_all_or_some_or_none(written: str, meant: tuple[str, ...]) -> None:
    assert Gpus().parse(yaml(written)) == meant


def test_all_gpus_cannot_be_part_of_a_list() -> None:
    problem = parse_problem(Gpus(), yaml("[all, 1]"))
    assert (problem.message, problem.where) == (
        "'all' cannot be combined with other GPUs",
        "f.yaml:1:1",
    )


FIELDS = Fields("fields of a thing", {"size": Integer(1), "name": Text()})


def test_each_field_is_read_by_its_kind_and_null_is_not_given() -> None:
    assert FIELDS.parse(yaml("{size: '3', name: }")) == {"size": 3}


def test_all_wrong_fields_are_reported() -> None:
    problems = parse_problems(FIELDS, yaml("{siz: 3, size: 0, name: []}"))
    assert [(problem.where, problem.message, problem.hint) for problem in problems] == [
        ("f.yaml:1:2", "'siz' is not one of the fields of a thing", "did you mean 'size'?"),
        ("f.yaml:1:16", "must be at least 1, found 0", ""),
        ("f.yaml:1:25", "expected text, found a list", ""),
    ]


def test_commas_within_whole_items_belong_to_them() -> None:
    whole_items = ListOf(Text(), "NAMES", whole_items=True)
    assert whole_items.parse(yaml("['a,b', c]")) == ("a,b", "c")
    assert whole_items.parse(yaml("'a,b'")) == ("a", "b")


def test_only_commas_are_not_a_list() -> None:
    problem = parse_problem(NAMES, yaml("', ,'"))
    assert problem.message == "expected values between commas, found ', ,'"


def test_words_of_a_flag_stay_as_they_were_written() -> None:
    flags = Flags("tool", ["limit", "verbose"], words=["limit"], underscores=False)
    assert flags.parse(yaml("{limit: off, verbose: off}")) == {"limit": "off", "verbose": "false"}


@pytest.mark.parametrize("written", ["http://me:secret@h:80", "me@h:80"])
def test_an_endpoint_holds_no_password_and_does_not_show_one(written: str) -> None:
    problem = parse_problem(Endpoint(), flag(written))
    assert NO_PASSWORD in problem.message
    assert "secret" not in str(problem)


@pytest.mark.parametrize("written", ["[::1]:8001", " h:80 ", "http://h:0080", "h-1.example:1"])
def test_more_endpoints(written: str) -> None:
    assert Endpoint().parse(flag(written)) == written.strip()


@pytest.mark.parametrize("written", ["1_000", "\u0663", "0x10"])
def test_a_whole_number_as_text_is_written_with_digits(written: str) -> None:
    assert parse_problem(Integer(), flag(written)).message.startswith(NOT_AN_INTEGER)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ("90s", 90), ("20m", 1200), ("1.5h", 5400), ("1h30m", 5400), ("0.5", 0.5)],
)
def test_a_duration_is_read_in_seconds(written: str, seconds: float) -> None:
    assert Duration().parse(yaml(written)) == seconds
    assert Duration().parse(flag(written)) == seconds


@pytest.mark.parametrize("written", ["20 minutes", "-5", "true", "null", "[1]", "m", "1d"])
def test_a_value_that_is_not_a_duration_is_refused(written: str) -> None:
    assert parse_problem(Duration(), yaml(written)).message


@pytest.mark.parametrize("written", ["1000000000s", "10000000000h", "99999999999999999999m"])
def test_a_duration_that_is_too_long_is_told_the_longest(written: str) -> None:
    problem = parse_problem(Duration(), flag(written))
    assert problem.message == f"must be at most 1000000s, found {written!r}"


def test_a_duration_in_another_unit_is_told_the_units() -> None:
    problem = parse_problem(Duration(), flag("1ms"))
    assert problem.message.startswith("expected a duration in hours, minutes or seconds, such as")


@pytest.mark.parametrize("written", ["0", "0.0", "0s", "0h0m"])
def test_a_duration_is_above_0(written: str) -> None:
    for node in (yaml(written), flag(written)):
        assert parse_problem(Duration(), node).message == "must be above 0, found 0"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(node.value, Duration().schema())
    jsonschema.validate("0h0m0.01s", Duration().schema())


@pytest.mark.parametrize(("written", "part"), [("90", 0.9), ("90%", 0.9), ("99", 0.99)])
def test_a_percentage_is_read_as_a_fraction(written: str, part: float) -> None:
    assert Percent(50, 99).parse(yaml(written)) == part
    assert Percent(50, 99).parse(flag(written)) == part
    jsonschema.validate(written, Percent(50, 99).schema())


@pytest.mark.parametrize("written", ["0.9", "100%", "90 percent", "true", "null", "[90]"])
def test_a_value_that_is_not_such_a_percentage_is_refused(written: str) -> None:
    assert parse_problem(Percent(50, 99), yaml(written)).message


# ------------------------------------------------------------- whole numbers or a word, and labels


@pytest.mark.parametrize(
    ("written", "meant"), [("auto", None), ("' AUTO '", None), ("4", 4), ("'4'", 4)]
)
def test_a_word_stands_for_no_number(written: str, meant: int | None) -> None:
    assert IntegerOr("auto", 1).parse(yaml(written)) == meant
    jsonschema.validate(written.strip("' "), IntegerOr("auto", 1).schema())


def test_another_word_or_a_small_number_is_refused() -> None:
    kind = IntegerOr("all", 1)
    assert kind.metavar == "[INTEGER|all]"
    assert (
        parse_problem(kind, yaml("auto")).message == "expected a whole number or all, found 'auto'"
    )
    assert parse_problem(kind, flag("0")).message == "must be at least 1, found 0"


def test_labels_stay_as_they_were_written() -> None:
    labels = ListOf(Label(), "LABELS")
    assert labels.parse(flag("ray.io/accelerator-type=H100, rack=")) == (
        "ray.io/accelerator-type=H100",
        "rack=",
    )
    jsonschema.validate(["a=b", "c="], labels.schema())


@pytest.mark.parametrize("written", ["H100", "=H100", "''"])
def test_a_label_has_a_key_and_a_value(written: str) -> None:
    assert parse_problem(Label(), yaml(written)).message.startswith("expected LABEL=VALUE, found ")


PERF_ANALYZER_ACCEPTS = [
    "measurement-interval: 5000", "measurement-interval: 5.5", "measurement-interval: 5000ms",
    "measurement-interval: ' 7'", "percentile: -1", "percentile: 99", "percentile: 99.9",
    "stability-percentage: 0", "stability-percentage: 999", "stability-percentage: 2.5",
    "latency-threshold: 0", "output-shared-memory-size: 0", "sequence-length: -5",
    "measurement-mode: time_windows", "request-distribution: poisson", "shared-memory: system",
    "grpc-compression-algorithm: gzip", "ssl-https-private-key-type: DER", "string-data: ''",
    "request-count: 0", "request-period: 5", "sequence-length-variation: .5", "trace-count: -1",
    "log-frequency: 0", "trace-level: OFF", "trace-rate: abc", "request-parameter: 'a::string'",
    "request-parameter: ['a:1:int', 'b:-2:INT']", "request-parameter: 'a:True:bool'",
    "request-parameter: 'a:1.5:string'", "serial-sequences: true", "endpoint: v1/x",
    "periodic-concurrency-range: '1:4:1'", "input-tensor-format: json", "data-directory: data",
    "measurement-interval: 2147483647", "request-parameter: 'a:2147483647:int'",
    "request-parameter: 'a:-2147483647:int'", "sequence-length: -2147483647",
    "sequence-id-range: '1:2147483647'", "stability-percentage: 2147483648",
]  # fmt: skip
PERF_ANALYZER_REFUSES = [
    "measurement-interval: abc", "measurement-interval: 0", "measurement-interval: -5",
    "measurement-interval: ''", "measurement-interval: 5s",
    "measurement-interval: 1e99", "measurement-interval: 5000 --async", "max-trials: 5ms",
    "percentile: 99 --async", "percentile: 9e1", "latency-threshold: 1s",
    "measurement-interval: 0x10", "measurement-interval: true",
    "measurement-request-count: many", "max-trials: 0", "max-threads: 0", "percentile: 0",
    "percentile: 100", "percentile: 200", "percentile: 5000ms", "stability-percentage: -5",
    "latency-threshold: -5", "string-length: 0", "sequence-length: abc", "metrics-interval: 0",
    "measurement-mode: TIME_WINDOWS", "request-distribution: gamma", "shared-memory: SYSTEM",
    "grpc-compression-algorithm: zip", "ssl-https-client-certificate-type: pem",
    "request-count: -5", "request-count: abc", "request-period: 0", "log-frequency: -1",
    "sequence-length-variation: abc", "trace-count: abc", "request-parameter: a=1",
    "request-parameter: 'a:1.5:double'", "request-parameter: 'a:1:'",
    "request-parameter: 'a:yes:bool'", "request-parameter: 'a:1:bool'",
    "request-parameter: 'a:1.5:int'", "request-parameter: 'a::int'",
    # these are too large for it
    "request-parameter: 'a:2147483648:int'", "measurement-interval: 2147483648",
    "measurement-interval: 3000000000ms", "max-trials: 99999999999", "request-count: 2147483648",
    "sequence-length: -2147483649", "output-shared-memory-size: 2147483648",
    "sequence-id-range: '1:2147483648'", f"stability-percentage: '{10**39}'",
]  # fmt: skip
TRITON_SERVER_ACCEPTS = [
    "log-verbose: 1", "log-verbose: -5", "log-verbose: true", "log-info: TRUE",
    "log-info: 'on'", "log-info: 0", "log-info: yes", "http-thread-count: +5",
    "metrics-interval-ms: 5.5", "exit-timeout-secs: -1", "log-format: ISO8601",
    "grpc-keepalive-permit-without-calls: true", "id: anything",
]  # fmt: skip
TRITON_SERVER_REFUSES = [
    "log-verbose: abc", "log-verbose: 5s", "http-thread-count: 8k",
    "log-verbose: ''", "log-info: maybe", "log-info: 'yes'", "log-info: 2",
    "http-thread-count: true", "metrics-interval-ms: .5x", "log-format: iso8601",
    "strict-model-config: often", "trace-rate: abc",
]  # fmt: skip


@pytest.mark.parametrize("written", PERF_ANALYZER_ACCEPTS)
def test_a_value_that_perf_analyzer_accepts_is_accepted(written: str) -> None:
    assert PERF_ANALYZER.parse(yaml(written))


@pytest.mark.parametrize("written", PERF_ANALYZER_REFUSES)
def test_a_value_that_perf_analyzer_refuses_is_refused_at_its_place(written: str) -> None:
    problem = parse_problem(PERF_ANALYZER, yaml(written))
    assert problem.where == f"f.yaml:1:{written.index(': ') + 3}"
    assert problem.message.startswith("expected ")


@pytest.mark.parametrize("written", TRITON_SERVER_ACCEPTS)
def test_a_value_that_tritonserver_accepts_is_accepted(written: str) -> None:
    assert TRITON_SERVER.parse(yaml(written))


@pytest.mark.parametrize("written", TRITON_SERVER_REFUSES)
def test_a_value_that_tritonserver_refuses_is_refused(written: str) -> None:
    assert parse_problem(TRITON_SERVER, yaml(written)).message.startswith("expected ")


def test_flags_of_other_versions_are_accepted_with_any_value() -> None:
    flags = PERF_ANALYZER.parse(yaml("{fixed-schedule: true, request-file: [a, b]}"))
    assert flags == {"fixed-schedule": "true", "request-file": ("a", "b")}
    assert TRITON_SERVER.parse(yaml("{http_max_input_size: 5}")) == {"http-max-input-size": "5"}


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("measurment-interval: 5", "did you mean 'measurement-interval'?"),
        ("measurement_mode: x", "did you mean 'measurement-mode'?"),
        ("a_b: 1", ""),
        ("'a b': 1", ""),
        ("p: 5000", "write measurement-interval"),
        ("H: 'a: b'", "write http-header"),
    ],
)
def test_a_misspelled_flag_is_refused(written: str, hint: str) -> None:
    problem = parse_problem(PERF_ANALYZER, yaml(written))
    assert problem.message.startswith("perf_analyzer has no flag")
    assert problem.hint == hint


def test_only_flags_that_exist_have_values() -> None:
    assert PERF_ANALYZER_VALUES.keys() <= set(PERF_ANALYZER_FLAGS)
    assert TRITON_SERVER_VALUES.keys() <= set(TRITON_SERVER_FLAGS)
