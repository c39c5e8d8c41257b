# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The tools of an agent: commands with their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.features.agents.borders import CONFIG, Borders

_DETAIL = "detail"


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": 1000, "description": about}


def _texts(about: str) -> dict[str, Any]:
    return {"type": "array", "items": _text(""), "maxItems": 100, "description": about}


def _number(about: str, kind: str = "number") -> dict[str, Any]:
    return {"type": kind, "exclusiveMinimum": 0, "maximum": 1e12, "description": about}


_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "config": {
        "type": ["object", "string"],
        "description": "Options of a run as in its YAML file, or the path of such a file. Needed:"
        " model_repository (a path) and profile_models. Useful: search: adaptive, objectives,"
        " constraints, latency_budget. Without ranges, all usual values are searched.",
    },
    "no_models": {"type": "boolean", "description": "Start no server, load no model."},
    "duration": {
        "type": ["string", "number"],
        "maxLength": 100,
        "description": "Such as 90s or 10m, of the budget of this server.",
    },
    "wait_s": {
        "type": "number",
        "minimum": 0,
        "maximum": 60,
        "description": "Wait so long for the end of the run.",
    },
    "checkpoint_directory": _text("Default: that of the latest run."),
    "checkpoint_prefix": _text("As in the config."),
    "model": _text("Needed if several were measured."),
    "variant": _text("Instead of the best one."),
    "metric": _text("METRIC[:WEIGHT],... to optimize."),
    "constraints": _texts("Such as perf_latency_p99<20; none for no constraints."),
    "latency_budget": _number("Maximum p99 latency in ms."),
    "min_throughput": _number("Minimum inferences per second."),
    "base": _text("Checkpoint directory or file."),
    "new": _text("The other one."),
    "fail_on": _texts("Rules such as perf_throughput<-3%."),
    "rate": _number("Requests per second of all replicas."),
    "headroom": _text("Spare capacity, such as 20%."),
    "replicas_per_node": _number("Of one node.", "integer"),
    "batch_size": _number("Inferences in a request.", "integer"),
    _DETAIL: {"type": "boolean", "description": "Also the measurements of the best variants."},
}
_RESULTS = "checkpoint_directory checkpoint_prefix model"
_GOALS = "metric constraints latency_budget min_throughput"

_PLACES = {"checkpoint_directory", "base", "new"}
_FLAGS = {"constraints": "constraint"}  # other flags are named as their argument


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """A tool: what it `takes` and `needs`, names of arguments with blanks between them. `words` are
    the command that it runs, "" for a tool about the run. Arguments in `last` have no flag. One
    that `loads` starts a server, so it must not run beside a measurement.
    """

    name: str
    about: str
    takes: str = ""
    needs: str = ""
    words: str = ""
    last: Sequence[str] = ()
    loads: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: _ARGUMENTS[name] for name in f"{self.needs} {self.takes}".split()},
            "required": self.needs.split(),
            "additionalProperties": False,
        }

    def is_brief(self, arguments: Mapping[str, Any]) -> bool:
        """Whether its document is wanted without details."""
        return _DETAIL in self.takes and not arguments.get(_DETAIL, False)

    def command(self, arguments: Mapping[str, Any], borders: Borders) -> Sequence[str]:
        """The command line for arguments that fit the schema. Each value stands in one word with
        its flag, or after `--`: none can be an option. Raises ConfigError for places outside.
        """
        known = {
            name: borders.path(value, name) if name in _PLACES else value
            for name, value in arguments.items()
            if name not in ("config", _DETAIL)
        }
        last = [str(known.pop(name)) for name in self.last if name in known]
        flags = [word for name, value in known.items() for word in _words(name, value)]
        return [*self.words.split(), *flags, *(["--", *last] if last else [])]


def _words(name: str, value: Any) -> Iterator[str]:
    flag = f"--{_FLAGS.get(name, name).replace('_', '-')}"
    if isinstance(value, bool):
        yield from [flag] if value else []
        return
    for each in value if isinstance(value, list) else [value]:
        yield f"{flag}={each}"


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        name="doctor",
        about="Check that this machine can measure: programs, GPUs, disk, and each model.",
        takes="config no_models",
        words="doctor --json",
        loads=True,
    ),
    AgentTool(
        name="validate",
        about="Check a config, and the models that it names, without running anything.",
        needs="config",
        words=f"config validate --json {CONFIG}",
        loads=True,
    ),
    AgentTool(
        name="plan",
        about="Dry run: what a run of this config would measure, and about how long it takes.",
        needs="config",
        words="profile --dry-run --json",
        loads=True,
    ),
    AgentTool(
        name="start",
        about="Start a run in the background. It ends by itself or after the duration, keeps all"
        " that was measured, and continues an earlier run with the same checkpoint directory. One"
        " long run finds more than several short ones: each loads the server again.",
        needs="config duration",
    ),
    AgentTool(
        name="status",
        about="The run: its phase, trials, the best so far with intervals, the time left, and the"
        " answers once it has ended.",
        takes="wait_s",
    ),
    AgentTool(
        name="stop",
        about="Stop the run after its current measurement. Everything measured is kept.",
    ),
    AgentTool(
        name="answer",
        about="The recommendation of a checkpoint directory, with intervals, doubts, the best"
        " variants, and advice on what to do next.",
        takes=f"{_RESULTS} {_DETAIL}",
        words="best --format json",
    ),
    AgentTool(
        name="what_if",
        about="Rank what was measured for other goals or constraints. Nothing is measured.",
        takes=f"{_RESULTS} {_GOALS} {_DETAIL}",
        words="best --format json",
    ),
    AgentTool(
        name="explain",
        about="Why the best variant, or the one named, is slow: causes with their evidence.",
        takes=f"{_RESULTS} {_GOALS} variant",
        words="explain --format json",
        last=("variant",),
    ),
    AgentTool(
        name="compare",
        about="What changed between two checkpoint directories, and whether rules are broken.",
        needs="base new",
        takes=f"{_GOALS} fail_on",
        words="compare --format json",
        last=("base", "new"),
    ),
    AgentTool(
        name="capacity",
        about="How many replicas serve a rate of requests, and how sure that is.",
        needs="rate",
        takes=f"{_RESULTS} {_GOALS} headroom replicas_per_node batch_size variant",
        words="capacity --format json",
    ),
)
