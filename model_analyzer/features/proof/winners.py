# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Proves the recommendations of a run, or that of a checkpoint, and stores the proofs."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.ending import rankings_of
from model_analyzer.app.run.extra import Extra, in_session
from model_analyzer.app.run.measuring import Session
from model_analyzer.domain.loads import trial_words
from model_analyzer.domain.proofs import Proof, ProofKind, Verdict, prove
from model_analyzer.errors import ServerError
from model_analyzer.features.proof.facts.promise import judged
from model_analyzer.features.proof.verification import checked
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.runner.host import whole_seconds
from model_analyzer.search.plan import Subject, by_name

log = logging.getLogger(__name__)


def prove_run(session: Session, caller: Caller) -> bool:
    """Proves what the settings ask for, about the recommendation of each subject on the hardware of
    this machine. Returns whether no proof failed. The server of the run has ended then, if a plain
    one was needed.
    """
    rankings = [
        ranking
        for placed in by_name(session.bench.subjects)
        for ranking in rankings_of(placed, session.priced)
    ]
    proofs = _prove(session, caller, rankings)
    return all(proof.verdict is not Verdict.FAILED for proof in proofs)


def prove_known(job: Job, ranking: Ranking, option: str, caller: Caller) -> int:
    """Proves what the settings of the `job` ask for, about the recommendation of a `ranking` of the
    checkpoint; the exit status. Raises ConfigError or CheckpointError if the model cannot be
    measured as before.
    """
    extra = Extra(
        model=ranking.model,
        goal=ranking.goal,
        conditions=None if ranking.group is None else ranking.group.number,
        option=option,
        purpose="proof",
        usual_trials=1,
    )

    def act(session: Session, caller: Caller) -> None:
        rankings = (
            extra.ranking(session.state, subject, job.settings)
            for subject in session.bench.subjects
        )
        _prove(session, caller, [ranking for ranking in rankings if ranking is not None])

    return in_session(extra.job(job, lambda settings: settings), extra, act, caller, job)


def _prove(session: Session, caller: Caller, rankings: Sequence[Ranking]) -> Sequence[Proof]:
    subjects = {(each.name, each.setup.kind): each for each in session.bench.subjects}
    settings = session.job.settings.proofs
    known = [
        (answer, subjects[key])
        for ranking in rankings
        if (key := (ranking.model, ranking.kind)) in subjects
        and (answer := answer_of(ranking)).best is not None
    ]
    made = []
    if settings.verify is not None and known:
        session.bench.serving.server.stop()
        for answer, subject in known:
            if caller.interrupts.requested:
                break
            log.info("Verifying %s", trial_words(answer.ranking.results[0].best.trial))
            made.append(_verified(answer, subject, session, caller))
            session.state.record_proof(made[-1])
    return made


def _verified(answer: Answer, subject: Subject, session: Session, caller: Caller) -> Proof:
    """The proof that the recommendation performs as promised where it is deployed. Raises
    ServerError if there is no server at the URL.
    """
    trial, url = answer.ranking.results[0].best.trial, session.job.settings.proofs.verify
    try:
        check = checked(answer, subject, session, caller)
    except ServerError as error:
        if url:
            raise
        reason = " ".join(str(error).split())
        sentence = f"a plain server with the written files does not start: {reason}"
        now = whole_seconds()
        return prove(ProofKind.DEPLOYED, trial, Verdict.FAILED, sentence, {}, at=now)
    verdict, sentence, numbers = judged(answer, check, url or "")
    at = check.outcome.started
    return prove(ProofKind.DEPLOYED, trial, verdict, sentence, numbers, at=at)
