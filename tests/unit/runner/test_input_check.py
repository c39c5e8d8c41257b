# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Input data is refused where perf_analyzer refuses it, and with more words; inputs in the order of
the requests of a log.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts
from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load import input_check
from model_analyzer.runner.load.input_check import Mistake
from model_analyzer.runner.load.input_files import input_mistakes
from model_analyzer.runner.load.logged_requests import InputFile, parse_entries, size_of
from tests.input_cases import CASES, MODELS, tensor


def mistakes(directory: Path, model: dict[str, Any], *flags: str, **more: Any) -> Sequence[Mistake]:
    """The mistakes of the model's input data `in.json` and these flags of perf_analyzer."""
    facts = ModelFacts(
        name="m", config={"name": "m", "output": (tensor("o", "FP32", 1),), **model}, files="f"
    )
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    sizes = [int(given.get("-b", 1))]
    shape = {"shape": given["--shape"]} if "--shape" in given else {}
    return input_mistakes({"input-data": "in.json", **shape, **more}, facts, sizes, directory)


def of(directory: Path, content: object, model: str = "FP32", *flags: str) -> list[str]:
    """The mistakes of this content, as `what (fix)`."""
    text = content if isinstance(content, str) else json.dumps(content)
    (directory / "in.json").write_text(text)
    found = mistakes(directory, MODELS[model], *flags)
    return [f"{found.what} ({found.fix})".replace(f"{directory}/", "") for found in found]


@pytest.mark.parametrize(("model", "raw", "is_accepted", "flags"), CASES)
def test_the_verdict_is_that_of_perf_analyzer(
    tmp_path: Path, model: str, raw: bytes, is_accepted: bool, flags: tuple[str, ...]
) -> None:
    (tmp_path / "in.json").write_bytes(raw)

    found = mistakes(tmp_path, MODELS[model], *flags)

    assert all(mistake.what.startswith(f"{tmp_path}/in.json") for mistake in found)
    assert any(mistake.is_fatal for mistake in found) is not is_accepted


# for large files, another parser does not see that a key occurs twice
LARGE = [case for case in CASES if b'],"x":[' not in case[1] and b'],"data":[' not in case[1]]


@pytest.mark.parametrize(("model", "raw", "is_accepted", "flags"), LARGE)
def test_the_verdict_on_a_large_file_is_the_same(
    tmp_path: Path,
    model: str,
    raw: bytes,
    is_accepted: bool,
    flags: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_check, "_MOST_EXACT_BYTES", 0)
    test_the_verdict_is_that_of_perf_analyzer(tmp_path, model, raw, is_accepted, flags)


def test_the_place_in_a_large_file_that_is_not_json(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(input_check, "_MOST_EXACT_BYTES", 0)

    (text,) = of(tmp_path, '{"data":\n[{"x":\n[0.5, truth]}]}')

    assert text == "in.json: is not JSON: line 3: Expecting value (correct it there)"


def test_a_step_that_is_too_large_is_left_to_perf_analyzer(tmp_path: Path) -> None:
    assert of(tmp_path, '{"data": [{"x": ["%s"]}]}' % ("a" * 40 * 2**20)) == []


X = "in.json: input x of step 1"
ROWS = [
    ({"x": [0.5, 2019]}, f"{X}: element 2 is 2019: write 2019.0 (FP32) (each number"),
    ({"x": ["1", None]}, f'{X}: element 1 is "1": write 1.0; element 2 is null: write a number'),
    ({"x": [1, 2, 3, 4, 5]}, "element 3 is 3: write 3.0; and 2 more (FP32)"),
    ({"x": [[0.5, 1.5]]}, f"{X}: has lists in its list (write all elements in one flat list)"),
    ({"x": {"content": [0.5, 0.5], "shape": [1, 2]}}, "[2] (write [2]: perf_analyzer adds"),
    ({"x": {"a": 1.0, "b": 2.0}}, f"{X} is a mapping without content or b64 (write a list"),
    ({"y": [0.5, 1.5]}, "step 1 has 'y', which is not an input of the model (did you mean x?)"),
    ({"x": [0.5]}, f"{X} has 1 element, and its shape [2] needs 2 (give all elements of one"),
    ({"x": 0.5}, f"{X} is 0.5, not a list (write a list of its elements)"),
    ({"x": {"b64": "AACAPw=="}}, f"{X} has 1 element, and its shape [2] needs 2"),
    ({"x": {"b64": "AACA"}}, "b64 has 3 bytes, and an element of FP32 has 4 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "words"), ROWS)
def test_a_message_names_file_input_element_and_remedy(
    tmp_path: Path, step: dict[str, Any], words: str
) -> None:
    assert any(words in text for text in of(tmp_path, {"data": [step]}))


def test_a_stream_and_a_step_are_counted_from_one(tmp_path: Path) -> None:
    good, wrong = {"x": [0.5, 0.5]}, {"x": [0.5, 3]}

    (text,) = of(tmp_path, {"data": [[good], [good, wrong]]}, "sequence")

    assert text.startswith("in.json: input x of step 2 of stream 2: element 2 is 3: write 3.0")


@pytest.mark.parametrize(
    ("model", "element", "words"),
    [
        ("INT32", 1.0, "element 1 is 1.0: write 1 (INT32)"),
        ("INT32", 1.5, "write a whole number"),
        ("UINT8", -1, "write a number from 0 to 255"),
        ("UINT64", True, "element 1 is true: write 1"),
        ("BOOL", 1, "element 1 is 1: write true"),
        ("BOOL", "False", 'element 1 is "False": write false'),
        ("BOOL", [1], "has lists in its list"),
        ("BYTES", 7, 'element 1 is 7: write "7"'),
        ("FP16", 1.0, 'reads FP16 only as bytes (write {"b64": "…"}'),
        ("FP64", {}, "element 1 is a mapping: write a number"),
    ],
)
def test_an_element_of_another_type(tmp_path: Path, model: str, element: Any, words: str) -> None:
    usual = {"BOOL": True, "BYTES": "a", "FP64": 1.0, "FP16": 1.0}.get(model, 1)

    (text,) = of(tmp_path, {"data": [{"x": [element, usual]}]}, model)

    assert words in text


@pytest.mark.parametrize(
    ("model", "content", "words"),
    [
        ("INT8", '{"data": [{"x": [1, 300]}]}', "element 2 is 300: INT8 holds -128 to 127"),
        ("FP32", '{"data": [{"x": [1.0, 1e39]}]}', "element 2 is 1e+39: it is infinite as FP32"),
        ("BYTES", '{"data": [{"x": ["a", "b\\u0000c"]}]}', "element 2 has a zero byte"),
        ("FP32", '{"data": [{"x": [1.0, 1.0], "x": [2.0, 2.0]}]}', "key 'x' occurs twice"),
        ("FP32", '{"data": [[{"x": [1.0, 1.0]}], []]}', "perf_analyzer sends only stream 1"),
    ],
)
def test_what_is_sent_otherwise_is_no_reason_to_refuse(
    tmp_path: Path, model: str, content: str, words: str
) -> None:
    (tmp_path / "in.json").write_text(content)

    (found,) = mistakes(tmp_path, MODELS[model])

    assert words in found.what
    assert not found.is_fatal


def test_text_that_is_not_utf_8_is_sent_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_bytes(b'{"data": [{"x": ["a", "\xff"]}]}')

    (found,) = mistakes(tmp_path, MODELS["BYTES"])

    assert "element 2 is not UTF-8" in found.what
    assert not found.is_fatal


def test_a_file_with_many_mistakes_shows_the_first(tmp_path: Path) -> None:
    texts = of(tmp_path, {"data": [{"x": [1, 2]}] * 1000})

    assert len(texts) == 6
    assert texts[-1] == "in.json: has more mistakes (first correct these)"


def test_the_place_in_a_file_that_is_not_json(tmp_path: Path) -> None:
    (text,) = of(tmp_path, '{"data": [\n{"x": [1.0, 2.0],}\n]}')

    # from Python 3.13 on, it is the comma
    assert re.match(r"in\.json: is not JSON: line 2, column 1[78]: ", text)


def test_steps_of_several_shapes_need_a_client_batch_of_one(tmp_path: Path) -> None:
    steps = [{"x": {"content": [0.5] * size, "shape": [size]}} for size in (1, 2)]
    (tmp_path / "in.json").write_text(json.dumps({"data": steps}))
    facts = ModelFacts(name="m", config={"name": "m", **MODELS["var"]}, files="f")

    def fatal(*batch_sizes: int) -> list[bool]:
        found = input_mistakes({"input-data": "in.json"}, facts, batch_sizes, tmp_path)
        return [mistake.is_fatal for mistake in found]

    assert fatal(1) == []
    assert fatal(1, 2) == [False]
    assert fatal(2, 4) == [True]


def test_several_files_are_alike(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"data": [{"x": [0.5, 0.5]}]}')
    (tmp_path / "streams.json").write_text('{"data": [[{"x": [0.5, 0.5]}]]}')
    (tmp_path / "directory").mkdir()

    def whats(*files: str) -> list[str]:
        found = mistakes(tmp_path, MODELS["FP32"], **{"input-data": files})
        return [mistake.what for mistake in found]

    assert whats("in.json", "in.json") == []
    assert "some have streams" in whats("in.json", "streams.json")[0]
    assert "directory is a directory" in whats("in.json", "directory")[0]


@pytest.mark.parametrize(
    ("model", "files", "words"),
    [
        ("FP32", {"x": struct.pack("<2f", 1, 2)}, ""),
        ("FP32", {"x": struct.pack("<2f", 1, 2), "o": b"any"}, ""),
        ("FP32", {"x": struct.pack("<f", 1)}, "x has 4 bytes, and its shape [2] needs 8 (FP32)"),
        ("FP32", {"x": struct.pack("<2f", 1, 2), "z": b""}, "'z', which is not an input or output"),
        ("FP32", {}, "has no file x"),
        ("FP32", {"x": b""}, "x has 0 bytes"),
        ("opt", {"x": struct.pack("<2f", 1, 2)}, "has no file y"),
        ("s1", {"x": b"hello\n"}, ""),
        ("s1", {"x": b"\n"}, ""),
        ("s1", {"x": b"hello\nyou\n"}, "x has 2 lines, and its shape [1] needs 1"),
        ("s1", {"x": b""}, "x has 0 lines"),
        ("var", {"x": struct.pack("<f", 1)}, "input x has a variable dimension"),
    ],
)
def test_a_directory_has_a_file_for_each_input(
    tmp_path: Path, model: str, files: dict[str, bytes], words: str
) -> None:
    """Each row was tried with perf_analyzer 2.51."""
    (tmp_path / "in").mkdir()
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)

    found = mistakes(tmp_path, MODELS[model], **{"input-data": "in"})

    assert [words in mistake.what for mistake in found] == [True] * bool(words)


def test_files_beside_a_directory_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x").write_bytes(struct.pack("<2f", 1, 2))

    (found,) = mistakes(tmp_path, MODELS["FP32"], **{"input-data": ("in", "in.json")})

    assert "perf_analyzer reads only that" in found.what
    assert not found.is_fatal


def test_what_cannot_be_read_is_left_to_perf_analyzer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in.json")
    assert mistakes(tmp_path, MODELS["FP32"]) == ()

    (tmp_path / "in.json").unlink()
    (tmp_path / "in.json").write_text("{}")
    shaped = {"input": (tensor("x", "INT32", 1, is_shape_tensor=True),)}
    assert mistakes(tmp_path, shaped) == ()


DATA = {
    "data": [{"INPUT": [1.5, 2]}, {"INPUT": {"content": [7, 8], "shape": [2]}}, {"TEXT": ["é"]}]
}
ENTRIES = parse_entries([json.dumps(DATA)])


def test_each_request_has_its_input() -> None:
    first, second, third = DATA["data"]
    content = json.loads(b"".join(InputFile(ENTRIES, [2, 0, 0, 1], batch_size=1)))
    assert content == {"data": [third, first, first, second]}


def test_a_batch_consists_of_one_input() -> None:
    first, _, third = DATA["data"]
    content = json.loads(b"".join(InputFile(ENTRIES, [2, 0], batch_size=2)))
    assert content == {"data": [third, third, first, first]}


def test_the_size_is_known_before() -> None:
    numbers = [2, 0, 0, 1]
    commas = 2 * len(numbers) - 1
    whole = len(b"".join(InputFile(ENTRIES, numbers, 2))) - commas - len('{"data":[]}')
    assert size_of(ENTRIES, numbers, 2) == whole


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"data":\n [{},,]}', 2, "is not JSON"),
        ('{"data": [{"x": [NaN]}]}', 1, "is not JSON: NaN is not a number"),
        ('{"data": [{"x": ["\\ud800"]}]}', 1, "is not JSON: str is not valid UTF-8"),
        ('{"data": [{}]} {}', 1, "is not JSON: more text follows"),
        (f'{{"data": [{"[" * 5000}{"]" * 5001}}}', 1, "is nested too deeply"),
        ("[]", 0, 'has no list "data" with inputs'),
        ('{"data": []}', 0, 'has no list "data" with inputs'),
        ('{"data": [{}, [{}]]}', 0, "has no mapping of tensors as input 1"),
        ('{"data": [{}], "validation_data": [{}]}', 0, "has validation_data"),
    ],
)
def test_a_file_without_entries_is_told(text: str, line: int, message: str) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_entries([text])
    assert raised.value.line == line
    assert raised.value.message.startswith(message)
