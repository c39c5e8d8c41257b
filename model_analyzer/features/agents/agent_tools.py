# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The tools of an agent: each is a command, its JSON document, and that document in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.features.agents.borders import CONFIG, Borders

Schema = Mapping[str, Any]
Document = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 1000}
_TEXTS: Schema = {"type": "array", "items": _TEXT, "maxItems": 100}
_ABOVE_0: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e12}
_COUNT: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_DURATION: Schema = {"type": ["string", "number"], "maxLength": 100}

_CONFIG = {
    "config": {
        "type": ["object", "string"],
        "description": "Options of a run as in its YAML file, or the path of such a file. Needed:"
        " model_repository (a path) and profile_models. Useful: search: adaptive, objectives,"
        " constraints, latency_budget, concurrency, model_config_parameters.",
    }
}
_RESULTS = {
    "checkpoint_directory": {**_TEXT, "description": "Default: that of the latest run."},
    "checkpoint_prefix": _TEXT,
    "model": {**_TEXT, "description": "Needed if several were measured."},
}
_GOALS = {
    "metric": {**_TEXT, "description": "METRIC[:WEIGHT],... to optimize."},
    "constraints": {
        **_TEXTS,
        "description": "For example perf_latency_p99<20; none for no constraints.",
    },
    "latency_budget": {**_ABOVE_0, "description": "Maximum p99 latency in ms."},
    "min_throughput": {**_ABOVE_0, "description": "Minimum inferences per second."},
}

# How many variants, and trials of a plan, a document has: the recommended ones come first.
_MOST_VARIANTS, _MOST_TRIALS = 3, 5

# Arguments whose flag has another name.
_FLAGS = {"constraints": "constraint"}

# Arguments that are no options of a command.
_NO_FLAGS = ("config",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """A tool. `words` are the command that it runs; none, for a tool about the run. Arguments in
    `places` are paths, those in `words_after` follow the options. `loads` says that it starts a
    server, so it waits for no measurement and disturbs none. `shown` is the document as an agent
    gets it, `line` what it says.
    """

    name: str
    about: str
    properties: Mapping[str, Schema]
    required: Sequence[str] = ()
    words: Sequence[str] = ()
    words_after: Sequence[str] = ()
    places: Sequence[str] = ("checkpoint_directory",)
    loads: bool = False
    line: Callable[[Document], str] = str
    shown: Callable[[Document], Document] = dict

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }

    def command(self, arguments: Mapping[str, Any], borders: Borders) -> Sequence[str]:
        """The command line for arguments that fit the schema. Each value stands in one word with
        its flag, or after `--`: none can be an option. Raises ConfigError for places outside.
        """
        known = {
            name: borders.path(value, name) if name in self.places else value
            for name, value in arguments.items()
            if name not in _NO_FLAGS
        }
        after = [str(known.pop(name)) for name in self.words_after if name in known]
        flags = [word for name, value in known.items() for word in _words(name, value)]
        return [*self.words, *flags, *(["--", *after] if after else [])]


def _words(name: str, value: Any) -> Iterator[str]:
    flag = f"--{_FLAGS.get(name, name).replace('_', '-')}"
    if isinstance(value, bool):
        yield from [flag] if value else []
        return
    for each in value if isinstance(value, list) else [value]:
        yield f"{flag}={each}"


def _of_answer(document: Document) -> str:
    parts = [f"{model['sentence']} {model['certainty'] or ''}" for model in document["models"]]
    return " ".join(part.strip() for part in parts) or "No model has a result."


def _best_variants(document: Document) -> Document:
    models = [
        {**model, "variants": model["variants"][:_MOST_VARIANTS]} for model in document["models"]
    ]
    return {**document, "models": models}


def _of_plan(document: Document) -> str:
    return "; ".join(
        f"{'+'.join(subject['models'])}: search {subject['mode']}, at most"
        f" {subject['most_measurements']} measurements, {subject['minutes']} minutes"
        f" ({subject['minutes_low']} to {subject['minutes_high']})"
        for subject in document["subjects"]
    )


def _first_trials(document: Document) -> Document:
    subjects = [
        {**subject, "trials": (subject.get("trials") or [])[:_MOST_TRIALS]}
        for subject in document["subjects"]
    ]
    return {**document, "subjects": subjects}


def _of_doctor(document: Document) -> str:
    found = [
        f"{each['subject']}, {each['check']}: {each['found']}"
        + (f" ({each['fix']})" if each["fix"] else "")
        for each in document["findings"]
        if each["level"] != "ok"
    ]
    works = "A run can start." if document["works"] else "A run cannot start."
    return " ".join([works, *found])


def _of_validation(document: Document) -> str:
    (file,) = document["files"]
    problems = [*file["problems"], *file["missing"]]
    told = [f"{each['where']}: {each['what']}" for each in problems]
    return "; ".join(told) or "The configuration is valid."


def _of_explanation(document: Document) -> str:
    return "; ".join(
        f"{each['variant']} at {each['load']['kind']} {each['load']['value']}: "
        + (", ".join(cause["name"] for cause in each["causes"]) or "nothing unusual")
        + (f"; not measured: {', '.join(each['not_measured'])}" if each["not_measured"] else "")
        + (f"; {each['unsure']}" if each["unsure"] else "")
        for each in document["hardware"]
    )


def _of_comparison(document: Document) -> str:
    changes = [
        f"{model['model']}: {tag} {_change(change)}"
        for model in document["models"]
        for tag, change in ((model["best"] or {}).get("metrics") or {}).items()
    ]
    verdict = "A rule is broken." if document["regression"] else "No rule is broken."
    return " ".join([*(f"{change}." for change in changes), *document["remarks"], verdict])


def _change(change: Mapping[str, Any]) -> str:
    percent, interval = change["change_percent"], change["interval_percent"]
    if percent is None:
        return str(change["verdict"])
    doubt = "unknown noise" if interval is None else f"{interval[0]:+.1f} to {interval[1]:+.1f}"
    return f"{percent:+.1f} % ({doubt}): {change['verdict']}"


def _of_capacity(document: Document) -> str:
    return " ".join(
        sentence
        for each in document["hardware"]
        for sentence in (each["sentence"], *each["remarks"])
    )


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        name="doctor",
        about="Check that this machine can measure: programs, GPUs, disk, and with models each"
        " model of the config.",
        properties={
            **_CONFIG,
            "no_models": {"type": "boolean", "description": "Start no server, load no model."},
        },
        words=("doctor", "--json"),
        loads=True,
        line=_of_doctor,
    ),
    AgentTool(
        name="validate",
        about="Check a config, and the models that it names, without running anything.",
        properties=_CONFIG,
        required=("config",),
        words=("config", "validate", "--json", CONFIG),
        loads=True,
        line=_of_validation,
    ),
    AgentTool(
        name="plan",
        about="Dry run: what a run of this config would measure, and about how long it takes.",
        properties=_CONFIG,
        required=("config",),
        words=("profile", "--dry-run", "--json"),
        loads=True,
        line=_of_plan,
        shown=_first_trials,
    ),
    AgentTool(
        name="start",
        about="Start a run in the background. It ends by itself or after the duration, keeps all"
        " that was measured, and continues what an earlier run with the same checkpoint directory"
        " measured. One run at a time.",
        properties={
            **_CONFIG,
            "duration": {
                **_DURATION,
                "description": "Such as 90s or 10m: taken from the budget of this server.",
            },
        },
        required=("config", "duration"),
    ),
    AgentTool(
        name="status",
        about="The run: its phase, how many trials are done, the best so far with its intervals,"
        " the time left, and the answers once it has ended.",
        properties={
            "wait_s": {
                "type": "number",
                "minimum": 0,
                "maximum": 60,
                "description": "Wait so long for the end of the run.",
            }
        },
    ),
    AgentTool(
        name="stop",
        about="Stop the run after its current measurement. Everything measured is kept.",
        properties={},
    ),
    AgentTool(
        name="answer",
        about="The recommendation of a checkpoint directory, with intervals, doubts and the best"
        f" {_MOST_VARIANTS} variants.",
        properties=_RESULTS,
        words=("best", "--format", "json"),
        line=_of_answer,
        shown=_best_variants,
    ),
    AgentTool(
        name="what_if",
        about="Rank what was measured for other goals or constraints. Nothing is measured.",
        properties={**_RESULTS, **_GOALS},
        words=("best", "--format", "json"),
        line=_of_answer,
        shown=_best_variants,
    ),
    AgentTool(
        name="explain",
        about="Why the best variant, or the one named, is slow: causes with their evidence.",
        properties={**_RESULTS, **_GOALS, "variant": _TEXT},
        words=("explain", "--format", "json"),
        words_after=("variant",),
        line=_of_explanation,
    ),
    AgentTool(
        name="compare",
        about="What changed between two checkpoint directories, and whether rules are broken.",
        properties={
            "base": {**_TEXT, "description": "Checkpoint directory or file."},
            "new": {**_TEXT, "description": "The other one."},
            **_GOALS,
            "fail_on": {**_TEXTS, "description": "Rules such as perf_throughput<-3%."},
        },
        required=("base", "new"),
        words=("compare", "--format", "json"),
        words_after=("base", "new"),
        places=("base", "new"),
        line=_of_comparison,
    ),
    AgentTool(
        name="capacity",
        about="How many replicas serve a rate of requests, and how sure that is.",
        properties={
            **_RESULTS,
            **_GOALS,
            "rate": {**_ABOVE_0, "description": "Requests per second of all replicas."},
            "headroom": {**_TEXT, "description": "Spare capacity, such as 20%."},
            "replicas_per_node": _COUNT,
            "batch_size": _COUNT,
            "variant": _TEXT,
        },
        required=("rate",),
        words=("capacity", "--format", "json"),
        line=_of_capacity,
    ),
)
