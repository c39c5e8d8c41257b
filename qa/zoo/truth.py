# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is true of each kind of model: its `truth.yaml`, and the formulas in it.

A formula is an expression of Python. It may use these names, which describe a measurement:

    load        requests in flight, or requests per second
    size        inferences in a request (the client's batch size)
    model       its name, usually `m`
    instances   of it, all groups together
    limit       its max_batch_size; 1 if it does not batch
    dynamic     whether it has dynamic_batching
    delay       its max_queue_delay_microseconds, in seconds
    parts       the instances of each composing model, by name

and `served(seconds, each, places)`: the throughput of executions that take `seconds` and `each`
more for every inference, at most `places` of them at the same time (if not given, one for each
instance). A pair is a range: what batches form is partly chance. `nearly(value)` is a range that
allows for calls between processes, which take a share of the time.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
KINDS = HERE / "kinds"


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The row of a kind, see README.md."""

    about: str
    throughput: str = ""
    best: str = ""
    variants: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Sequence[int]] = field(default_factory=dict)
    exhaustive: str = "brute"
    steps: Sequence[str] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    causes: Sequence[str] = ()
    explained: str = ""
    doubts: Sequence[str] = ()
    failures: Sequence[str] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, int] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, Any] = field(default_factory=dict)
    often: Sequence[str] = ()


@dataclass(frozen=True)
class Kind:
    """A directory with models, input files and the truth about them."""

    directory: Path
    truth: Truth

    @property
    def name(self) -> str:
        return self.directory.name

    def place(self, scene: Path) -> dict[str, Any]:
        """Copies models and input files to `scene`; returns the configuration of a run there.

        A model without code gets one of ours, a model without a version directory gets it.
        """
        shutil.copytree(self.directory, scene, ignore=shutil.ignore_patterns("truth.yaml", ".keep"))
        models = scene / "models"
        for model in sorted(models.iterdir()):
            for version in self.truth.versions.get(model.name, (1,)):
                _add_version(model, model / str(version))
        options = {
            "model_repository": "models",
            "override_output_model_repository": True,
            "profile_models": {"m": {"cpu_only": True, **self.truth.model}},
            "output_formats": "json",
            "skip_detailed_reports": True,
            "concurrency": [1, 8],
            "run_config_search_max_instance_count": 2,
            "run_config_search_max_model_batch_size": 2,
            **self.truth.options,
        }
        return {key: value for key, value in options.items() if value is not None}


def _add_version(model: Path, version: Path) -> None:
    config = model / "config.pbtxt"
    text = config.read_text() if config.exists() else ""
    version.mkdir(exist_ok=True)
    if 'platform: "ensemble"' not in text:
        code = "caller.py" if '"calls"' in text else "sleeper.py"
        named = re.search(r'default_model_filename: "(.+)"', text)
        shutil.copy(HERE / "models" / code, version / (named[1] if named else "model.py"))


def kinds(names: Sequence[str] = ()) -> list[Kind]:
    """The kinds of these names, or all; SystemExit names those that do not exist."""
    every = {path.parent.name: path.parent for path in sorted(KINDS.glob("*/truth.yaml"))}
    unknown = [name for name in names if name not in every]
    if unknown:
        raise SystemExit(f"zoo: no kind {', '.join(unknown)}: there are {', '.join(every)}")
    return [_read(every[name]) for name in names or every]


def _read(directory: Path) -> Kind:
    row = yaml.safe_load((directory / "truth.yaml").read_text())
    return Kind(directory, Truth(**row))


def value_range(formula: str | float, names: Mapping[str, Any]) -> tuple[float, float]:
    """The range that a formula gives for a measurement."""
    functions = {"served": _served(names), "nearly": _nearly, "min": min}
    value = eval(str(formula), functions, dict(names))
    low, high = value if isinstance(value, tuple) else (value, value)
    return float(low), float(high)


def _nearly(value: float) -> tuple[float, float]:
    return (0.88 * value, value)


def _served(names: Mapping[str, Any]) -> Any:
    """Throughput in a closed loop. With dynamic batching, every instance has a full batch if twice
    as many requests are in flight. With fewer, two groups take turns: half as many at worst.
    """

    def served(seconds: float, each: float = 0.0, places: int = 0) -> tuple[float, float]:
        load, size = names["load"], names["size"]
        working = min(load, places or names["instances"])
        most = max(1, names["limit"] // size) if names["dynamic"] else 1
        together = min(most, load / working)
        high = working * together * size / (seconds + each * together * size)
        is_certain = most == 1 or load <= working or load >= 2 * most * working
        return (high if is_certain else high / 2, high)

    return served
