# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the finalists of a search give the outputs of the default configuration; and the answers
of one configuration: each request alone, then many of them mixed; and the verdict on them, by
those of the default configuration.

After a search, the default configuration and the best one are loaded again and asked the same. If
the answers differ, that configuration has failed, and the next best is checked. Then those that tie
with the best, while all of it takes no more than a twentieth of the time that was measured.

Mixed means many requests under way at once, so that the batcher puts them together and instances
work side by side, and requests with several rows, so that rows share a batch for certain. What is
mixed is compared at once with what is alone: only differences are kept.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from model_analyzer.app.progress.events import Phase
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.ending import rankings_of
from model_analyzer.app.run.measuring import Session
from model_analyzer.domain.models import ModelVariant, VariantNames, fingerprint
from model_analyzer.domain.profiles import Proof, ProofKind, Verdict, prove
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.domain.words import counted, first_few, number_text
from model_analyzer.errors import ServerError
from model_analyzer.features.proof.answers import Answer as ModelAnswer
from model_analyzer.features.proof.answers import Deviation, differences
from model_analyzer.features.proof.asking import (
    Asking,
    InputSet,
    Place,
    Unanswerable,
    Unanswered,
    client_of,
    input_set_for,
)
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.runner.client.grpc import GrpcClient
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.search.plan import Subject

_FEWEST = 8  # requests, however slow they are
_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 60
_MOST_ROWS = 16
_SEED = 7


@dataclass(frozen=True, slots=True)
class Found:
    """A difference in the answer to the step of a sequence."""

    place: Place
    difference: Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What a configuration answers. `alone` are the answers to the steps of each sequence; `again`
    and `mixed` are differences from these, when it was asked the same again, and with others.
    """

    alone: Sequence[Sequence[ModelAnswer]]
    again: Sequence[Found] = ()
    mixed: Sequence[Found] = ()


@dataclass(slots=True)
class Observer:
    """Asks configurations of a model the same. `tolerance` and `ignored` are those of the user.
    `clock` is in seconds.
    """

    inputs: InputSet
    tolerance: float | None
    ignored: Collection[str]
    clock: Callable[[], float]
    count: int = 0  # of sequences that are asked: all until the first configuration was slow
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(_SEED))

    def alone(self, asking: Asking, until: float) -> Sequence[Sequence[ModelAnswer]]:
        """The answers to each sequence alone. The first time, only those count for which there is
        time until then. Raises Unanswered.
        """
        numbers = range(self.count or len(self.inputs.sequences))
        answers: list[Sequence[ModelAnswer]] = []
        for number in numbers:
            if not self.count and len(answers) >= _FEWEST and self.clock() > until:
                break
            answers.append(asking.alone(number))
        self.count = len(answers)
        return answers

    def again(self, asking: Asking, alone: Sequence[Sequence[ModelAnswer]]) -> Sequence[Found]:
        """What differs when each sequence is asked alone once more, in another order."""
        found: list[Found] = []
        for number in self._random.permutation(self.count).tolist():
            steps = enumerate(asking.alone(number))
            found += self._compared(alone, (((number, step), answer) for step, answer in steps))
        return found

    def mixed(
        self,
        asking: Asking,
        alone: Sequence[Sequence[ModelAnswer]],
        size: int,
        rows: int,
        until: float,
    ) -> Sequence[Found]:
        """What differs when `size` sequences are under way at once, and with up to so many `rows`
        in a request. It goes on until then.
        """
        repeated = [place % self.count for place in range(max(size, self.count))]
        found: list[Found] = []
        for number in range(_MOST_ROUNDS):
            if number >= _FEWEST_ROUNDS and self.clock() > until:
                break
            answers = [*asking.at_once(self._random.permutation(repeated).tolist())]
            if rows > 1:
                answers += asking.in_batches([*self._batches(min(rows, _MOST_ROWS))])
            # a full queue may refuse requests, which says nothing about outputs
            found += self._compared(alone, (each for each in answers if isinstance(each[1], dict)))
        return found

    def differing(
        self, reference: Sequence[Sequence[ModelAnswer]], alone: Sequence[Sequence[ModelAnswer]]
    ) -> Sequence[Found]:
        """The differences between the answers of two configurations, or of one at two times."""
        answers = (
            ((number, step), answer)
            for number, steps in enumerate(alone)
            for step, answer in enumerate(steps)
        )
        return self._compared(reference, answers)

    def _compared(
        self,
        reference: Sequence[Sequence[ModelAnswer]],
        answers: Iterable[tuple[Place, ModelAnswer]],
    ) -> Sequence[Found]:
        return [
            Found((number, step), difference)
            for (number, step), answer in answers
            for difference in differences(
                reference[number][step], answer, self.tolerance, self.ignored
            )
        ]

    def _batches(self, rows: int) -> Iterable[Sequence[int]]:
        """Requests of equal shapes together, in random order and sizes."""
        shapes: dict[object, list[int]] = {}
        for number, (step, *_) in enumerate(self.inputs.sequences[: self.count]):
            shapes.setdefault(tuple((name, a.shape) for name, a in step.items()), []).append(number)
        for numbers in shapes.values():
            left = self._random.permutation(numbers).tolist()
            while left:
                size = int(self._random.integers(1, rows, endpoint=True))
                yield left[:size]
                left = left[size:]


def outputs_of(found: Iterable[Found]) -> Mapping[str, Sequence[Found]]:
    """The differences of each output, by its name."""
    by_output: dict[str, list[Found]] = {}
    for each in found:
        by_output.setdefault(each.difference.output, []).append(each)
    return by_output


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict in words, and the number of answers that differ."""

    verdict: Verdict
    sentence: str
    wrong: int = 0


def unstable_outputs(default: Replies) -> Collection[str]:
    """The outputs that differ between equal requests, one at a time: they are random, or tell the
    time. They are not judged.
    """
    return outputs_of(default.again).keys()


DEFAULT = "the default configuration"


def judge_default(default: Replies, scope: str) -> Ruling:
    """Whether mixing changes the answers of the default configuration itself."""
    unstable = unstable_outputs(default)
    for output, found in _judged(default.mixed, unstable).items():
        what = f"mixing requests changes {_named(output)} of {DEFAULT} itself"
        return Ruling(
            verdict=Verdict.FAILED, sentence=f"{what}: {_described(found)}", wrong=len(found)
        )
    return _passed("its outputs do not change when requests are mixed", default, unstable, scope)


def judge(
    default: Replies,
    variant: Replies,
    alone: Sequence[Found],
    unstable: Collection[str],
    scope: str,
    reference: str = DEFAULT,
) -> Ruling:
    """Whether a configuration gives the outputs of the default, or of another `reference`. `alone`
    are the differences of their answers to single requests. What mixing changes in the default is
    not judged mixed.
    """
    changing = _judged(default.mixed, unstable)
    for output, found in _judged(alone, unstable).items():
        how = f"differs from that of {reference}, for single requests already"
        sentence = f"{_named(output)} {how}: {_described(found)}"
        return Ruling(verdict=Verdict.FAILED, sentence=sentence, wrong=len(found))
    for output, found in _judged(variant.mixed, {*unstable, *changing}).items():
        how = f"differs from that of {reference}, only when requests are mixed"
        sentence = f"{_named(output)} {how}: {_described(found)}"
        return Ruling(verdict=Verdict.FAILED, sentence=sentence, wrong=len(found))
    text = f"its outputs are those of {reference}"
    if changing:
        text += f" (mixed, {first_few([*changing])} not judged: mixing changes {reference} itself)"
    return _passed(text, default, unstable, scope, reference)


def _judged(found: Sequence[Found], without: Collection[str]) -> Mapping[str, Sequence[Found]]:
    return {name: each for name, each in outputs_of(found).items() if name not in without}


def _passed(
    text: str,
    default: Replies,
    unstable: Collection[str],
    scope: str,
    reference: str = DEFAULT,
) -> Ruling:
    names = {*_names(default.alone)}
    if names and names <= {*unstable}:
        what = f"{first_few(sorted(unstable))} of {reference}"
        reason = f"{what} differs between equal requests, and there is nothing else to compare"
        return Ruling(verdict=Verdict.UNKNOWN, sentence=reason)
    if unstable:
        text += f"; not judged: {first_few(sorted(unstable))}, different for equal requests"
    return Ruling(verdict=Verdict.PASSED, sentence=f"{text} ({scope})")


def _names(alone: Sequence[Sequence[ModelAnswer]]) -> Iterator[str]:
    for steps in alone:
        for answer in steps:
            if not isinstance(answer, str):
                yield from answer


def _named(output: str) -> str:
    return f"output {output}" if output else "the answer"


def _described(found: Sequence[Found]) -> str:
    """The largest difference, and how many there are."""
    worst = max(found, key=lambda each: each.difference.size)
    number, step = worst.place
    steps = f", step {step + 1}" if any(each.place[1] for each in found) else ""
    more = f" ({counted(len(found), 'answer')} differ)" if len(found) > 1 else ""
    return f"for input {number + 1}{steps} it {worst.difference.what}{more}"


log = logging.getLogger(__name__)

# What the check may take of the time that was measured, unless the user asks for it.
_SHARE = 0.05
# Shorter runs are tries: nothing is said about their outputs.
_LEAST_RUN_S = 10.0
_INPUTS = 16
# About what asking takes, besides loading: at least, and in latencies of one request.
_ASKING_S, _REQUESTS = 1.0, 32
_MIXING_S = 1.0
_PATIENCE_S = 60.0  # for one answer
_MOST_AT_ONCE = 64
_MOST_VARIANTS = 6
_MOST_TIES = 2

_CONDITIONS = "conditions"

_NO_TIME = (
    "its outputs, which would take about {} s, more than a twentieth of this run (--outputs on"
    " checks them)"
)
_ONE_SERVER = "its outputs: that needs one server, not several or one inside perf_analyzer"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The user's option `outputs`; with `check` None, it is done if it takes little time."""

    check: bool | None = None
    tolerance: float | None = None
    ignore: tuple[str, ...] = ()
    inputs: int = _INPUTS

    def conditions_of(self, trial: Trial) -> float:
        """A number that changes with what is asked and tolerated."""
        conditions = [work.client_setup for work in trial.workloads]
        meaning = [self.tolerance, sorted(self.ignore), self.inputs, conditions]
        return float(int(fingerprint(meaning)[:8], 16))


def check_outputs(session: Session, placed: Sequence[Subject], caller: Caller) -> None:
    """Proves the outputs of the best configurations of a subject, and records the verdicts."""
    options = OutputOptions(**session.job.settings.outputs)
    server = session.bench.serving.server
    for subject in placed:
        ranking = _ranking(session, placed, subject)
        if ranking is None:
            continue
        spent_s = sum(run.duration_s for item in ranking.measured for run in item.runs)
        if spent_s < _LEAST_RUN_S and not options.check:
            continue
        if not isinstance(server, TritonServer):
            best = ranking.results[0].best.trial
            session.state.record_proof(_unknown(best, _ONE_SERVER, options))
            continue
        loaded = _newest(ranking).content
        check = OutputCheck(server, subject, options, _SHARE * spent_s, loaded)
        with caller.interrupts.interruptible():
            _check_finalists(check, ranking, session, placed, caller)


def _ranking(session: Session, placed: Sequence[Subject], subject: Subject) -> Ranking | None:
    """The ranking on the hardware of a subject; None without measurements."""
    rankings = rankings_of(placed, session.priced)
    kind = subject.setup.kind
    return next((each for each in rankings if each.results and each.kind == kind), None)


def _check_finalists(
    check: OutputCheck,
    ranking: Ranking,
    session: Session,
    placed: Sequence[Subject],
    caller: Caller,
) -> None:
    """Checks the best until one is not wrong, then those that tie with it if there is time."""
    state = session.state
    for _ in range(_MOST_VARIANTS):
        best, *ties = _finalists(answer_of(ranking))
        missing = [
            trial
            for trial in (best, *ties[:_MOST_TIES])
            if not any(check.is_valid(proof, trial) for proof in ranking.proofs)
        ]
        if not missing or caller.interrupts.requested:
            return
        trial = missing[0]
        is_asked = trial is best and bool(check.options.check)
        if not is_asked and not check.has_time_for(ranking, trial):
            if trial is best:
                seconds = number_text(check.cost_s(ranking, trial))
                state.record_proof(_unknown(trial, _NO_TIME.format(seconds), check.options))
            return
        caller.tracker.phase(Phase.CHECKING_OUTPUTS)
        proof = check.prove(trial)
        state.record_proof(proof)
        (log.warning if proof.verdict is Verdict.FAILED else log.info)(
            "Outputs of %s: %s", trial.variants, proof.sentence
        )
        if proof.verdict is Verdict.UNKNOWN:
            return
        again = _ranking(session, placed, check.subject)
        if again is None:
            return
        ranking = again


def _finalists(answer: Answer) -> Sequence[Trial]:
    """The recommendation, and what cannot be told from it, each configuration once."""
    assert answer.best is not None, "there are measurements"
    items = [answer.best.best, *answer.ranking.ties, *(each.item for each in answer.undecided)]
    trials: dict[str, Trial] = {}
    for item in items:
        trials.setdefault(item.trial.content, item.trial)
    return [*trials.values()]


def _unknown(trial: Trial, reason: str, options: OutputOptions) -> Proof:
    numbers = {_CONDITIONS: options.conditions_of(trial)}
    return prove(ProofKind.OUTPUTS, trial, Verdict.UNKNOWN, reason, numbers, at=time.time())


@dataclass(slots=True)
class OutputCheck:
    """The check of one subject within `budget_s`; the default configuration is asked once. `loaded`
    is the content of what the server has loaded, as far as is known. Sentences call what it
    compares with the `reference`.
    """

    server: TritonServer
    subject: Subject
    options: OutputOptions
    budget_s: float
    loaded: str = ""
    reference: str = DEFAULT
    _spent_s: float = 0.0
    _observers: dict[str, Observer] = field(default_factory=dict)
    _defaults: dict[str, Replies] = field(default_factory=dict)  # by model
    _at_once: int = 0
    _largest_batch: int = 0

    def is_valid(self, proof: Proof, trial: Trial) -> bool:
        """Whether a proof is about this trial, and need not be made again."""
        return (
            proof.kind is ProofKind.OUTPUTS
            and proof.verdict is not Verdict.UNKNOWN
            and proof.is_about(trial)
            and proof.numbers.get(_CONDITIONS) == self.options.conditions_of(trial)
        )

    def default_of(self, trial: Trial) -> Trial:
        """The trial with the default configurations of its models."""
        facts = {model.facts.name: model.facts for model in self.subject.models}
        workloads = (
            replace(work, variant=VariantNames().default(facts[work.variant.model]))
            for work in trial.workloads
        )
        return replace(trial, workloads=tuple(workloads))

    def cost_s(self, ranking: Ranking, trial: Trial) -> float:
        """About the time that it takes to load and to ask, by the loads that were measured."""
        default = self.default_of(trial).content
        missing = {trial.content, *(() if self._defaults else (default,))}
        missing -= {self.loaded}
        loads = {
            result.best.trial.content: max(run.loading_s for run in item.runs)
            for result in ranking.results
            for item in result.measured
        }
        latencies = filter(
            None, (item.measurement.value("perf_latency_avg") for item in ranking.measured)
        )
        asking_s = _ASKING_S + _REQUESTS * min(latencies, default=0.0) / 1000
        return sum(loads.get(content, 0.0) for content in missing) + asking_s

    def has_time_for(self, ranking: Ranking, trial: Trial) -> bool:
        return self._spent_s + self.cost_s(ranking, trial) <= self.budget_s

    def prove(self, trial: Trial) -> Proof:
        """The verdict on the outputs of a trial's variants."""
        begin = time.monotonic()
        ruling = self._tried(trial) or self._tried(trial, is_last=True)
        assert ruling is not None, "the last try has a verdict"
        seconds = time.monotonic() - begin
        self._spent_s += seconds
        numbers = {
            "inputs": sum(observer.count for observer in self._observers.values()),
            "at_once": self._at_once,
            "largest_batch": self._largest_batch,
            "wrong_answers": ruling.wrong,
            "seconds": round(seconds, 3),
            _CONDITIONS: self.options.conditions_of(trial),
        }
        verdict, sentence = ruling.verdict, ruling.sentence
        return prove(ProofKind.OUTPUTS, trial, verdict, sentence, numbers, at=time.time())

    def of_two_servers(
        self, server: TritonServer, trial: Trial, other: Trial, turn: Callable[[TritonServer], None]
    ) -> Ruling:
        """The verdict on the outputs of the `other` trial on another server, by those of the trial
        on this one. `turn` is called before a server is asked. What the first one answers otherwise
        after it was started again is not judged.
        """
        other_check = replace(self, server=server)  # asks the same: it shares the observers
        try:
            turn(self.server)
            self._defaults |= self._observe(trial, is_default=True)
            turn(server)
            replies = other_check._observe(other, is_default=False)
            unstable = {name: {*unstable_outputs(each)} for name, each in self._defaults.items()}
            ruling = other_check._compared(replies, unstable)
            if ruling.verdict is Verdict.FAILED:
                turn(self.server)
                self.server.stop()
                for name, found in self._reloaded(trial).items():
                    unstable[name] |= {*outputs_of(found)}
                ruling = other_check._compared(replies, unstable)
        except (Unanswerable, Unanswered, ServerError) as error:
            return Ruling(verdict=Verdict.UNKNOWN, sentence=f"its outputs: {error}")
        return ruling

    def _tried(self, trial: Trial, *, is_last: bool = False) -> Ruling | None:
        """The verdict; None if the server did not answer, which may be chance the first time."""
        try:
            return self._judged(trial)
        except (Unanswerable, Unanswered, ServerError) as error:
            self.server.discard()  # its state is unknown
            self.loaded = ""
            if isinstance(error, Unanswered) and not is_last:
                return None
            return Ruling(verdict=Verdict.UNKNOWN, sentence=f"its outputs: {error}")

    def _judged(self, trial: Trial) -> Ruling:
        """The worst verdict on the trial's models. Raises what says why there is none."""
        default = self.default_of(trial)
        variant: Mapping[str, Replies] = {}
        if trial.content == self.loaded and trial.content != default.content:
            variant = self._observe(trial, is_default=False)  # saves a load
        if not self._defaults:
            self._defaults |= self._observe(default, is_default=True)
        if trial.content == default.content:
            return _worst(
                judge_default(replies, self._scope) for replies in self._defaults.values()
            )
        variant = variant or self._observe(trial, is_default=False)
        unstable = {name: {*unstable_outputs(each)} for name, each in self._defaults.items()}
        ruling = self._compared(variant, unstable)
        if ruling.verdict is Verdict.FAILED:
            # what differs after a reload of the default, too, depends on the load, as a process id
            self._load(trial)
            for name, found in self._reloaded(default).items():
                unstable[name] |= {*outputs_of(found)}
            ruling = self._compared(variant, unstable)
        return ruling

    def _compared(
        self, variant: Mapping[str, Replies], unstable: Mapping[str, Collection[str]]
    ) -> Ruling:
        return _worst(
            judge(
                self._defaults[name],
                replies,
                self._observers[name].differing(self._defaults[name].alone, replies.alone),
                unstable[name],
                self._scope,
                self.reference,
            )
            for name, replies in variant.items()
        )

    @property
    def _scope(self) -> str:
        count = sum(observer.count for observer in self._observers.values())
        batches = f", in batches of up to {self._largest_batch}" if self._largest_batch > 1 else ""
        return f"{counted(count, 'input')}, alone and {self._at_once} at once{batches}"

    def _load(self, trial: Trial) -> None:
        failure = self.server.serve([work.variant for work in trial.workloads], trial.setup)
        if failure is not None:
            raise Unanswerable(failure.message)
        self.loaded = trial.content

    def _reloaded(self, default: Trial) -> Mapping[str, Sequence[Found]]:
        """What the default configuration answers otherwise after it was loaded again, by model."""
        self._load(default)
        found = {}
        for work in default.workloads:
            name, observer = work.variant.model, self._observer(work)
            with client_of(self.server, work, default) as client:
                asking = Asking(client, observer.inputs, _PATIENCE_S)
                alone = self._defaults[name].alone
                found[name] = observer.differing(alone, observer.alone(asking, time.monotonic()))
        return found

    def _observe(self, trial: Trial, *, is_default: bool) -> dict[str, Replies]:
        """What each model of a trial answers, by its name."""
        self._load(trial)
        share_s = max((self.budget_s - self._spent_s) / 4, _MIXING_S)
        replies = {}
        for work in trial.workloads:
            observer = self._observer(work)
            with client_of(self.server, work, trial) as client:
                asking = Asking(client, observer.inputs, _PATIENCE_S)
                alone = observer.alone(asking, time.monotonic() + share_s)
                again = observer.again(asking, alone) if is_default else ()
                if is_default and (reason := _refusal(alone)):
                    raise Unanswerable(f"{self.reference} refuses the inputs: {reason}")
                before = _batches(client, work.variant)
                at_once = min(work.variant.filling_concurrency(gpus=trial.gpus), _MOST_AT_ONCE)
                until = time.monotonic() + min(share_s, _MIXING_S)
                mixed = observer.mixed(asking, alone, at_once, work.variant.max_batch_size, until)
                grown = _batches(client, work.variant) - before
            self._at_once = max(self._at_once, at_once, observer.count)
            self._largest_batch = max([self._largest_batch, *(size for _, size in grown)])
            replies[work.variant.model] = Replies(alone=alone, again=again, mixed=mixed)
        return replies

    def _observer(self, work: Workload) -> Observer:
        name = work.variant.model
        if name not in self._observers:
            self._observers[name] = Observer(
                inputs=input_set_for(work, self.options.inputs),
                tolerance=self.options.tolerance,
                ignored=self.options.ignore,
                clock=time.monotonic,
            )
        return self._observers[name]


def _newest(ranking: Ranking) -> Trial:
    """What was measured last: it is still loaded."""
    items = ((run.started, item) for item in ranking.measured for run in item.runs)
    return max(items, key=lambda pair: pair[0])[1].trial


def _worst(rulings: Iterable[Ruling]) -> Ruling:
    order = (Verdict.FAILED, Verdict.UNKNOWN, Verdict.PASSED)
    return min(rulings, key=lambda ruling: order.index(ruling.verdict))


def _refusal(alone: Sequence[Sequence[ModelAnswer]]) -> str:
    """Why all requests were refused; "" if one was answered."""
    answers = [answer for steps in alone for answer in steps]
    refusals = [answer for answer in answers if isinstance(answer, str)]
    return refusals[0] if len(refusals) == len(answers) else ""


def _batches(client: GrpcClient, variant: ModelVariant) -> Counter[tuple[str, int]]:
    """How many executions of each batch size there were, by model."""
    counts: Counter[tuple[str, int]] = Counter()
    for part in variant.served:
        for batch in client.statistics(part.model).batches:
            counts[part.model, batch.size] += batch.count
    return counts
