# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses and checks the search that fits the settings and the models."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.model_config_rules import Refusal, rate_limits, refusal
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.quick_limits import unsupported_loads
from model_analyzer.domain.settings import (
    SearchMode,
    SearchSettings,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.search.brute import BruteSearch
from model_analyzer.search.confirm import confirm, most_confirmed
from model_analyzer.search.instance_groups import has_several_groups
from model_analyzer.search.left_out import left_out
from model_analyzer.search.optuna_search import OptunaSearch, require_optuna
from model_analyzer.search.plan import SEED, Plan, Subject, load_values
from model_analyzer.search.planned import PlannedSearch
from model_analyzer.search.product import ProductSearch
from model_analyzer.search.quick import QuickSearch, quick_space
from model_analyzer.search.refine import refine
from model_analyzer.search.trial_map import TrialMap
from model_analyzer.search.variants import count_brute_variants, is_manual

log = logging.getLogger(__name__)

_MODE = "--search"
_CORRECT = "correct its config.pbtxt"


def mode_of(subject: Subject, settings: SearchSettings) -> SearchMode:
    """The mode that the user chose for these models or for all, or the default for these models.

    Several models, ensembles and BLS models have too many combinations for a brute search. But
    loads that the user lists are all measured.
    """
    chosen = subject.models[0].settings.mode or settings.mode
    if chosen is not None:
        return chosen
    is_composed = len(subject.models) > 1 or any(model.facts.composing for model in subject.models)
    if is_composed and not settings.disable and not subject.lists_loads:
        return SearchMode.QUICK
    return SearchMode.BRUTE


def check(subjects: Sequence[Subject], settings: SearchSettings) -> Sequence[str]:
    """Checks all subjects; returns warnings about settings without effect.

    Raises ConfigError if a subject cannot be searched with these settings.
    """
    for subject in subjects:
        mode = mode_of(subject, settings)
        problems = [*_kinds(subject, settings, mode)]
        if mode is SearchMode.QUICK:
            problems += _loads_of_quick(subject)
        if mode is SearchMode.BRUTE:
            problems += _nothing_left(subject, settings)
        if problems:
            raise ConfigError(*problems)
        if mode is SearchMode.QUICK:
            quick_space(subject, settings.quick)
        if mode is SearchMode.OPTUNA:
            require_optuna()
        if mode in (SearchMode.OPTUNA, SearchMode.ADAPTIVE):
            TrialMap(subject, settings, use_formula=False)
    unvaried = [remark for subject in subjects for remark in _unvaried(subject, settings)]
    refused = [text for subject in subjects for text in refused_variants(subject, settings)]
    return [*_composing(subjects), *unvaried, *refused]


def refused_variants(subject: Subject, settings: SearchSettings) -> Sequence[str]:
    """How many variants are left out because a server would refuse them, and why."""
    mode = mode_of(subject, settings)
    parts = [part.sentence for part in left_out(subject, settings, mode)]
    return [*_refused_defaults(subject), *parts]


def _refused_defaults(subject: Subject) -> Iterator[str]:
    """What is left out because the server would refuse a model as it is, and why."""
    for model in subject.models:
        for name, reason in _refusals(model.facts, subject):
            yield (
                f"{name}: its own configuration is left out, because the server would refuse it:"
                f" {reason}; {_CORRECT}"
            )


def _nothing_left(subject: Subject, settings: SearchSettings) -> Iterator[Problem]:
    """The models of which the server would refuse all variants that a brute search tries."""
    parts = {part.model: part.count for part in left_out(subject, settings, SearchMode.BRUTE)}
    for model in subject.models:
        tried = count_brute_variants(model, settings)
        if parts.get(model.facts.name, 0) == tried:
            others = f", and the {counted(tried, 'other')} of the search" if tried else ""
            for name, reason in _refusals(model.facts, subject):
                message = f"the server would refuse its own configuration{others}: {reason}"
                yield Problem(where=name, message=message, hint=_CORRECT)


def _refusals(facts: ModelFacts, subject: Subject) -> Iterator[tuple[str, Refusal]]:
    """The first model that the server would refuse as it is, if any, and why; called ones first."""
    for part in reversed([*facts.with_parts()]):
        default = VariantNames().default(part)
        if reason := refusal(default) or next(rate_limits([default], subject.setup.flags), None):
            yield part.name, reason
            return


def choose(
    subject: Subject,
    settings: SearchSettings,
    names: VariantNames,
    *,
    seed: int = SEED,
    slots: int = 1,
) -> PlannedSearch:
    """The search for the models of `subject`, which `check` has accepted.

    The search refines the best variants at its end, and in instalments confirms them; an adaptive
    search does both all the time. All random choices follow from `seed`. `slots`, the number of
    trials at once, has an effect on `most_trials` only.
    """
    mode = mode_of(subject, settings)
    if mode is SearchMode.QUICK:
        climb = QuickSearch(subject, settings.quick, names)
        plan = _swept(climb.plan(), "quick", subject, settings)
        return PlannedSearch(_confirmed(plan, subject, settings), None)
    if mode is SearchMode.OPTUNA:
        sampled = OptunaSearch(subject, settings, settings.optuna, names, seed=seed)
        most = sampled.most_trials + most_refined(subject, settings)
        plan = _swept(sampled.plan(), "Optuna", subject, settings)
        return PlannedSearch(_confirmed(plan, subject, settings), most)
    if mode is SearchMode.ADAPTIVE:
        # imported on use: it needs numpy, which is slow to import
        from model_analyzer.search.adaptive.adaptive_search import AdaptiveSearch

        learning = AdaptiveSearch(subject, settings, settings.adaptive, names, seed=seed)
        most = learning.most_trials(slots)
        return PlannedSearch(learning.plan(), most, lambda: learning.outlook)
    brute = brute_search(subject, settings, names)

    def measured() -> Plan:
        records = yield from brute.plan()
        if sweeps_loads(subject, settings):
            records += yield from _refine(subject, settings, records)
        return records

    most = brute.most_trials + most_refined(subject, settings)
    return PlannedSearch(_confirmed(measured(), subject, settings), most)


def brute_search(
    subject: Subject, settings: SearchSettings, names: VariantNames
) -> BruteSearch | ProductSearch:
    """The brute search for these models."""
    kind = ProductSearch if len(subject.models) > 1 else BruteSearch
    return kind(subject, settings, names)


def _confirmed(plan: Plan, subject: Subject, settings: SearchSettings) -> Plan:
    """The plan followed by further instalments of its finalists."""
    records = yield from plan
    records += yield from confirm(subject, settings, records)
    return records


def _swept(plan: Plan, mode: str, subject: Subject, settings: SearchSettings) -> Plan:
    """The plan followed by the load sweep, unless nothing was measured."""
    records = yield from plan
    if not any(isinstance(record.outcome, Measurement) for record in records):
        return records
    done = f"Done with {mode} mode search."
    if not sweeps_loads(subject, settings):
        log.info("%s", done)
    else:
        log.info("%s Gathering concurrency sweep measurements for reports", done)
        records += yield from _refine(subject, settings, records)
    return records


def sweeps_loads(subject: Subject, settings: SearchSettings) -> bool:
    """Whether a sweep over the loads of the best variants follows the search. After a brute search:
    if the loads are searched. After quick and optuna: unless a load is fixed or the models have
    different lists of loads.
    """
    match mode_of(subject, settings):
        case SearchMode.ADAPTIVE:
            return False
        case SearchMode.BRUTE:
            return len(subject.models) == 1 and not subject.lists_loads
    lists = {model.settings.loads for model in subject.models}
    return not settings.sweep_disable and len(lists) == 1 and len(*lists) != 1


def most_swept(subject: Subject, settings: SearchSettings, best: int | None = None) -> int:
    """The largest number of trials of the load sweep for `best` variants (by default as many as are
    refined), beside those of the search.
    """
    if not sweeps_loads(subject, settings):
        return 0
    boundary = subject.goal.has_constraints and not subject.lists_loads
    steps = settings.max_binary_search_steps if boundary else 0
    # a brute search counts all loads itself, also those that it skips
    is_counted = mode_of(subject, settings) is SearchMode.BRUTE
    loads = 0 if is_counted else len(load_values(subject.models[0], settings))
    refined = settings.refined if best is None else best
    return (refined + 1) * (loads + steps)


def most_refined(subject: Subject, settings: SearchSettings, best: int | None = None) -> int:
    """The largest number of trials behind the search itself: see `most_swept` and `confirm`."""
    return most_swept(subject, settings, best) + most_confirmed(subject, settings)


def load_sweep(
    subject: Subject, settings: SearchSettings, records: Sequence[TrialRecord], best: int
) -> Plan:
    """The sweep over the loads of the best variants in `records`."""
    return refine(
        subject,
        records,
        best=best,
        loads=load_values(subject.models[0], settings),
        # no loads beside those that the user lists
        steps=0 if subject.lists_loads else settings.max_binary_search_steps,
    )


def _refine(subject: Subject, settings: SearchSettings, records: Sequence[TrialRecord]) -> Plan:
    added = yield from load_sweep(subject, settings, records, settings.refined)
    log.info("Done gathering concurrency sweep measurements for reports")
    return added


def _kinds(subject: Subject, settings: SearchSettings, mode: SearchMode) -> Iterator[Problem]:
    """Problems of models that cannot be searched together, or not in this mode."""
    ensembles = [model.facts.name for model in subject.models if model.facts.is_ensemble]
    if ensembles and len(subject.models) > 1:
        yield Problem(
            where=ensembles[0],
            message="an ensemble cannot be profiled concurrently with other models",
            hint="remove run_config_profile_models_concurrently_enable",
        )
    lists = settings.disable or subject.lists_loads
    if ensembles and mode is SearchMode.BRUTE and not lists:
        yield Problem(
            where=_MODE,
            message=f"search mode brute does not support ensembles such as {ensembles[0]}",
            hint="remove run_config_search_mode, or give --search quick or --search adaptive",
        )


def _unvaried(subject: Subject, settings: SearchSettings) -> Iterator[str]:
    """Warnings about what the search does not vary: several instance groups, and settings of called
    models.
    """
    is_brute = mode_of(subject, settings) is SearchMode.BRUTE
    for model in subject.models:
        if not (is_brute and is_manual(model, settings)):
            for varied in model.varied.values():
                if has_several_groups(varied):
                    yield (
                        f"{varied.facts.name} has several instance groups: the search leaves them"
                        " as they are; instance_group in model_config_parameters lists others"
                    )
    if not is_brute:
        return
    reason = "searching is disabled" if settings.disable else "loads are listed"
    parts = [part for model in subject.models for part in [*model.varied.values()][1:]]
    for name in dict.fromkeys(part.facts.name for part in parts if part.parameters):
        yield (
            f"model_config_parameters of {name} is ignored: another model calls it, and {reason};"
            f" {_MODE} adaptive varies it"
        )


def _loads_of_quick(subject: Subject) -> Iterator[Problem]:
    """Problems with listed loads, where quick is the default mode of these models."""
    for model in subject.models:
        for limit in unsupported_loads(model.settings):
            yield Problem(where=model.settings.name, message=limit.message, hint=limit.hint)


def _composing(subjects: Sequence[Subject]) -> Sequence[str]:
    """Warnings about settings of models that no model of the run calls."""
    models = [model for subject in subjects for model in subject.models]
    called = {name for model in models for name in model.varied if name != model.facts.name}
    composing = models[0].composing if models else {}
    uncalled = [name for name in composing if name not in called]
    cpu_only = [name for name in uncalled if composing[name].cpu_only]
    if cpu_only and not called:
        raise ConfigError(
            Problem(
                where="cpu_only_composing_models",
                message=f"{cpu_only[0]} is not called by any model of this run",
                hint="the option is for models of ensembles and for bls_composing_models",
            )
        )
    return [f"{name} is not called by any model of this run: ignored" for name in uncalled]
