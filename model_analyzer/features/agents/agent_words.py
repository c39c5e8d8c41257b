# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Documents in the words of an agent's tools: shortened, and with advice on what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
_ARGUMENTS = {"budget": "duration", "constraint": "constraints"}
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
        return _FLAG.sub(lambda flag: _ARGUMENTS.get(flag[1], flag[1].replace("-", "_")), text)
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
