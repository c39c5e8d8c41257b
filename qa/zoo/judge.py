# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what the program said with what is true. Pure: documents in, faults as sentences out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from qa.zoo.truth import Truth, value_range

# Beyond this, a value is wrong unless its own interval says how unsure it is.
TOLERANCE = 0.05
# The chance that something better was not tried, from which on an answer says that it is unsure.
UNSURE_PERCENT = 10
# No measurement of these models is worth more, and one that does not end is given up.
LONGEST_S = 30
GIVEN_UP_S = 45
# An answer is read at a glance.
MOST_WORDS = 60
# Server and client begin and end to count at other moments.
CALLS_TOLERANCE = 0.25
# In flight = throughput x latency, up to this: in values from perf_analyzer's table, the first
# requests count, which meet an idle server (docs/measuring.md).
LITTLE_TOLERANCE = 0.15

Document = Mapping[str, Any]


def judge_run(truth: Truth, results: Document, *, is_searched: bool = True) -> Iterator[str]:
    """Faults in the results.json of a run; only a search must find the best."""
    for model in results["models"]:
        for variant in model["variants"]:
            for measured in variant["measurements"]:
                name = f"{variant['variant']} at {_load(measured)}"
                for fault in _judge_measurement(truth, variant, measured, results["metrics"]):
                    yield f"{name}: {fault}"
        for failure in model["failures"]:
            text = f"{failure['variant']}: {failure['reason']}: {failure['message']}"
            if not any(re.search(pattern, text) for pattern in truth.failures):
                yield f"failed: {text}"
        if truth.best and is_searched:
            yield from _judge_answer(truth, model)
        yield from _judge_doubts(truth, model)


def _judge_measurement(
    truth: Truth, variant: Document, measured: Document, catalogue: Document
) -> Iterator[str]:
    formulas = {"perf_throughput": truth.throughput} if truth.throughput else {}
    # it says itself that it may be too bad; nothing explains a value that is too good
    is_busy = any(notice["kind"] == "busy machine" for notice in measured["notices"])
    for metric, formula in {**formulas, **truth.metrics}.items():
        low, high = value_range(formula, _names(variant, measured))
        if is_busy:
            low, high = (0, high) if catalogue[metric]["better"] == "higher" else (low, math.inf)
        value = measured["metrics"].get(metric)
        if value is None:
            yield f"{metric} was not measured, true is {_range(low, high)}"
        elif not _agrees(value, measured["intervals"].get(metric), low, high):
            yield f"{metric} {value:.4g}, true is {_range(low, high)}"
    yield from _judge_calls(truth, measured)
    if not measured["doubts"]:
        (model, *_) = variant["models"]
        policy = model["configuration"].get("model_transaction_policy", {})
        yield from _judge_laws(measured, is_decoupled=policy.get("decoupled", False))
    rounds = measured["instalments"]  # other windows last until they are stable
    if rounds and measured["duration_s"] > LONGEST_S * rounds:
        yield f"took {measured['duration_s']:.0f} s"


def _judge_calls(truth: Truth, measured: Document) -> Iterator[str]:
    """Every call of a composing model is counted: those of all its versions, for example."""
    throughput = measured["metrics"]["perf_throughput"]
    (model, *_) = measured["models"]
    for name, calls in truth.calls.items():
        counted = model["composing"].get(name, {}).get("perf_throughput", 0.0)
        if abs(counted / (throughput * calls) - 1) > CALLS_TOLERANCE:
            yield f"{name} is called {counted / throughput:.3g} times for a request, not {calls}"


def _judge_laws(measured: Document, *, is_decoupled: bool) -> Iterator[str]:
    """The laws that need nothing but the published values. perf_analyzer loses a stream whose end a
    window cuts off (findings/perf_analyzer-late-final-flags.sh): fewer are in flight then.
    """
    metrics = measured["metrics"]
    ranks = [metrics[f"perf_latency_p{n}"] for n in (50, 90, 95, 99)]
    if ranks[0] <= 0 or ranks != sorted(ranks):
        yield f"percentiles {ranks}"
    (load, *others) = measured["loads"]
    average = metrics.get("perf_latency_avg")
    if load["kind"] == "concurrency" and not others and average:
        per_s = metrics["perf_throughput"] / load["batch_size"]
        in_flight = per_s * average / 1000
        # what is in flight at the edges is counted with its whole latency, or not at all
        edge = ranks[-1] / 1000 * per_s / (measured["requests"] or math.inf)
        least = 0.0 if is_decoupled else 1 - LITTLE_TOLERANCE - edge
        if not least <= in_flight / load["value"] <= 1 + LITTLE_TOLERANCE + edge:
            yield f"throughput x latency = {in_flight:.3g} in flight, not {load['value']}"


def _judge_answer(truth: Truth, model: Document) -> Iterator[str]:
    """What is recommended is truly as good as the best, or the answer says that it is unsure."""
    answer = model["recommended"]
    if answer is None:
        yield "recommends nothing"
        return
    (variant,) = (v for v in model["variants"] if v["variant"] == answer["variant"])
    _, value = value_range(truth.throughput, _names(variant, answer))
    best, _ = value_range(truth.best, {})
    conclusion = model["conclusion"] or {"chance_percent": 0}
    is_unsure = conclusion["chance_percent"] >= UNSURE_PERCENT or answer["undecided"]
    if value < best * (1 - TOLERANCE) and not is_unsure:
        name = f"{answer['variant']} at {_load(answer)}"
        yield f"recommends {name}, which has {value:.4g} infer/s; the best has {best:.4g}"


def _judge_doubts(truth: Truth, model: Document) -> Iterator[str]:
    """A doubt is one that the truth expects."""
    doubts = {
        f"{doubt['law']}: {doubt['text']}"
        for variant in model["variants"]
        for measured in variant["measurements"]
        for doubt in measured["doubts"]
    }
    for text in sorted(doubts):
        if not any(re.search(pattern, text) for pattern in truth.doubts):
            yield f"doubt: {text}"


def judge_surfaces(model: Document, told: Sequence[str], page: str) -> Iterator[str]:
    """The answer for a model in results.json is that of the progress (`told`, sentences) and of its
    page, is short, and compares with the default.
    """
    sentence, answer = model["sentence"], model["recommended"]
    if sentence not in told:
        yield f"the progress ends with another answer than {sentence!r}"
    words = len(f"{sentence} {model['changes'] or ''}".split())
    if words > MOST_WORDS:
        yield f"the answer has {words} words"
    if answer is None:
        return
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", "", page, flags=re.DOTALL)
    shown = _without_blanks(unescape(text))
    for part in _numbers(answer, sentence):
        if _without_blanks(part) not in shown:
            yield f"the page lacks {part!r} of {sentence!r}"
    is_met = answer["satisfies_constraints"]
    if is_met and not answer["gain_over_default"] and "default configuration" not in sentence:
        yield f"no word about the default in {sentence!r}"


def _numbers(answer: Document, sentence: str) -> Iterator[str]:
    """What every surface has of an answer: its name and the numbers of its sentence."""
    yield answer["variant"]
    yield from re.findall(r"\d[\d,.]*(?:\s\N{PLUS-MINUS SIGN}\s[\d,.]+)?(?<=\d)", sentence)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def judge_explanation(truth: Truth, explanation: Document) -> Iterator[str]:
    """Faults in what `explain` says."""
    for hardware in explanation["hardware"]:
        # other programs may really have been busy
        named = [cause["cause"] for cause in hardware["causes"] if cause["cause"] != "noise"]
        first = named[0] if named else "none"
        if first not in (truth.causes or ["none"]):
            yield f"first cause {first}, true is {' or '.join(truth.causes or ['none'])}"
        parts = sum(value or 0 for value in (hardware["average_ms"] or {}).values())
        whole = hardware["metrics"]["perf_latency_avg"]
        if parts > whole * (1 + TOLERANCE):
            yield f"the parts of a request take {parts:.4g} ms of {whole:.4g}"


def judge_capacity(truth: Truth, document: Document) -> Iterator[str]:
    """Faults in the number of replicas."""
    for hardware in document["hardware"]:
        answer = hardware["answer"]
        if answer is None:
            if not hardware["missing"]:
                yield "no answer, and nothing is said to be missing"
        elif answer["replicas"] not in truth.capacity["replicas"]:
            yield f"{answer['replicas']} replicas, true are {truth.capacity['replicas']}"


def _names(variant: Document, measured: Document) -> dict[str, Any]:
    (model, *_) = variant["models"]
    (load, *_) = measured["loads"]
    batching = model["configuration"].get("dynamic_batching", {})
    return {
        "model": model["model"],
        "load": load["value"],
        "size": load["batch_size"],
        "instances": _instances(model),
        "limit": max(1, model["max_batch_size"]),
        "dynamic": model["dynamic_batching"],
        "delay": float(batching.get("max_queue_delay_microseconds", 0)) / 1e6,
        "parts": {part["model"]: _instances(part) for part in model["composing"]},
    }


def _instances(model: Document) -> int:
    return sum(group["count"] for group in model["instances"])


def _agrees(value: float, interval: Document | None, low: float, high: float) -> bool:
    if low * (1 - TOLERANCE) <= value <= high * (1 + TOLERANCE):
        return True
    return interval is not None and interval["low"] <= high and interval["high"] >= low


def _load(measured: Document) -> str:
    return ", ".join(f"{load['kind']} {load['value']}" for load in measured["loads"])


def _range(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
