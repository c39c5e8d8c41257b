# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Ensembles and the verdict of tritonserver 2.51 on each. qa/test_verdicts.py asks again.

Each has parts out of `PARTS`, inputs "x" and outputs "o" of four FP32 unless said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Tensors = Sequence[str]

X4, O4 = ["x FP32 4"], ["o FP32 4"]


def tensors(side: str, texts: Tensors) -> str:
    """`NAME TYPE SIZES MORE` of each, as a field of a configuration."""
    fields = []
    for text in texts:
        name, data_type, sizes, *more = text.split(" ", 3)
        fields.append(
            f'{{ name: "{name}" data_type: TYPE_{data_type} dims: [ {sizes} ] {"".join(more)} }}'
        )
    return f"{side} [ {', '.join(fields)} ]\n"


def step(
    model: str, inputs: str = "x:x", outputs: str = "o:o", version: int | None = -1, more: str = ""
) -> str:
    """A step; inputs and outputs are `NAME:TENSOR`, with blanks between them."""
    text = f'model_name: "{model}" {more}'
    if version is not None:
        text += f" model_version: {version}"
    for field_name, pairs in (("input_map", inputs), ("output_map", outputs)):
        for pair in pairs.split():
            name, tensor = pair.split(":")
            text += f' {field_name} {{ key: "{name}" value: "{tensor}" }}'
    return f"{{ {text} }}"


def chain(first: str, second: str) -> tuple[str, str]:
    return step(first, outputs="o:t"), step(second, inputs="x:t")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A model that ensembles call."""

    inputs: Tensors = field(default_factory=lambda: X4)
    outputs: Tensors = field(default_factory=lambda: O4)
    batch: int = 8
    more: str = ""
    versions: Sequence[int] = (1,)

    def write(self, directory: Path, code: str) -> None:
        directory.mkdir(parents=True)
        for version in self.versions:
            (directory / str(version)).mkdir()
            (directory / str(version) / "model.py").write_text(code)
        (directory / "config.pbtxt").write_text(
            f'name: "{directory.name}"\nbackend: "python"\nmax_batch_size: {self.batch}\n'
            f"{tensors('input', self.inputs)}{tensors('output', self.outputs)}"
            f"instance_group [ {{ kind: KIND_CPU }} ]\n{self.more}\n"
        )


PARTS: Mapping[str, Part] = {
    "a": Part(),
    "ints": Part(inputs=["x INT32 4"]),
    "five": Part(inputs=["x FP32 5"]),
    "free": Part(inputs=["x FP32 -1"], outputs=["o FP32 -1"]),
    "small": Part(batch=4),
    "large": Part(batch=16),
    "single": Part(batch=0),
    "rows": Part(batch=0, inputs=["x FP32 -1,4"], outputs=["o FP32 -1,4"]),
    "two": Part(inputs=["x FP32 4", "y FP32 4"]),
    "optional": Part(inputs=["x FP32 4", "y FP32 4 optional: true"]),
    "outputs": Part(outputs=["o FP32 4", "p FP32 4"]),
    "decoupled": Part(more="model_transaction_policy { decoupled: true }"),
    "stream": Part(more="model_transaction_policy { decoupled: true }"),
    "all_versions": Part(versions=(1, 2), more="version_policy { all {} }"),
    "latest": Part(versions=(1, 2)),
    "specific": Part(versions=(1, 2), more="version_policy { specific { versions: [ 1 ] } }"),
    "no_version": Part(versions=()),
    "reshaped": Part(inputs=["x FP32 4 reshape { shape: [ 2, 2 ] }"]),
}


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """An ensemble; `words` are of the message if a server refuses it, otherwise ""."""

    steps: Sequence[str]
    words: str = ""
    inputs: Tensors = field(default_factory=lambda: X4)
    outputs: Tensors = field(default_factory=lambda: O4)
    batch: int = 8
    more: str = ""
    head: str = 'platform: "ensemble"'
    versions: Sequence[str] = ("1",)
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        for version in self.versions:
            (directory / version).mkdir()
        for name, text in self.files.items():
            (directory / name).write_text(text)
        (directory / "config.pbtxt").write_text(
            f'name: "{directory.name}"\n{self.head}\nmax_batch_size: {self.batch}\n'
            f"{tensors('input', self.inputs)}{tensors('output', self.outputs)}"
            f"ensemble_scheduling {{ step [ {', '.join(self.steps)} ] }}\n{self.more}\n"
        )


def write_repository(path: Path, code: str = "# never run\n") -> None:
    """All parts and ensembles."""
    for name, part in PARTS.items():
        part.write(path / name, code)
    for name, ensemble in ENSEMBLES.items():
        ensemble.write(path / name)


_LABELLED = 'o FP32 4 label_filename: "labels.txt"'

ENSEMBLES: Mapping[str, Ensemble] = {
    "right": Ensemble(steps=chain("a", "a")),
    "version_1": Ensemble(steps=[step("a", version=1)]),
    "latest_2": Ensemble(steps=[step("latest", version=2)]),
    "both_versions": Ensemble(
        steps=[
            step("all_versions", outputs="o:t", version=1),
            step("all_versions", inputs="x:t", version=2),
        ]
    ),
    "own_version_2": Ensemble(steps=[step("a")], versions=("2",)),
    "own_version_0": Ensemble(steps=[step("a")], versions=("0",)),
    "unmapped_optional": Ensemble(steps=[step("optional")]),
    "one_of_two_outputs": Ensemble(steps=[step("outputs")]),
    "one_tensor_twice": Ensemble(steps=[step("two", inputs="x:x y:x")]),
    "free_between": Ensemble(steps=chain("a", "free")),
    "free_then_five": Ensemble(steps=chain("free", "five")),
    "batch_as_dimension": Ensemble(steps=[step("rows")]),
    "unbatched_part": Ensemble(steps=[step("single")]),
    "unbatched": Ensemble(steps=[step("a")], batch=0),
    "larger_part": Ensemble(steps=[step("large")]),
    "nested": Ensemble(steps=chain("right", "a")),
    "with_labels": Ensemble(steps=[step("a")], outputs=[_LABELLED], files={"labels.txt": "a\n"}),
    "two_streams": Ensemble(steps=chain("decoupled", "stream")),
    "any_order": Ensemble(steps=[*reversed(chain("a", "a"))]),
    "cached": Ensemble(steps=[step("a")], more="response_cache { enable: true }"),
    "reshaped_part": Ensemble(steps=[step("reshaped")]),
    "namespace": Ensemble(steps=[step("a", more='model_namespace: "x"')]),
    "optional_input": Ensemble(steps=[step("a")], inputs=["x FP32 4 optional: true"]),
    "input_as_output": Ensemble(steps=[step("a")], outputs=["x FP32 4", *O4]),
    "no_model_version": Ensemble(
        steps=[step("a", version=None)],
        words="step 1 (a) of no_model_version has no model_version: write -1",
    ),
    "version_3": Ensemble(
        steps=[step("a", version=3)], words="has model_version 3, and the server loads 1: write -1"
    ),
    "version_minus_2": Ensemble(steps=[step("a", version=-2)], words="has model_version -2"),
    "latest_1": Ensemble(steps=[step("latest", version=1)], words="the server loads 2: write -1"),
    "specific_2": Ensemble(steps=[step("specific", version=2)], words="the server loads 1"),
    "missing": Ensemble(
        steps=[step("a", outputs="o:t"), step("qqqq", inputs="x:t")],
        words="step 2 (qqqq) of missing: no model 'qqqq' in ",
    ),
    "without_version": Ensemble(
        steps=[step("a")], versions=(), words="(git keeps no empty directory): create "
    ),
    "other_version": Ensemble(steps=[step("a")], versions=("v1",), words="no version directory"),
    "part_without_version": Ensemble(
        steps=[step("no_version")], words="step 1 (no_version) of part_without_version: "
    ),
    "unknown_input": Ensemble(
        steps=[step("a", inputs="x:x q:x")],
        words="input_map of step 1 (a) of unknown_input has key 'q', and a has no such input: its"
        " inputs are x",
    ),
    "unmapped_input": Ensemble(
        steps=[step("two")], words="step 1 (two) of unmapped_input gives two no input y"
    ),
    "unknown_output": Ensemble(
        steps=[step("a", outputs="q:o")], words="has key 'q', and a has no such output"
    ),
    "never_written": Ensemble(
        steps=[step("two", inputs="x:x y:z")], words="step 1 (two) of never_written reads tensor z"
    ),
    "written_twice": Ensemble(
        steps=[step("a"), step("a")], words="tensor o is written by step 1 (a) of written_twice and"
    ),
    "same_output_twice": Ensemble(
        steps=[step("outputs", outputs="o:o p:o")], words="tensor o is written by"
    ),
    "unused_input": Ensemble(
        steps=[step("a")], inputs=[*X4, "z FP32 4"], words="no step of unused_input reads its input"
    ),
    "unwritten_output": Ensemble(
        steps=[step("a")], outputs=[*O4, "q FP32 4"], words="unwritten_output writes its output q"
    ),
    "dead_end": Ensemble(
        steps=[step("a"), step("a", outputs="o:dead")],
        words="step 2 (a) of dead_end writes tensor dead, which nothing reads",
    ),
    "other_type": Ensemble(
        steps=chain("a", "ints"),
        words="tensor t is FP32 [4] for output o of step 1 (a) of other_type, but INT32 [4] for"
        " input x of step 2 (ints) of other_type",
    ),
    "other_own_type": Ensemble(
        steps=[step("a")], outputs=["o INT32 4"], words="is INT32 [4] for output o of other_own"
    ),
    "other_shape": Ensemble(
        steps=chain("a", "five"), words="but FP32 [5] for input x of step 2 (five) of other_shape"
    ),
    "other_own_shape": Ensemble(steps=[step("a")], outputs=["o FP32 1"], words="is FP32 [1] for"),
    "other_rank": Ensemble(steps=[step("a")], inputs=["x FP32 2,2"], words="is FP32 [2, 2] for"),
    "reshaped_input": Ensemble(
        steps=[step("a")],
        inputs=["x FP32 4 reshape { shape: [ 2, 2 ] }"],
        words="is FP32 [2, 2] for input x of reshaped_input",
    ),
    "smaller_part": Ensemble(
        steps=[step("small")],
        words="step 1 (small) of smaller_part takes batches of 4 at most, and smaller_part has"
        " max_batch_size 8: write 4",
    ),
    "smaller_nested": Ensemble(steps=[step("right")], batch=16, words="takes batches of 8 at most"),
    "contains_itself": Ensemble(steps=[step("contains_itself")], words="contains itself"),
    "there": Ensemble(steps=[step("back")], words="there contains itself: there > back > there"),
    "back": Ensemble(steps=[step("there")], words="contains itself"),
    "nested_mistake": Ensemble(
        steps=[step("no_model_version")], words="step 1 (no_model_version) of nested_mistake: "
    ),
    "without_labels": Ensemble(
        steps=[step("a")],
        outputs=[_LABELLED],
        words="output o has label_filename 'labels.txt', which is not in",
    ),
    "joined_streams": Ensemble(
        steps=[
            step("decoupled", outputs="o:t"),
            step("stream", outputs="o:u"),
            step("two", inputs="x:t y:u"),
        ],
        words="step 3 (two) of joined_streams has inputs of different decoupled models",
    ),
    "stream_and_input": Ensemble(
        steps=[step("decoupled", outputs="o:t"), step("two", inputs="x:t y:x")],
        words="step 2 (two) of stream_and_input has inputs of different decoupled models",
    ),
    "instances": Ensemble(
        steps=[step("a")], more="instance_group [ { count: 2 } ]", words="has instance_group"
    ),
    "with_backend": Ensemble(
        steps=[step("a")],
        head='platform: "ensemble" backend: "python"',
        words='write platform: "ensemble", and no backend',
    ),
    "other_platform": Ensemble(
        steps=[step("a")], head='backend: "python"', words='write platform: "ensemble"'
    ),
    "no_platform": Ensemble(steps=[step("a")], head="", words='write platform: "ensemble"'),
    "no_steps": Ensemble(steps=[], words="no_steps has no step"),
    "no_input_map": Ensemble(steps=[step("a", inputs="")], words="has no input_map: add it"),
    "no_output_map": Ensemble(steps=[step("a", outputs="")], words="has no output_map: add it"),
    "no_model_name": Ensemble(
        steps=[step("")], words="step 1 of no_model_name has no model_name: add it"
    ),
    "circle": Ensemble(
        steps=[
            step("two", inputs="x:x y:u", outputs="o:t"),
            step("outputs", inputs="x:t", outputs="o:u p:o"),
        ],
        words="steps 1, 2 of circle wait for each other's tensors",
    ),
}
