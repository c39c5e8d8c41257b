# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Turns rankings into reports: the whole content of a report, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate, chain

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.hardware import Device, kind_folder, kind_text, place_text
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.metrics import Unit
from model_analyzer.domain.models import ModelVariant, group_members, is_openai
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import under
from model_analyzer.domain.words import capitalized, counted
from model_analyzer.reports.alternatives import (
    Alternatives,
    Deployment,
    OtherLimits,
    alternatives_of,
    budget_of,
    choices_text,
)
from model_analyzer.reports.breakdown import breakdown_of_variants, latency_breakdown
from model_analyzer.reports.explain_text import ExplainReport
from model_analyzer.reports.explorer import Explorer, explorer_of, explorer_of_one
from model_analyzer.reports.front import front_charts, front_of
from model_analyzer.reports.headline import (
    Figure,
    Limit,
    basis_text,
    figures_of,
    headline,
    limits_of,
    settings_text,
    values_text,
)
from model_analyzer.reports.importance import (
    Importance,
    MapView,
    importance_rows,
    map_view,
    swept_table,
)
from model_analyzer.reports.method import measuring_commands, method_of
from model_analyzer.reports.parameters import configuration_changes, swept_text
from model_analyzer.reports.plots import Chart, detailed_charts, same_memory_text, summary_charts
from model_analyzer.reports.remarks import (
    UNFINISHED,
    caution_text,
    changes_text,
    details_of,
    evidence_text,
    is_unsure,
    proven_texts,
    remarks_of,
    why_not,
)
from model_analyzer.reports.tables import (
    Table,
    composing_table,
    detailed_table,
    hardware_table,
    summary_table,
)
from model_analyzer.results.answer import Answer, AnswerVerdict, ModelAnswer, top, top_with_default
from model_analyzer.results.columns import own_instances_text, reports_gpus
from model_analyzer.results.effects import effects
from model_analyzer.results.explain.explain import explain
from model_analyzer.results.ranking import Ranking, VariantResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOrigin:
    """Where the measurements come from: the machine, its software (`host`, by name) and devices,
    the checkpoint, and the time and tool of writing. `cores` is None if unknown.
    """

    host: Mapping[str, str]
    devices: Sequence[Device]
    written: str
    checkpoint: str
    tool: str = "model-analyzer"
    cores: int | None = None

    def on_kind_of(self, ranking: Ranking) -> ReportOrigin:
        """The origin with the GPUs and cores of the machine that measured the best of a ranking. If
        the checkpoint does not say which machine that was, with the known GPUs of its kind.
        """
        outcomes: list[Outcome] = [item.measurement for item in ranking.measured]
        outcomes += [item.failure for item in ranking.failed]
        machine = outcomes[0].machine if outcomes else None
        if machine is not None:
            cores = self.cores if machine.cores is None else machine.cores
            return replace(self, devices=machine.devices, cores=cores)
        if not ranking.hardware or ranking.group is None:
            return self
        names = ranking.group.sample.setup.devices
        return replace(self, devices=[each for each in self.devices if each.name in names])


# An answer in words has so many lines below its headline, and so many words.
_MOST_LINES = 2
_MOST_WORDS = 60


class Standing(Enum):
    """How far one may rely on an answer: its colour on pages and pictures."""

    GOOD = "good"
    UNSURE = "unsure"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The answer for one model on one kind of hardware in words: a headline with the `caution`, and
    up to two lines. The rest is folded.

    `headline` is a sentence in parts; every second part (1, 3, …) is emphasized. `caution` says why
    not to rely on it, "" if nothing speaks against it. `is_unsure` means that the search probably
    missed something better, that a constraint may be violated, or that the search was interrupted.
    `is_alone` means that no other configuration has a result. `why_not` says why something that
    measured better is not recommended, `evidence` what the answer is based on, and `changes` what
    is recommended to change in the default; "" if unknown. `proven` has a line for each verdict on
    the recommendation that there is; `remarks` are caveats, `details` other facts.
    """

    headline: tuple[str, ...]
    verdict: AnswerVerdict
    is_unsure: bool
    is_alone: bool
    caution: str
    why_not: str
    evidence: str
    changes: str
    proven: tuple[str, ...]
    remarks: tuple[str, ...]
    details: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """Whether the recommended configuration meets the constraints."""
        return self.verdict not in (AnswerVerdict.NEAREST, AnswerVerdict.NOTHING)

    @property
    def standing(self) -> Standing:
        """How far one may rely on it."""
        if self.verdict is AnswerVerdict.NOTHING:
            return Standing.BAD
        is_doubtful = self.is_unsure or self.verdict is AnswerVerdict.NEAREST
        return Standing.UNSURE if is_doubtful else Standing.GOOD

    @property
    def sentence(self) -> str:
        """The headline with the caution."""
        return " ".join(filter(None, ("".join(self.headline), self.caution)))

    @property
    def lines(self) -> Sequence[str]:
        """At most two lines below the headline: those for which there is room, and what is proven.
        Without an answer, the remarks say why there is none.
        """
        shown: list[str] = []
        is_nothing = self.verdict is AnswerVerdict.NOTHING
        texts = self.remarks if is_nothing else (self.why_not, self.evidence, self.changes)
        for text in filter(None, texts):
            if len(shown) < _MOST_LINES and _words(self.sentence, *shown, text) <= _MOST_WORDS:
                shown.append(text)
        return [*shown, *self.proven]

    @property
    def folded(self) -> Sequence[str]:
        """What is shown on demand."""
        lines = self.lines
        return [text for text in (*self.remarks, *self.details) if text not in lines]


_GOODPUT_NOTE = (
    "Goodput counts requests within the limits of the run, so they are fixed here:"
    " model-analyzer best --latency-budget MS answers for another limit."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The answer for one model on one kind of hardware, with all that explains it.

    `hardware` is the kind, if the model was measured on several, otherwise "". `recommended` is the
    name and the settings of the first variant, both "" if there is none. `choices` are what else
    one could choose. `shortage` says that there are fewer configurations than wanted, or "". `gpus`
    lists the GPUs whose metrics are shown, or "". `budget` is what a page needs to rank again at
    another limit, None if it cannot; `limit_note` says why. `changes` are those against the default
    (field, value of the default, own value), `texts` are to be copied (name and text).
    `alternatives` are what is said of other measurements. `winners` is the number of table rows
    before the default. `same_memory` is a sentence about memory that is the same everywhere, or "".
    `swept` is the best result for each value that a user chose, or None. `method` describes the
    measurements, as pairs of name and text.
    """

    model: str
    hardware: str
    statement: Statement
    shortage: str
    recommended: tuple[str, str]
    figures: tuple[Figure, ...]
    limits: tuple[Limit, ...]
    choices: tuple[str, ...]
    gpus: str
    constraints: str
    table: Table
    winners: int
    composing: Table | None
    charts: tuple[Chart, ...]
    same_memory: str
    search_map: MapView | None
    budget: OtherLimits | None
    limit_note: str
    importance: Importance | None
    swept: Table | None
    failures: tuple[FailedTrial, ...]
    notices: tuple[str, ...]
    difference: str
    changes: tuple[tuple[str, str, str], ...]
    texts: tuple[tuple[str, str], ...]
    alternatives: Alternatives
    why: ExplainReport | None
    method: tuple[tuple[str, str], ...]
    origin: ReportOrigin

    @property
    def place(self) -> str:
        """On which hardware, if the model was measured on several kinds; otherwise ""."""
        return place_text(self.hardware)

    @property
    def heading(self) -> str:
        """The place, as a heading."""
        return capitalized(self.place)

    @property
    def advice(self) -> str:
        """What to do, in a few words; the recommended configuration follows."""
        match self.statement.verdict:
            case AnswerVerdict.RECOMMENDED:
                unsure = "Best so far, but uncertain"
                advice = unsure if self.statement.is_unsure else "Deploy this configuration"
                return advice if self.limits else f"{advice} (no constraints were set)"
            case AnswerVerdict.EQUAL:
                return "No clear gain over the default configuration"
            case AnswerVerdict.KEEP if self.statement.is_alone:
                return "Only the default configuration was measured"
            case AnswerVerdict.KEEP:
                return "Keep the default configuration (no other configuration is clearly better)"
            case AnswerVerdict.NEAREST:
                return "No configuration meets the constraints; the nearest is"
            case AnswerVerdict.NOTHING:
                return "No measurement succeeded"

    @property
    def has_hints(self) -> bool:
        """Whether it is known what to do about one of the failures."""
        return any(failed.failure.hint for failed in self.failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link to another page of the same run; the `target` is a relative path."""

    text: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The summary report of one model: `parts` has a summary for each kind of hardware. `hardware`
    is the table of the best of each, None if there is one kind. `links` are related pages.
    """

    model: str
    hardware: Table | None
    parts: tuple[Summary, ...]
    explorer: Explorer
    origin: ReportOrigin
    links: tuple[PageLink, ...] = ()

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Those of all parts."""
        return tuple(chart for part in self.parts for chart in part.charts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """The detailed report of one variant. `hardware` is the kind that it was measured on, if the
    model was measured on several, otherwise "". `links` are related pages.
    """

    variant: str
    hardware: str
    sentence: str
    table: Table
    composing: Table | None
    charts: tuple[Chart, ...]
    explorer: Explorer
    configuration: str
    commands: tuple[str, ...]
    method: tuple[tuple[str, str], ...]
    origin: ReportOrigin
    links: tuple[PageLink, ...] = ()

    @property
    def parts(self) -> tuple[Detail, ...]:
        """The report has one part: see `Page`."""
        return (self,)


def build_page(
    answer: ModelAnswer,
    deployments: Sequence[Deployment],
    *,
    best: int,
    origin: ReportOrigin,
    complete: bool,
    offline: bool = False,
    always_gpus: bool = False,
) -> Page:
    """The summary page of a model; `deployments` are those of `build_summary` for each answer."""
    rankings = [each.ranking for each in answer.answers]
    starts = accumulate([0, *(len(ranking.measured) for ranking in rankings)])
    return Page(
        model=answer.model,
        hardware=hardware_table(answer.answers) if answer.is_of_several_kinds else None,
        parts=tuple(
            build_summary(
                each,
                best=best,
                origin=origin,
                deployment=deployment,
                complete=complete,
                offline=offline,
                always_gpus=always_gpus,
                start=start,
            )
            for each, deployment, start in zip(answer.answers, deployments, starts, strict=False)
        ),
        explorer=explorer_of(
            rankings, chain.from_iterable(map(front_of, rankings)), always_gpus=always_gpus
        ),
        origin=origin,
    )


def state_answer(answer: Answer, *, complete: bool) -> Statement:
    """The answer in words; `complete` means that the search finished."""
    unfinished = [] if complete or answer.ranking.is_unfinished else [UNFINISHED]
    return Statement(
        headline=headline(answer),
        verdict=answer.verdict,
        is_unsure=is_unsure(answer, complete=complete),
        is_alone=len(answer.ranking.results) == 1,
        caution=caution_text(answer, complete=complete),
        why_not=next(why_not(answer), ""),
        evidence=evidence_text(answer),
        changes=changes_text(answer),
        proven=tuple(proven_texts(answer)),
        remarks=(*unfinished, *remarks_of(answer)),
        details=tuple(details_of(answer)),
    )


def _words(*texts: str) -> int:
    return sum(any(map(str.isalnum, word)) for text in texts for word in text.split())


def build_summary(
    answer: Answer,
    *,
    best: int,
    origin: ReportOrigin,
    deployment: Deployment,
    complete: bool,
    offline: bool = False,
    always_gpus: bool = False,
    start: int = 0,
) -> Summary:
    """The summary of a model on one kind of hardware with its `best` variants. `deployment` is that
    of the recommended configuration; `complete` means that the search finished. With `always_gpus`,
    GPU metrics of CPU-only variants are shown, too. In the table of all measurements, those of the
    answer begin at the row `start`.
    """
    ranking = answer.ranking
    origin = origin.on_kind_of(ranking)
    varied = effects(ranking)
    chosen = top_with_default(ranking, best)
    charts = _charts(ranking, chosen, offline=offline, start=start)
    statement = state_answer(answer, complete=complete)
    budget = budget_of(ranking, charts, chosen, start=start, always_gpus=always_gpus)
    return Summary(
        model=ranking.model,
        hardware=ranking.hardware,
        statement=statement,
        shortage=shortage_text(ranking, best),
        recommended=_recommended(ranking),
        figures=figures_of(answer),
        limits=limits_of(answer),
        choices=choices_text(ranking),
        gpus=_gpus_line(
            _observed([result.best for result in chosen], origin, always_gpus=always_gpus)
        ),
        constraints=constraints_text(ranking.goal, ranking.model),
        table=summary_table(chosen, ranking, always_gpus=always_gpus),
        winners=len(top(ranking, best)),
        composing=composing_table(chosen[0]) if chosen else None,
        charts=charts,
        budget=budget,
        limit_note=_GOODPUT_NOTE if GOODPUT in ranking.goal.tags else "",
        same_memory="" if offline else same_memory_text(chosen),
        search_map=map_view(ranking),
        importance=importance_rows(varied),
        swept=swept_table(varied),
        failures=ranking.failed,
        notices=_notices(chosen, statement.folded),
        difference=deployment.difference,
        changes=tuple(_changes(ranking)),
        texts=tuple(_texts(ranking, deployment)),
        alternatives=alternatives_of(ranking, budget, deployment),
        why=_why(ranking, origin),
        method=method_of(
            ranking.measured,
            ranking.failed,
            ranking.conclusion,
            ranking.noise_model,
            measurements=ranking.measurements,
            always_machines=bool(ranking.hardware),
        ),
        origin=origin,
    )


def _changes(ranking: Ranking) -> Iterator[tuple[str, str, str]]:
    if ranking.default is not None and ranking.default is not ranking.results[0]:
        yield from configuration_changes(ranking.default.best, ranking.results[0].best)


def _texts(ranking: Ranking, deployment: Deployment) -> Iterator[tuple[str, str]]:
    if not ranking.results:
        return
    texts = {
        "config.pbtxt": deployment.configuration,
        "config.diff": deployment.difference,
        "Kubernetes command": deployment.command,
        "measuring command": measuring_commands(ranking.results[0].best),
    }
    yield from ((name, text) for name, text in texts.items() if text)


def _why(ranking: Ranking, origin: ReportOrigin) -> ExplainReport | None:
    """The explanation of the best variant; None if it cannot be explained, or if the server gave no
    counters.
    """
    try:
        explanation = explain(ranking, cores=origin.cores)
    except ValueError:
        return None  # several models together, or no measurement
    if not explanation.situation.stations:
        return None
    kind = ranking.hardware
    return ExplainReport(model=ranking.model, goal=ranking.goal, kind=kind, explanation=explanation)


def shortage_text(ranking: Ranking, best: int) -> str:
    """That some of the `best` configurations are missing, in the words of Triton Model Analyzer,
    which scripts may look for; "" if none is.
    """
    passing = len([result for result in ranking.results if result.passes])
    if not ranking.any_passes and ranking.results:
        return (
            f"Requested top {best} configs, but none satisfied constraints. Showing available"
            " constraint failing configs for this model."
        )
    if passing < min(best, len(ranking.results)):
        verb = "meets" if passing == 1 else "meet"
        return (
            f"Requested top {best} configs, but found only {passing} that {verb} the constraints."
        )
    return ""


def _notices(shown: Sequence[VariantResult], remarks: Sequence[str]) -> tuple[str, ...]:
    """Remarks about the shown measurements that are not among those of the answer, each once."""
    notices = (text for result in shown for text in result.best.measurement.remarks)
    return tuple(text for text in dict.fromkeys(notices) if text not in remarks)


def _charts(
    ranking: Ranking, chosen: Sequence[VariantResult], *, offline: bool, start: int
) -> tuple[Chart, ...]:
    places = {id(item): place for place, item in enumerate(ranking.measured, start)}
    over_latency = () if offline else front_charts(ranking, chosen, places)
    curves = summary_charts(chosen, ranking.goal, offline=offline, places=places)
    charts = (*over_latency, *curves, *breakdown_of_variants(chosen, places=places))
    folder = kind_folder(ranking.hardware)
    return tuple(replace(chart, folder=folder) for chart in charts)


def _recommended(ranking: Ranking) -> tuple[str, str]:
    if not ranking.results:
        return "", ""
    best = ranking.results[0]
    # what differs from the default is beside it
    swept = swept_text(ranking) if ranking.default in (None, best) else ""
    texts = (settings_text(best), swept, under(best.best.trial))
    return best.name, ", ".join(filter(None, texts))


def setup_rows(report: Page | Detail) -> Iterator[tuple[str, str]]:
    """How a report was measured: name and value of each fact."""
    origin = report.origin
    yield from origin.host.items()
    for part in report.parts:
        if part.hardware:
            yield "Hardware", part.hardware
        if part.origin.devices:
            gpus = (
                f"{gpu.name} ({gpu.memory / 1073.741824:.1f} GB)" for gpu in part.origin.devices
            )
            yield "GPUs", ", ".join(gpus)
        yield from part.method
    yield "Checkpoint", origin.checkpoint
    yield "Written", f"{origin.written} by {origin.tool}"


def build_detail(
    result: VariantResult,
    *,
    goal: Goal,
    hardware: str = "",
    currency: str = str(Unit.CURRENCY),
    origin: ReportOrigin,
    configuration: str,
    plots: Sequence[PlotSettings] = (),
    offline: bool = False,
    always_gpus: bool = False,
) -> Detail:
    """The detailed report of one variant, evaluated by `goal`. `hardware` is the kind that it was
    measured on, if there are several, `currency` the unit of costs. `configuration` is its
    config.pbtxt, `plots` are defined by the user. With `always_gpus`, GPU metrics are shown even if
    the variant uses CPUs only.
    """
    gpus = result.best.trial.gpus
    devices = _observed(result.measured, origin, always_gpus=always_gpus) or (
        origin.devices if any(variant.uses_gpus(gpus=gpus) for variant in result.variants) else ()
    )
    place = f"GPU(s) {_names(devices)} with total memory {_gigabytes(devices)} GB"
    sentences = [_described(variant, gpus) for variant in result.variants]
    count = counted(len(result.measured), "measurement")
    places = {id(item): place for place, item in enumerate(result.measured)}
    sentences.append(f"{count} on {place if devices else 'CPU'}.")
    values = f"{values_text(result, goal, currency)} {under(result.best.trial)}"
    basis = basis_text(result.best) if result.best.measurement.is_round else ""
    sentences.append(f"Best measurement: {', '.join(filter(None, (values, basis)))}.")
    return Detail(
        variant=result.telling_name,
        hardware=hardware,
        sentence=" ".join(sentences),
        table=detailed_table(result, offline=offline, always_gpus=always_gpus),
        composing=composing_table(result),
        charts=(
            latency_breakdown(result, places=places),
            *detailed_charts(result, plots, offline=offline, places=places, goal=goal),
        ),
        explorer=explorer_of_one(result, always_gpus=always_gpus),
        configuration=configuration,
        commands=tuple(
            dict.fromkeys(
                command for item in result.measured for command in item.measurement.commands
            )
        ),
        method=method_of(result.measured, noise_model=result.noise_model),
        origin=origin,
    )


def _described(variant: ModelVariant, gpus: int) -> str:
    """A description of a variant, in sentences."""
    if variant.is_ensemble:
        parts = ", ".join(part.full_name for part in variant.composing)
        return f"{variant.name} is an ensemble of {parts}."
    if is_openai(variant.config):
        return f"{variant.name} is behind OpenAI's API: its configuration is unknown."
    calls = ", ".join(part.full_name for part in variant.composing)
    batching = "enabled" if variant.has_dynamic_batching else "disabled"
    own = own_instances_text(variant, gpus=gpus)
    return (
        f"{variant.name} uses {own} instances with a max batch size of {variant.max_batch_size}"
        f" and has dynamic batching {batching}; platform {variant.platform}."
        + (f" It calls {calls}." if calls else "")
    )


def _observed(
    items: Sequence[MeasuredTrial], origin: ReportOrigin, *, always_gpus: bool
) -> Sequence[Device]:
    """The GPUs whose metrics are shown for these measurements; of several machines, those of the
    first.
    """
    for item in items:
        if reports_gpus(item, always=always_gpus):
            machine = item.measurement.machine
            devices = origin.devices if machine is None else machine.devices
            return [device for device in devices if device.uuid in item.measurement.gpus]
    return ()


def _gpus_line(devices: Sequence[Device]) -> str:
    if not devices:
        return ""
    line = f"GPU(s): {_names(devices)}. Total Available GPU Memory: {_gigabytes(devices)} GB"
    if len(devices) == 1:
        return line
    return f"{line}. Memory is the sum over the GPUs; utilization and power are their means."


def _names(devices: Sequence[Device]) -> str:
    return kind_text(device.name for device in devices)


def _gigabytes(devices: Sequence[Device]) -> str:
    """The total memory in GB of 2^30 bytes, as other tools show it."""
    return f"{sum(round(device.memory * 1e6 / 2**30, 1) for device in devices):.1f}"


def constraints_text(goal: Goal, names: str) -> str:
    """The constraints as text, or "None"; for a group of models (named `names`), by model."""
    texts = [", ".join(map(str, model.constraints)) or "None" for model in goal.models]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(
        f"{name}: {text}" for name, text in zip(group_members(names), texts, strict=True)
    )
