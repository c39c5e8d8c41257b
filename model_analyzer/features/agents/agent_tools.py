# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The tools of an agent: commands with their arguments, and documents in their words: shortened,
and with advice on what to do next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.features.agents.borders import CONFIG, Borders

# How many variants of a model, trials of a plan and remarks are shown: the first ones matter most.
_MOST = {"variants": 3, "trials": 5, "remarks": 8}

# What a short answer has of each part.
_OF_MODEL = ("model", "sentence", "verdict", "changes", "certainty", "goals", "default", "remarks")
_OF_RECOMMENDED = (
    "variant", "loads", "times_measured", "requests", "metrics", "intervals",
    "satisfies_constraints", "constraints", "compliance", "gain_over_default",
)  # fmt: skip
_OF_PART = ("model", "instances", "max_batch_size", "dynamic_batching")
_OF_MEASUREMENT = ("loads", "times_measured", "satisfies_constraints", "intervals")

# Options and commands, where the argument or the tool of an agent has another name.
_OTHER_NAMES = {
    "budget": "duration",
    "constraint": "constraints",
    # what an agent does instead, and options that only a person has
    "measure": "start with load: {arrivals: poisson, rate: [...]} in the config",
    **{flag: f"the user's --{flag}" for flag in ("allow-miss", "conditions", "confirm")},
}
_TOOLS = {"best": "what_if", "profile": "start"}
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]+)")
_COMMAND = re.compile(r"model-analyzer (best|profile|explain|compare|capacity|doctor)\b")

# Not for reading: what was run, and what is deployed.
_VERBATIM = {"commands", "configuration"}

# A search with such a chance of something better is continued, if so many seconds are left.
_UNSURE_PERCENT, _WORTH_S = 10.0, 10.0

# The options that limit a search.
LIMITS = (
    "run_config_search_max_instance_count",
    "run_config_search_max_model_batch_size",
    "run_config_search_max_concurrency",
)


def in_words_of_tools(value: Any) -> Any:
    """A JSON-like value whose texts name arguments and tools instead of flags and commands."""
    if isinstance(value, str):
        text = _COMMAND.sub(lambda found: _TOOLS.get(found[1], found[1]), value)
        return _FLAG.sub(lambda flag: _OTHER_NAMES.get(flag[1], flag[1].replace("-", "_")), text)
    if isinstance(value, Mapping):
        return {
            key: item if key in _VERBATIM else in_words_of_tools(item)
            for key, item in value.items()
        }
    return [*map(in_words_of_tools, value)] if isinstance(value, list) else value


def shown(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without the long tails of its lists."""
    return {
        key: [_without_tail(each) for each in value] if isinstance(value, list) else value
        for key, value in document.items()
    }


def _without_tail(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {
        key: value[: _MOST[key]] if key in _MOST and isinstance(value, list) else value
        for key, value in item.items()
    }


def brief(results: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of results (docs/results.md), without single measurements."""
    models = []
    for model in map(_without_tail, results["models"]):
        variants = [
            {
                "variant": each["variant"],
                "models": [_of(_OF_PART, part) for part in each["models"]],
                **_of(_OF_MEASUREMENT, each["measurements"][0]),
            }
            for each in model["variants"]
        ]
        recommended = model["recommended"] and _of(_OF_RECOMMENDED, model["recommended"])
        proofs = [proof["sentence"] for proof in model["proofs"]]
        parts = {"recommended": recommended, "variants": variants, "proofs": proofs}
        models.append({**_of(_OF_MODEL, model), **parts})
    tags = {tag for model in models for tag in (model["recommended"] or {}).get("metrics", ())}
    units = {tag: about["unit"] for tag, about in results["metrics"].items() if tag in tags}
    return {"complete": results["complete"], "units": units, "models": models}


def _of(names: Sequence[str], item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in names}


def further(
    model: Mapping[str, Any], limits: Mapping[str, Any], left_s: float, *, stopped: bool
) -> Iterator[str]:
    """What may give a better answer for a model of results: higher `limits`, if it is at one, or
    more of the seconds that are left.
    """
    if model["recommended"]:
        parts = model["variants"][0]["models"]
        loads = [load for load in model["recommended"]["loads"] if load["kind"] == "concurrency"]
        reached = (
            [sum(each["count"] for each in part["instances"]) for part in parts],
            [part["max_batch_size"] for part in parts],
            [load["value"] for load in loads],
        )
        for option, values in zip(LIMITS, reached, strict=True):
            if limits[option] in values:
                yield (
                    f"The recommendation is at the limit {option}: {limits[option]}. A higher one"
                    " may give more, but is another search, which takes as long."
                )
    conclusion = model["conclusion"]
    is_unsure = conclusion is not None and conclusion["chance_percent"] >= _UNSURE_PERCENT
    if left_s >= _WORTH_S and (stopped or is_unsure):
        yield (
            f"The search of {model['model']} was not complete: start the same config again with the"
            f" {left_s:.0f} s of the budget that are left, and it continues."
        )


def too_long(plan: Mapping[str, Any], left_s: float) -> Iterator[str]:
    """That a search which tries all that is planned needs more than so many seconds."""
    minutes = plan["minutes"] or 0
    modes = {subject.get("mode") for subject in plan["subjects"]}
    if 60 * minutes > left_s and modes != {"adaptive"}:
        yield (
            f"It takes about {minutes:g} minutes, and {left_s:.0f} s of the budget are left:"
            " search: adaptive chooses what to measure, and has an answer after any duration."
        )


def line_of(document: Mapping[str, Any], told: Sequence[str]) -> str:
    """What a document says, in a line: its sentences, else what the command has told people, else
    the words and numbers of its top, and of the first of its parts. Then the advice.
    """
    lists = [value for value in document.values() if isinstance(value, list)]
    parts = [part for values in lists for part in values if isinstance(part, dict)]
    said = [text for part in parts for text in _said(part)]
    pairs = [pair for place in (document, *parts[:1]) for pair in place.items()]
    simple = [f"{key} {value}" for key, value in pairs if isinstance(value, str | int | float)]
    line = " ".join(said) or "; ".join(told) or ", ".join(simple)
    return " ".join([line, *document["advice"]])


def _said(part: Mapping[str, Any]) -> Iterator[str]:
    """The sentences of an answer, what a check has found wrong, the causes of slowness."""
    yield from (part[key] for key in ("sentence", "certainty") if part.get(key))
    if part.get("level") in ("warning", "problem"):
        advice = f" ({part['fix']})" if part.get("fix") else ""
        yield f"{part['subject']}: {part['found']}{advice}."
    for cause in part.get("causes", ()):
        yield f"{part['variant']}: {cause['name']}: {'; '.join(cause['evidence'])}."


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
