# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses and checks the search mode that fits the settings and the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.errors import ConfigError, Problem, wrong
from model_analyzer.search.modes.mode import Mode
from model_analyzer.search.plan import SEED, PlannedSearch, Subject
from model_analyzer.search.variants import CORRECT, has_several_groups, is_manual, refused_as_it_is


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


def mode_for(subject: Subject, settings: SearchSettings) -> Mode:
    """The object of that mode. Its file is imported on use: some need libraries that are slow to
    import, or optional.
    """
    file = import_module(f"model_analyzer.search.modes.{mode_of(subject, settings).value}")
    mode: Mode = file.MODE(subject, settings)
    return mode


def check(subjects: Sequence[Subject], settings: SearchSettings) -> Sequence[str]:
    """Checks all subjects; returns warnings about settings without effect.

    Raises ConfigError if a subject cannot be searched with these settings.
    """
    for subject in subjects:
        mode = mode_for(subject, settings)
        problems = [*_together(subject), *mode.problems()]
        if problems:
            raise ConfigError(*problems)
        mode.check()
    unvaried = [remark for subject in subjects for remark in _unvaried(subject, settings)]
    refused = [text for subject in subjects for text in refused_variants(subject, settings)]
    return [*_composing(subjects), *unvaried, *refused]


def refused_variants(subject: Subject, settings: SearchSettings) -> Sequence[str]:
    """How many variants are left out because a server would refuse them, and why."""
    parts = [part.sentence for part in mode_for(subject, settings).left_out()]
    return [*_refused_defaults(subject), *parts]


def _refused_defaults(subject: Subject) -> Iterator[str]:
    """What is left out because the server would refuse a model as it is, and why."""
    for model in subject.models:
        for name, reason in refused_as_it_is(model.facts, subject):
            yield (
                f"{name}: its own configuration is left out, because the server would refuse it:"
                f" {reason}; {CORRECT}"
            )


def choose(
    subject: Subject,
    settings: SearchSettings,
    names: VariantNames,
    *,
    seed: int = SEED,
    slots: int = 1,
) -> PlannedSearch:
    """The search for the models of `subject`, which `check` has accepted: see `Mode.search`."""
    return mode_for(subject, settings).search(names, seed=seed, slots=slots)


def _together(subject: Subject) -> Iterator[Problem]:
    """Problems of models that cannot be searched together."""
    ensembles = [model.facts.name for model in subject.models if model.facts.is_ensemble]
    if ensembles and len(subject.models) > 1:
        yield Problem(
            where=ensembles[0],
            message="an ensemble cannot be profiled concurrently with other models",
            hint="remove run_config_profile_models_concurrently_enable",
        )


def _unvaried(subject: Subject, settings: SearchSettings) -> Iterator[str]:
    """Warnings about what the search does not vary: several instance groups, and settings of called
    models.
    """
    searches_called = mode_of(subject, settings).facts.searches_several
    for model in subject.models:
        if searches_called or not is_manual(model, settings):
            for varied in model.varied.values():
                if has_several_groups(varied):
                    yield (
                        f"{varied.facts.name} has several instance groups: the search leaves them"
                        " as they are; instance_group in model_config_parameters lists others"
                    )
    if searches_called:
        return
    reason = "searching is disabled" if settings.disable else "loads are listed"
    parts = [part for model in subject.models for part in [*model.varied.values()][1:]]
    for name in dict.fromkeys(part.facts.name for part in parts if part.parameters):
        yield (
            f"model_config_parameters of {name} is ignored: another model calls it, and {reason};"
            " --search adaptive varies it"
        )


def _composing(subjects: Sequence[Subject]) -> Sequence[str]:
    """Warnings about settings of models that no model of the run calls."""
    models = [model for subject in subjects for model in subject.models]
    called = {name for model in models for name in model.varied if name != model.facts.name}
    composing = models[0].composing if models else {}
    uncalled = [name for name in composing if name not in called]
    cpu_only = [name for name in uncalled if composing[name].cpu_only]
    if cpu_only and not called:
        raise wrong(
            "cpu_only_composing_models",
            f"{cpu_only[0]} is not called by any model of this run",
            "the option is for models of ensembles and for bls_composing_models",
        )
    return [f"{name} is not called by any model of this run: ignored" for name in uncalled]
