# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measures configurations of models: job → bench → search → state → answers and files."""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.progress.events import Phase
from model_analyzer.app.run.caller import Caller, followed
from model_analyzer.domain.settings import ProofSettings
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, Interrupted, ModelAnalyzerError
from model_analyzer.reports.renderer import Renderer

if TYPE_CHECKING:
    from model_analyzer.app.run.measuring import Session

# The feature behind `--verify` and `--endurance`, imported when a run asks for it.
_PROOFS = "model_analyzer.features.proof.verification"


def profile(job: Job, caller: Caller) -> int:
    """Profiles all models and writes the results; the exit status."""
    return followed(job, caller, _profile)


def _profile(job: Job, caller: Caller) -> int:
    interrupts = caller.interrupts
    with ExitStack() as stack:
        with interrupts.interruptible():
            charts = _begin_charts(job, stack)
            from model_analyzer.app.run.beginning import begin

            beginning = begin(job, stack)
            # while the server starts
            from model_analyzer.app.run.measuring import make_ready, measure

            session = make_ready(beginning, caller, stack)
            charts.rest()
        try:
            error, is_proven = None, True
            try:
                is_complete = measure(session, caller)
                is_proven = not is_complete or _prove(session, caller)
            except Interrupted:
                raise
            except ModelAnalyzerError as raised:
                # report the measurements that were taken before the error
                error, is_complete = raised, False
            session.state.save()
            caller.tracker.phase(Phase.REPORTS)
            server = session.bench.serving.server
            with interrupts.interruptible():
                server.begin_stop()
                from model_analyzer.app.run.ending import answers_of, write

                answers = answers_of(session, is_complete=is_complete)
                caller.audience.show(answers)
                delivery = write(answers, session, charts)
                caller.audience.deliver(delivery)
                for answer, sentence in answers.sentences:
                    caller.tracker.answered(answer, sentence, delivery.paths)
                server.stop()
            is_cut_short = interrupts.requested  # later interrupts only end the wait for uploads
        except Interrupted:
            session.state.save()
            return EXIT_RUN_FAILED
    if error is not None:
        raise error
    is_success = answers.is_success(job.settings.export) and is_proven and not is_cut_short
    return EXIT_OK if is_success else EXIT_RUN_FAILED


def _prove(session: Session, caller: Caller) -> bool:
    """Proves what the user asks for about the recommendations; False if a proof failed."""
    if session.job.settings.proofs == ProofSettings():
        return True
    return bool(import_module(_PROOFS).prove_run(session, caller))


def _begin_charts(job: Job, stack: ExitStack) -> Renderer:
    """What draws charts at the end. It starts now, while a core has nothing to do."""
    charts = stack.enter_context(Renderer())
    if not job.settings.export.skip_summary:
        charts.begin()
    return charts
