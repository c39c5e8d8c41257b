# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the live view shows, as lines of a width: pure, from the events so far and the time. Metrics
and times take a few characters.

A chart of measurements for the terminal, as lines of text: pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from model_analyzer.app.progress.events import (
    BestChanged,
    Event,
    ModelStarted,
    Phase,
    PhaseStarted,
    RunStarted,
    StillMeasuring,
    TrialEnded,
    TrialLost,
    TrialStarted,
)
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Better, Unit
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.trials import Failure, Trial, load_text, load_words, trial_words, under
from model_analyzer.domain.words import capitalized, chance_text, number_text, percent_text
from model_analyzer.reports.headline import gain_text

# Beginnings of tags, and how they are said in short.
_SHORT = {
    "perf_throughput": "",
    "output_token_throughput": "",
    "perf_latency_": "",
    "time_to_first_token_": "TTFT ",
    "inter_token_latency_": "ITL ",
    "gpu_used_memory": "GPU memory",
    "gpu_utilization": "GPU",
    "gpu_power_usage": "GPU",
    "cpu_used_ram": "RAM",
}


def values_text(measurement: Measurement, tags: Sequence[str], *, separator: str = " · ") -> str:
    """The metrics with their units; of several models as one, as the metric says."""
    return separator.join(_values(measurement, tags)) or "no values"


def value_text(tag: str, value: float) -> str:
    """`1,382 infer/s`, `p99 48.4 ms`."""
    return f"{_label(tag)}{number_text(value)} {unit(tag)}"


def unit(tag: str) -> str:
    return METRICS[tag].unit.short


def duration(seconds: float) -> str:
    """To about a twentieth: an estimate does not know better."""
    step = 1 if seconds < 20 else 5 if seconds < 120 else 10 if seconds < 600 else 60
    minutes, rest = divmod(round(seconds / step) * step, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    if step == 60 or (minutes and not rest):
        return f"{minutes} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def expectation_text(event: StillMeasuring) -> str:
    """`expected 1 s, given up after 41 s`: the limit is left out if it is unknown."""
    if event.expected_s is None:
        return "until its windows are stable"
    limit = "" if event.limit_s is None else f", given up after {duration(event.limit_s)}"
    return f"expected {max(event.expected_s, 1):.0f} s{limit}"


def clock(seconds: float) -> str:
    """`1:05`, `2:01:05`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _values(measurement: Measurement, tags: Sequence[str]) -> Iterator[str]:
    for tag in tags:
        value = measurement.value(tag)
        if value is not None:
            yield value_text(tag, value)


def _label(tag: str) -> str:
    for beginning, short in _SHORT.items():
        if tag.startswith(beginning):
            rest = tag.removeprefix(beginning)
            text = f"{short}{rest}"
            return f"{text} " if text else ""
    return f"{METRICS[tag].name} "


_PHASES = {
    Phase.STARTING_SERVER: "starting the server",
    Phase.OBSERVING_IDLE_SERVER: "measuring the idle server",
    Phase.TESTING_SLOTS: "testing slots on one host",
    Phase.MEASURING: "measuring",
    Phase.REFINING: "refining the best",
    Phase.FINALISTS: "measuring the best again",
    Phase.CHECKING_OUTPUTS: "checking the outputs of the best",
    Phase.ENDURANCE: "keeping the best under its load",
    Phase.REPORTS: "writing reports",
}

# Without outcomes; what is above this height of a terminal is for them, up to so many.
_OTHERS = 9
_OUTCOMES = 6

# Terminals of fewer lines show outcomes instead of the constraints and the chance of better.
_WITH_LIMITS = 18

# Large terminals, in cells, have a chart of so many lines, and more outcomes.
_WIDE, _TALL = 110, 36
_CHART = 16
_MORE_OUTCOMES = 40
_WIDEST_CHART = 140

# More values are wider than any terminal.
_VALUES = 1000

_BLOCKS = "▁▂▃▄▅▆▇█"
_FAILED = "!"
_MISSES = "○"
_LABEL = 6
_SHORTEST_NAME = 10

_STOPPING = "Stopping after this measurement (third Ctrl-C: stop at once)"
_STOPS = "Ctrl-C: finish this measurement, then write the reports"


@dataclass(slots=True)
class Screen:
    """What is known of the run. `show` takes events in their order."""

    models: tuple[str, ...] = ()
    phase: Phase | None = None
    model: ModelStarted | None = None
    # by slot; with one slot its name is ""
    under_way: dict[str, TrialStarted] = field(default_factory=dict)
    overdue: Mapping[str, StillMeasuring] = field(default_factory=dict)  # by slot
    best: Mapping[str, BestChanged] = field(default_factory=dict)  # by kind, "" if there is one
    # values: they are drawn by another thread
    outcomes: tuple[TrialEnded, ...] = ()
    series: tuple[tuple[str, float | None], ...] = ()  # load and value
    dots: tuple[Dot, ...] = ()
    outlook: Outlook | None = None
    end_s: float | None = None  # when the run is expected to end
    busy_s: float = 0.0  # of all slots together, in finished trials
    number: int = 0
    expected: int = 0

    def show(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.models = event.models
            case PhaseStarted():
                self.phase = event.phase
            case ModelStarted():
                self.model, self.best, self.under_way = event, {}, {}
                self.outcomes, self.series, self.dots, self.busy_s = (), (), (), 0.0
                self.number, self.expected, self.outlook = 0, 0, None
                self._expect(event)
            case TrialStarted():
                self.under_way = {**self.under_way, event.slot: event}
                self.number, self.expected = event.number, event.expected_trials
                self.outlook = event.outlook
                self._expect(event)
            case StillMeasuring():
                self.overdue = {**self.overdue, event.slot: event}
            case TrialEnded():
                self._ended(event)
            case TrialLost():
                self._leave(event.slot, event.elapsed_s)
            case BestChanged():
                self.best = {**self.best, event.kind: event}

    def _ended(self, event: TrialEnded) -> None:
        if not event.resumed:
            self._leave(event.slot, event.elapsed_s)
        self.outcomes = (*self.outcomes, event)[-_MORE_OUTCOMES:]
        self.number, self.expected = event.number, event.expected_trials
        value = dot = None
        if isinstance(event.outcome, Measurement):
            value = event.outcome.value(self.tags[0]) if self.tags else None
            dot = self.dot(event.outcome)
        self.series = (*self.series, (load_words(event.trial), value))[-_VALUES:]
        if dot is not None:
            self.dots = (*self.dots, dot)[-_VALUES:]
        self._expect(event)

    def _leave(self, slot: str, elapsed_s: float) -> None:
        left = dict(self.under_way)
        started = left.pop(slot, None)
        self.busy_s += 0.0 if started is None else elapsed_s - started.elapsed_s
        self.under_way = left

    def _expect(self, event: ModelStarted | TrialStarted | TrialEnded) -> None:
        if event.time_left_s is not None:
            self.end_s = event.elapsed_s + event.time_left_s

    @property
    def tags(self) -> tuple[str, ...]:
        return self.model.tags if self.model is not None else ()

    @property
    def kinds(self) -> Sequence[str]:
        return (self.model.kinds if self.model is not None else ()) or ("",)

    @property
    def axes(self) -> tuple[str, str]:
        """The metrics of the chart: a latency, the constrained one if any, and a throughput."""
        latencies = [tag for tag in self.tags if METRICS[tag].unit is Unit.MILLISECONDS]
        others = [tag for tag in self.tags if METRICS[tag].better is Better.HIGHER]
        return (*latencies, "perf_latency_p99")[0], (*others, "perf_throughput")[0]

    def dot(self, measurement: Measurement) -> Dot | None:
        """Its place in the chart; None if it lacks a metric of the axes."""
        x, y = (measurement.value(tag) for tag in self.axes)
        return None if x is None or y is None else Dot(x, y, self.passes(measurement))

    def passes(self, measurement: Measurement) -> bool:
        return self.model is None or self.model.goal.passes(measurement)

    def lines(self, width: int, height: int, elapsed_s: float, *, stopping: bool) -> list[Text]:
        """At most `width` cells wide, and fewer than `height`."""
        return _Drawing(self, width, elapsed_s, stopping=stopping).lines(height)


class _Drawing:
    """What is known of a run at one moment, drawn for a width in cells."""

    def __init__(self, run: Screen, width: int, elapsed_s: float, *, stopping: bool) -> None:
        self._run = run
        self._width = width
        self._elapsed_s = elapsed_s
        self._stopping = stopping

    def lines(self, height: int) -> list[Text]:
        """Fewer lines than `height`."""
        width = self._width
        goals = [*self._limits(""), *self._chance()] if height >= _WITH_LIMITS else []
        room = height - _OTHERS - 2 * (len(self._run.kinds) - 1) - len(goals)
        now = [*self._now(most_slots=max(room, 1))]
        chart = self._chart() if width >= _WIDE and height >= _TALL else []
        most_outcomes = _MORE_OUTCOMES if height >= _TALL else _OUTCOMES
        most = max(min(room + 1 - len(now) - len(chart), most_outcomes), 0)
        ended = [*self._ended_lines(self._run.outcomes[-most:] if most else ())]
        if goals and any(_MISSES in line.plain for line in (*chart, *ended)):
            goals = [*self._limits(f"   {_MISSES} misses it"), *self._chance()]
        lines = [
            _rule(self._title(), self._phase_text(), width),
            self._bar(),
            *now,
            *self._best_lines(),
            *goals,
            *self._spark(),
            *chart,
            *ended,
            *self._advice(),
        ]
        lines = lines[: max(height - 1, 1)]
        for line in lines:
            line.no_wrap = True
            line.truncate(width, overflow="ellipsis")
        return lines

    def _title(self) -> Text:
        if self._run.model is None:
            return Text.assemble((", ".join(self._run.models) or "model-analyzer", "bold"))
        title = Text.assemble((self._run.model.model, "bold"))
        if self._run.model.of > 1:
            title.append(f"  model {self._run.model.number} of {self._run.model.of}", style="dim")
        return title

    def _phase_text(self) -> Text:
        return Text(_PHASES[self._run.phase] if self._run.phase else "preparing", style="cyan")

    def _bar(self) -> Text:
        """How far the whole run is, in time."""
        elapsed_s = self._elapsed_s
        left_s = None if self._run.end_s is None else max(self._run.end_s - elapsed_s, 0.0)
        count = (
            f"measurement {self._run.number} of about {self._run.expected}"
            if self._run.number
            else ""
        )
        if self._run.phase is Phase.REPORTS or left_s is None or self._stopping:
            left = ""
        elif left_s < 1:
            left = "nearly done"
        else:
            left = f"about {duration(left_s)} left"
        told = "   ".join(filter(None, (count, left or clock(elapsed_s))))
        room = max(min(self._width - cell_len(told) - 3, 40), 0)
        share = 0.0 if left_s is None else elapsed_s / max(elapsed_s + left_s, 1e-9)
        if self._run.phase is Phase.REPORTS:
            share = 1.0
        done = round(share * room)
        bar = Text.assemble(("━" * done, "green"), ("─" * (room - done), "dim"))
        return bar.append("   " if room else "").append(told)

    def _now(self, *, most_slots: int) -> Iterator[Text]:
        """What is measured: a line for each slot, if there are several, and their use."""
        slots = self._run.model.slots if self._run.model is not None else ()
        if not slots:
            current = next(iter(self._run.under_way.values()), None)
            yield _labelled("now", self._slot_text(current, self._width - _LABEL))
            return
        yield _labelled("slots", Text(self._use(slots), style="dim"))
        shown = slots if len(slots) <= most_slots else slots[: most_slots - 1]
        column = max(map(cell_len, shown), default=0)
        for slot in shown:
            name = (f"{slot.ljust(column)}  ", "cyan")
            room = self._width - _LABEL - column - 2
            text = self._slot_text(self._run.under_way.get(slot), room)
            yield _labelled("", Text.assemble(name, text))
        if len(shown) < len(slots):
            yield _labelled("", Text(f"and {len(slots) - len(shown)} more", style="dim"))

    def _use(self, slots: Sequence[str]) -> str:
        """How many slots measure, and the share of the time in which all of them did."""
        assert self._run.model is not None
        running_s = sum(self._elapsed_s - event.elapsed_s for event in self._run.under_way.values())
        whole_s = max(self._elapsed_s - self._run.model.elapsed_s, 1e-9) * len(slots)
        share = min((self._run.busy_s + running_s) / whole_s, 1.0)
        return (
            f"{len(self._run.under_way)} of {len(slots)} measuring, {share:.0%} of their time used"
        )

    def _slot_text(self, event: TrialStarted | None, room: int) -> Text:
        if event is None:
            return Text(
                "idle" if self._run.model and self._run.model.slots else self._between(),
                style="dim",
            )
        since = clock(max(self._elapsed_s - event.elapsed_s, 0.0))
        again = " again" if event.trial.repetition else ""
        named = _named(event.trial, room - cell_len(since) - cell_len(again) - 2)
        text = Text.assemble((f"{since}  ", "dim"), named + again)
        overdue = self._run.overdue.get(event.slot)
        if overdue is not None and overdue.trial is event.trial:
            text.append(f"  still measuring: {expectation_text(overdue)}", style="yellow")
        return text

    def _between(self) -> str:
        """What is done while nothing is measured."""
        if self._run.phase in (Phase.MEASURING, Phase.REFINING, Phase.FINALISTS):
            return "choosing the next configuration"
        return "ranking the measurements" if self._run.phase is Phase.REPORTS else "…"

    def _advice(self) -> Iterator[Text]:
        if self._run.phase is not Phase.REPORTS:
            yield (
                Text(_STOPPING, style="bold yellow")
                if self._stopping
                else Text(_STOPS, style="dim")
            )

    def _best_lines(self) -> Iterator[Text]:
        """The best trial, and which it is; of each kind of hardware, if there are several."""
        label = "best"
        for kind in self._run.kinds:
            best = self._run.best.get(kind)
            text = Text("none yet", style="dim") if best is None else self._best_text(best)
            place = (f"{kind}  " if kind else "", "cyan")
            yield _labelled(label, Text.assemble(place, text))
            yield (
                Text()
                if best is None
                else _labelled("", Text(_named(best.trial, self._width - _LABEL)))
            )
            label = ""

    def _best_text(self, best: BestChanged) -> Text:
        misses = best.shortfall_percent
        color = "yellow" if misses else "green"
        text = Text.assemble((values_text(best.measurement, self._run.tags), f"bold {color}"))
        if misses:
            text.append(f"  misses the constraints by {percent_text(misses)}", style=color)
        elif best.gain is not None:
            gain = f"{gain_text(best.gain, sign='+')} %"
            told = f"{gain} over the default"
            if not best.gain.is_clear:
                told = f"no clear gain over the default ({gain})"
            if best.gain.at is not None:
                told = f"{told}, both {under(best.gain.at)}"
            text.append(f"  {told}", style=color)
        if best.times == 1:
            text.append("  (measured once)", style="dim")
        return text

    def _limits(self, legend: str) -> Iterator[Text]:
        """The constraints, and how a measurement that misses them is marked, if any is shown."""
        models = () if self._run.model is None else self._run.model.goal.models
        limits = "; ".join(dict.fromkeys(str(each) for goal in models for each in goal.constraints))
        if limits:
            yield _labelled("limit", Text.assemble(limits, (legend, "yellow")))

    def _chance(self) -> Iterator[Text]:
        """What the search expects of further trials; each kind of hardware has a search."""
        outlook = self._run.outlook
        if outlook is None or len(self._run.kinds) > 1:
            return
        better = f"is more than {100 * outlook.margin:.0f} % better"
        told = better if outlook.feasible else "meets the constraints"
        chance = capitalized(chance_text(outlook.chance))
        text = f"{chance} chance that another configuration {told}"
        yield _labelled("", Text(text, style="dim"))

    def _chart(self) -> list[Text]:
        """The chart of all measurements, on a large terminal."""
        best = self._run.best.get(self._run.kinds[0])
        marked = None if best is None else self._run.dot(best.measurement)
        across, up = (METRICS[tag].header for tag in self._run.axes)
        return scatter(
            self._run.dots, marked, (across, up), min(self._width, _WIDEST_CHART), _CHART
        )

    def _spark(self) -> Iterator[Text]:
        """The first metric of all measurements at the load of the best, which can be compared."""
        best = self._run.best.get(self._run.kinds[0])
        load = "" if best is None else load_words(best.trial)
        values = [value for own, value in self._run.series if own == load]
        measured = [value for value in values if value is not None]
        if not measured or not self._run.tags:
            yield Text()
            return
        lowest = f"{number_text(min(measured))} to " if len(measured) > 1 else ""
        told = f"  {lowest}{value_text(self._run.tags[0], max(measured))} at {load}"
        room = max(self._width - _LABEL - cell_len(told), 8)
        text = Text()
        for value in values[-room:]:
            if value is None:
                text.append(_FAILED, style="red")
            else:
                text.append(_block(value, max(measured)), style="cyan")
        yield _labelled("trend", text.append(told, style="dim"))

    def _ended_lines(self, events: Sequence[TrialEnded]) -> Iterator[Text]:
        values = [
            values_text(event.outcome, self._run.tags[:2])
            if isinstance(event.outcome, Measurement)
            else ""
            for event in events
        ]
        column = max(map(cell_len, values), default=0)
        for event, text in zip(events, values, strict=True):
            place = f"{event.number:>3}  "
            outcome = event.outcome
            if isinstance(outcome, Failure):
                yield Text.assemble(("✗", "red"), (place, "dim"), (outcome.message, "red"))
                continue
            resumed = " (resumed)" if event.resumed else ""
            doubtful = " (doubtful)" if outcome.doubts else ""
            passes = self._run.passes(outcome)
            noted = f"{resumed}{doubtful}"
            room = self._width - column - len(place) - len(noted) - 3
            yield Text.assemble(
                ("✓", "green") if passes else (_MISSES, "yellow"),
                (place, "dim"),
                (text.ljust(column), "" if passes else "yellow"),
                (f"  {_named(event.trial, room)}{noted}", "dim"),
            )


def _block(value: float, largest: float) -> str:
    if largest <= 0:
        return _BLOCKS[0]
    return _BLOCKS[min(int(max(value, 0.0) / largest * len(_BLOCKS)), len(_BLOCKS) - 1)]


def _named(trial: Trial, room: int) -> str:
    """The trial in so many cells: the load, in which trials may differ, is never cut."""
    words = trial_words(trial)
    if cell_len(words) <= room:
        return words
    load = load_text(trial)
    own = max(room - cell_len(load) - 1, _SHORTEST_NAME)
    name = trial.variants
    return f"{name if len(name) <= own else f'…{name[1 - own :]}'} {load}"


def _labelled(label: str, text: Text) -> Text:
    return Text.assemble((label.ljust(_LABEL), "dim"), text)


def _rule(left: Text, right: Text, width: int) -> Text:
    """A line across, with one text near its left and one near its right end."""
    around = 10  # lines and blanks at both ends and between
    left.truncate(max(width - right.cell_len - around, 8), overflow="ellipsis")
    between = max(width - left.cell_len - right.cell_len - around + 2, 1)
    parts = ("── ", left, " " + "─" * between + " ", right, " ──")
    return Text.assemble(*((part, "dim") if isinstance(part, str) else part for part in parts))


class Dot(NamedTuple):
    """A measurement: across, up, and whether it meets the constraints."""

    x: float
    y: float
    passes: bool


# The marks, from the least to the most important: the last one in a place is shown.
_MISSED, _MEETS, _BEST = (_MISSES, "yellow"), ("•", "cyan"), ("◉", "bold green")


def scatter(
    dots: Sequence[Dot], best: Dot | None, titles: tuple[str, str], width: int, height: int
) -> list[Text]:
    """The dots in `height` lines of at most `width` cells, with an axis that is logarithmic across
    and begins at zero upwards. `titles` are those across and up. Nothing without two positive dots.
    """
    dots = [dot for dot in dots if dot.x > 0 and dot.y >= 0]
    if len(dots) < 2:
        return []
    left, right = (math.log(edge(dot.x for dot in dots)) for edge in (min, max))
    top = max(dot.y for dot in dots) or 1.0
    margin = max(cell_len(number_text(top)), cell_len("0")) + 2
    columns, rows = width - margin, height - 2
    if columns < 10 or rows < 3:
        return []
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    ordered = sorted(dots, key=lambda dot: dot.passes)
    marks = [(dot, _MEETS if dot.passes else _MISSED) for dot in ordered]
    marks += [(best, _BEST)] if best is not None and best.x > 0 else []
    for dot, mark in marks:
        across = (math.log(dot.x) - left) / ((right - left) or 1.0)
        column = min(max(round(across * (columns - 1)), 0), columns - 1)
        row = min(max(round((1 - dot.y / top) * (rows - 1)), 0), rows - 1)
        cells[row, column] = mark
    lines = [Text(titles[1], style="dim")]
    for row in range(rows):
        label = number_text(top) if row == 0 else "0" if row == rows - 1 else ""
        line = Text.assemble((f"{label:>{margin - 2}} │", "dim"))
        for column in range(columns):
            text, style = cells.get((row, column), (" ", ""))
            line.append(text, style=style)
        lines.append(line)
    ends = [number_text(math.exp(left)), number_text(math.exp(right))]
    between = columns - cell_len(ends[0]) - cell_len(ends[1])
    middle = titles[0].center(between) if between >= len(titles[0]) else " " * max(between, 1)
    lines.append(Text(f"{' ' * margin}{ends[0]}{middle}{ends[1]}", style="dim"))
    return lines
