# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model repositories with any config.pbtxt, right and wrong, and what must hold for all of them.

Shared by the tests, which try some dozens, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

import model_analyzer
from model_analyzer.app.bench.devices import Job
from model_analyzer.cli.commands.profile import show_preview
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.protobuf import new_message
from model_analyzer.domain.words import one_line
from model_analyzer.errors import ConfigError, ModelAnalyzerError
from model_analyzer.runner.model_config import parse_text, to_text
from model_analyzer.runner.repository import ModelRepository, OutputRepository
from tests.damaged_texts import damaged
from tests.unit.builders import nodes

MODEL, PART = "m", "part"

ROOT = Path(__file__).resolve().parents[3]
STARTER = Path(model_analyzer.__file__).parent / "starter"
EXAMPLES = [
    path.read_text(encoding="utf-8")
    for folder in (STARTER, ROOT / "qa")
    for path in sorted(folder.glob("**/config.pbtxt"))
]
PLAIN = (
    'backend: "python" max_batch_size: 8'
    ' input { name: "IN" data_type: TYPE_FP32 dims: 4 }'
    ' output { name: "OUT" data_type: TYPE_FP32 dims: 4 }'
)
ENSEMBLE = (
    'platform: "ensemble" ensemble_scheduling { step { model_name: "part" model_version: -1'
    ' input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } }'
)

# ----------------------------------------------------------------- what the protobuf can hold

_WHOLE = st.sampled_from([0, 1, 2, 8, -1, 127, 2**31 - 1])
_SIGNED_ONLY = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)
_LARGE = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)
_TEXTS = st.sampled_from(
    ["", "m", "part", "IN", "python", "a b", "ü", "x\n", "\0", "../m", "x" * 99]
)


def message_text(descriptor: Any, depth: int = 0) -> st.SearchStrategy[str]:
    """Some fields of a message, in protobuf's text."""
    fields = [
        field for field in descriptor.fields if depth < 4 or field.message_type is None
    ]  # some messages hold each other
    if not fields:
        return st.just("")
    chosen = st.lists(st.sampled_from(fields), max_size=5 if depth == 0 else 3)
    return chosen.flatmap(
        lambda some: st.tuples(*(_field_text(field, depth) for field in some))
    ).map(" ".join)


def _field_text(field: FieldDescriptor, depth: int) -> st.SearchStrategy[str]:
    if field.message_type is not None:
        message = field.message_type
        inner = st.deferred(lambda: message_text(message, depth + 1))
        return inner.map(lambda text: f"{field.name} {{ {text} }}")
    return _value(field).map(lambda value: f"{field.name}: {value}")


def _value(field: FieldDescriptor) -> st.SearchStrategy[str]:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            return _TEXTS.map(_quoted)
        case FieldDescriptor.CPPTYPE_BOOL:
            return st.sampled_from(["true", "false"])
        case FieldDescriptor.CPPTYPE_ENUM:
            assert field.enum_type is not None
            return st.sampled_from([value.name for value in field.enum_type.values])
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return st.sampled_from(["0", "0.5", "-1", "1e30", "inf", "nan"])
    numbers = _WHOLE if field.cpp_type in _SIGNED_ONLY else _WHOLE.map(abs)
    if field.cpp_type in _LARGE:
        numbers |= st.sampled_from([2**53 + 1, 2**63 - 1])
    return numbers.map(str)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("\0", "\\000") + '"'


_PIECES = st.sampled_from(
    ["{", "}", "[", "]", "<", ">", ":", ",", ";", '"', "'", "#", "\n", "\\", "\0", "\x1b", "\ufeff",
     "ü", "-", "0", "8", "-1", "1e9", "0x1F", "9" * 30, "true", "name", "input", "dims", "count",
     'name: "m"', "max_batch_size: 4", "max_batch_size: -7", "KIND_GPU", "instance_group { }",
     "instance_group { count: -3 }", "dims: []", "dims: [ -1 ]", "sequence_batching { }",
     "dynamic_batching { preferred_batch_size: [ 0, -4 ] }", "[a.b/c.D] { }", "{" * 200,
     'model_name: "m"', 'model_name: "part"', 'model_name: ""', "ensemble_scheduling { step { } }",
     'default_model_filename: "../../x"', 'parameters { key: "a" value { string_value: "b" } }'],
)  # fmt: skip
_ANY = message_text(new_message().DESCRIPTOR)
_BASES = st.one_of(st.sampled_from([PLAIN, ENSEMBLE, *EXAMPLES]), _ANY)
TEXTS = st.one_of(
    damaged(_BASES, _PIECES),
    st.tuples(st.sampled_from([PLAIN, ENSEMBLE]), _ANY).map("\n".join),
    st.text(max_size=20),
)

# A repository by the texts of its models, and how its variants are searched.
REPOSITORIES = st.fixed_dictionaries(
    {
        MODEL: TEXTS,
        PART: st.one_of(st.just(PLAIN), TEXTS),
        "mode": st.sampled_from(["brute", "quick", "adaptive"]),
        "bls": st.booleans(),
    }
)

# -------------------------------------------------------------------------- what must hold


def is_planned_or_refused(example: Mapping[str, Any]) -> None:
    """A dry run plans the run, and the variant is written as it was read; or what is wrong with
    the models is told, each problem in a line.
    """
    with TemporaryDirectory() as directory:
        repository = _write(example, Path(directory))
        for problem in _problems_of_planning(example, repository):
            assert problem.strip()
            assert len(one_line(problem)) < 5000
        for name in (MODEL, PART):
            _read(ModelRepository(repository), name, Path(directory) / f"output-{name}")


def _write(example: Mapping[str, Any], directory: Path) -> Path:
    for name in (MODEL, PART):
        model = directory / "models" / name
        (model / "1").mkdir(parents=True)
        (model / "1" / "model.py").touch()
        (model / "config.pbtxt").write_bytes(example[name].encode("utf-8", "surrogatepass"))
    return directory / "models"


def _problems_of_planning(example: Mapping[str, Any], repository: Path) -> Sequence[str]:
    try:
        _plan(example, repository)
    except ConfigError as error:
        return [str(problem) for problem in error.problems] or [""]
    except ModelAnalyzerError as error:
        return [str(error)]
    return []


def _plan(example: Mapping[str, Any], repository: Path) -> None:
    options = {
        "model_repository": str(repository),
        "profile_models": [MODEL],
        "run_config_search_mode": example["mode"],
        "run_config_search_max_instance_count": 2,
        **({"bls_composing_models": [PART]} if example["bls"] else {}),
    }
    resolved = resolve_profile([], nodes(options), repository.parent)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        show_preview(Job.of(resolved, os.environ), as_json=False)


def _read(repository: ModelRepository, name: str, output: Path) -> None:
    """What can be read can be written, and read again."""
    try:
        facts = repository.facts(name, complete=lambda _, config, files: config)
    except ModelAnalyzerError:
        return
    text = to_text(facts.config)
    assert to_text(parse_text(text, "again")) == text
    variant = VariantNames().default(facts)
    assert variant.identity
    output.mkdir()
    OutputRepository(output, repository).write(variant)
