# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The short sentences beside a headline: what one must know before one deploys the answer, and what
it is based on. The remarks have the details.
"""

from __future__ import annotations

from collections.abc import Iterator

from model_analyzer.domain.conclusions import StopReason
from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.numbers import a_chance, number_text, percent_text
from model_analyzer.domain.proofs import Verdict
from model_analyzer.domain.words import counted
from model_analyzer.noise.lag import sent_late
from model_analyzer.noise.response_cache import HIT_RATE
from model_analyzer.reports.remarks import too_few_requests, unreached_rates
from model_analyzer.results.answer import Answer, continuing, is_low
from model_analyzer.results.ranking import VariantResult

# The most serious ones are named; the remarks have all.
_MOST = 2
# Below this chance that something meets the constraints, continuing is no advice.
_HOPELESS = 0.05


def is_unsure(answer: Answer, *, complete: bool) -> bool:
    """Whether the answer may be wrong; `complete` means that the search finished."""
    return answer.is_unsure or is_unfinished(answer, complete=complete)


def caution_text(answer: Answer, *, complete: bool) -> str:
    """The most serious reasons not to rely on the answer, or only on some of its values; "" if
    there are none.
    """
    best = answer.best
    if best is None:
        return ""
    reasons = [*_doubts(answer, best, complete=complete), *_limits_of_use(answer, best)]
    if not reasons:
        return ""
    start = "Not certain" if is_unsure(answer, complete=complete) else "Note"
    return f"{start}: {'; '.join(reasons[:_MOST])}."


def evidence_text(answer: Answer) -> str:
    """The number of measurements, those that are left out, and the chance that something better was
    not tried; if that is too high, what continues the search.
    """
    ranking, conclusion = answer.ranking, answer.conclusion
    if answer.best is None:
        return ""
    count = (
        f"{counted(ranking.measurements, 'measurement')} across"
        f" {counted(len(ranking.results), 'configuration')}"
    )
    left_out = sum(part.measurements for part in ranking.left_out)
    if left_out:
        count += f", {left_out:,} left out"
    if conclusion is None or conclusion.reason is StopReason.EVERYTHING:
        return f"{count}."
    if is_low(conclusion) or (not conclusion.feasible and conclusion.chance >= _HOPELESS):
        return f"{count}{continuing(conclusion)}."
    better = f"one more than {100 * conclusion.margin:.0f} % better was not tried"
    if not conclusion.feasible:
        better = "one that meets the constraints was not tried"
    return f"{count}; {a_chance(conclusion.chance)} that {better}."


def proven_texts(answer: Answer) -> Iterator[str]:
    """The verdicts on the recommendation: a line for what failed, passed and was not checked."""
    for verdict, start in zip(Verdict, ("Proven", "Failed", "Not checked"), strict=True):
        texts = [proof.sentence for proof in answer.proofs if proof.verdict is verdict]
        if texts:
            yield f"{start}: {'; '.join(texts)}."


def _doubts(answer: Answer, best: VariantResult, *, complete: bool) -> Iterator[str]:
    """Why the answer may be wrong, most serious first."""
    compliance, conclusion = answer.compliance, answer.conclusion
    if best.best.measurement.doubts:
        yield "its values contradict each other"
    unchecked = answer.ranking.goal.unchecked(best.best.measurement)
    if unchecked:
        yield f"{METRICS[unchecked[0]].name} has a constraint but was not measured"
    if best.passes and compliance is not None and compliance.is_doubtful:
        times = len(compliance.measurements)
        if compliance.times_met < times:
            yield f"it met the constraints in {compliance.times_met} of {times} measurements"
        else:
            yield f"{a_chance(compliance.chance)} that it meets the constraints"
    if conclusion is not None and conclusion.doubt:
        noise = percent_text(conclusion.noise_percent)
        yield f"this machine is too noisy to tell it from another (± {noise})"
    elif conclusion is not None and is_low(conclusion):
        other = "better one" if conclusion.feasible else "configuration that meets them"
        yield f"{a_chance(conclusion.chance)} that a {other} was not tried"
    if is_unfinished(answer, complete=complete):
        yield "the search is not complete"


def _limits_of_use(answer: Answer, best: VariantResult) -> Iterator[str]:
    """Under which conditions the values hold, or which of them do not."""
    measurement = best.best.measurement
    if answer.ranking.unmeasured:
        names = " and ".join(METRICS[tag].name for tag in answer.ranking.unmeasured)
        yield f"ranked without {names}, which was not measured"
    rate = measurement.value(HIT_RATE)
    if rate:
        yield f"{number_text(rate)} % of the requests were answered from the response cache"
    if any(True for _ in unreached_rates(best.best)):
        yield "the request rate was not reached"
    requests = too_few_requests(best)
    if requests is not None:
        yield f"p99 is from only {counted(requests, 'request')}"
    kinds = {notice.kind for notice in measurement.notices}
    if sent_late(measurement) and NoticeKind.CLIENT_LAGGED in kinds:
        yield "its requests were sent late"


def is_unfinished(answer: Answer, *, complete: bool) -> bool:
    """Whether no search has concluded what the answer is."""
    return answer.conclusion is None and (answer.ranking.is_unfinished or not complete)
