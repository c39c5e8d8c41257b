# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Loads as text: short for tables, and as phrases for sentences."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import Load, LoadKind, Trial, Workload


def load_text(trial: Trial) -> str:
    """For example `concurrency 8, client batch 4`. For several models: all loads, or one text
    with several values, such as `concurrency 8,1`.
    """
    works = trial.workloads
    if len({(replace(work.load, value=0), work.traffic) for work in works}) > 1:
        return "; ".join(map(_short, works))
    values = [str(work.load.value) for work in works]
    return _short(works[0], values[0] if len(set(values)) == 1 else ",".join(values))


def under(trial: Trial) -> str:
    """A phrase such as `at concurrency 8, client batch 4`. For several models: the load of
    each, or one phrase if all are equal.
    """
    words = [under_load(work.load, work.traffic) for work in trial.workloads]
    if len(set(words)) > 1:
        named = zip(words, trial.workloads, strict=True)
        return " and ".join(f"{text} for {work.variant.model}" for text, work in named)
    return words[0] + (" for each model" if len(words) > 1 else "")


def load_words(trial: Trial) -> str:
    """The load as a noun: `concurrency 8, client batch 4`, `50 requests/sec`. For several
    models: the load of each, or one if all are equal.
    """
    phrases = [under_load(work.load, work.traffic) for work in trial.workloads]
    words = [phrase.removeprefix("at ").removeprefix("with ") for phrase in phrases]
    if len(set(words)) > 1:
        named = zip(words, trial.workloads, strict=True)
        return ", ".join(f"{text} for {work.variant.model}" for text, work in named)
    return words[0] + (" for each model" if len(words) > 1 else "")


def trial_words(trial: Trial) -> str:
    """A trial as a noun: `m_config_4 at concurrency 8`."""
    return f"{trial.variants} {under(trial)}"


def workload_words(work: Workload) -> str:
    """A workload as a noun: `m_config_4 at concurrency 8`."""
    return f"{work.variant.name} {under_load(work.load, work.traffic)}"


def under_load(load: Load, traffic: Traffic | None = None) -> str:
    """A phrase such as `at concurrency 8, client batch 4`, or `at 50 requests/sec`."""
    match load.kind:
        case LoadKind.CONCURRENCY:
            words = f"at concurrency {load.value:,}"
        case LoadKind.REQUEST_RATE:
            arriving = "" if traffic is None else f" with {traffic}"
            words = f"at {load.value:,} requests/sec{arriving}"
        case LoadKind.REQUEST_INTERVALS:
            words = f"with {'the given request intervals' if traffic is None else traffic}"
    return words if load.batch_size == 1 else f"{words}, client batch {load.batch_size}"


def _short(work: Workload, value: str | None = None) -> str:
    """The text of a load, with `value` in place of its own if given."""
    load, traffic = work.load, work.traffic
    value = value or str(load.value)
    match load.kind:
        case LoadKind.CONCURRENCY:
            text = f"concurrency {value}"
        case LoadKind.REQUEST_RATE:
            text = f"{value} requests/sec" + ("" if traffic is None else f", {traffic}")
        case LoadKind.REQUEST_INTERVALS:
            text = "intervals from file" if traffic is None else str(traffic)
    return text if load.batch_size == 1 else f"{text}, client batch {load.batch_size}"
