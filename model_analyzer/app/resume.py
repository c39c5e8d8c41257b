# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From what a run goes on: the newest checkpoint, another one, or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from model_analyzer.app.ports import Questions
from model_analyzer.domain.differences import Difference, secret_differences
from model_analyzer.domain.settings import CheckpointSettings, OnMismatch
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError, ModelAnalyzerError
from model_analyzer.state.checkpoint import Checkpoint, load_existing, read_file
from model_analyzer.state.find import find
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.mismatch import Run, differences
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores.opening import open_store
from model_analyzer.state.stores.upload import Uploads
from model_analyzer.state.verify import files_of

log = logging.getLogger(__name__)


def open_state(
    settings: CheckpointSettings,
    work: Path,
    stack: ExitStack,
    *,
    ask: Questions,
    impatience: Callable[[], Callable[[], bool]],
) -> ProfileState:
    """The state that a run goes on from; it is closed with the `stack`.

    Where no checkpoint is kept, it lives in the `work` directory. For `impatience` see `Uploads`.
    """
    if settings.disabled:
        log.info("No checkpoint is read or written.")
        state_log = logging.getLogger(ProfileState.__module__)
        stack.callback(state_log.setLevel, state_log.level)
        state_log.setLevel(logging.WARNING)
        return stack.enter_context(
            ProfileState(work / "checkpoints", retry_failed=settings.retry_failed)
        )
    base = _starting_point(settings)
    if settings.fresh and not settings.assume_yes:
        _confirm_removal(Layout(settings.directory, settings.prefix), ask)
    on_save = None
    if settings.storage is not None:
        store = open_store(settings.storage, settings.prefix)
        on_save = stack.enter_context(Uploads(store, impatience=impatience)).add
    state = stack.enter_context(
        ProfileState(
            settings.directory,
            prefix=settings.prefix,
            retry_failed=settings.retry_failed,
            save_every=settings.every,
            fresh=settings.fresh,
            on_save=on_save,
            announces=False,
        )
    )
    is_elsewhere = settings.resume_from is None  # and stays there however far we have got
    if base is None or (is_elsewhere and state.descends_from(base)):
        state.announce()
    else:
        state.start_from(base)
    return state


def settle_differences(
    state: ProfileState, run: Run, settings: CheckpointSettings, ask: Questions
) -> None:
    """Says what is different from the checkpoint; where measurements of then mean something else,
    does what `on_mismatch` says.
    """
    found = differences(state.checkpoint, run)
    serious = [difference for difference in found if difference.matters]
    for difference in found:
        if not difference.matters:
            log.info("Different from the checkpoint: %s", difference)
    if len(found) > len(serious):
        log.info("Measurements of the checkpoint are used where they still apply.")
    if not serious:
        if state.newest is not None and run.devices is not None:
            log.info("GPU devices match checkpoint")
        return
    source = settings.load_file or settings.load_directory or settings.directory
    text = _mismatch(source, serious)
    match _decision(text, settings.on_mismatch, ask):
        case OnMismatch.USE:
            log.warning("%s: its measurements are used", text)
        case OnMismatch.FRESH:
            log.warning("%s: starting fresh; earlier checkpoints are kept", text)
            state.start_from(Checkpoint())
        case _:
            raise CheckpointError(
                f"{text}; choose another --checkpoint-directory, or give --on-mismatch use or"
                " --on-mismatch fresh"
            )


def tell_changed_secrets(state: ProfileState, setups: Mapping[str, ServerSetup]) -> None:
    """Names the secrets of the server's variables that are others than when these models were
    measured last. Their measurements are used all the same.
    """
    latest = {
        work.variant.model: record.trial.setup
        for record in state.checkpoint.records
        for work in record.trial.workloads
    }
    found = (
        difference
        for model, setup in setups.items()
        if model in latest
        for difference in secret_differences(latest[model], setup)
    )
    for difference in dict.fromkeys(found):
        log.info("Different from the checkpoint: %s (its measurements are used)", difference)


def _starting_point(settings: CheckpointSettings) -> Checkpoint | None:
    """What to go on from, where it is not the newest in the checkpoint directory."""
    if settings.load_file is not None:
        return read_file(settings.load_file)
    directory = settings.load_directory or settings.directory
    if settings.resume_from is not None:
        return find(settings.resume_from, directory, settings.prefix)
    if settings.load_directory is not None:
        return load_existing(settings.load_directory, settings.prefix)
    return None


def _confirm_removal(layout: Layout, ask: Questions) -> None:
    count = sum(path.stat().st_size > 0 for path in files_of(layout))
    if not count:
        return
    which = f" that begin with {layout.prefix}-" if layout.prefix else ""
    question = f"Remove {counted(count, 'file')} with measurements{which} from {layout.directory}?"
    if not ask.confirm(question):
        raise ModelAnalyzerError("stopped: nothing was removed")


def _mismatch(source: Path, serious: list[Difference]) -> str:
    has_gpus = any(difference.what == "GPUs" for difference in serious)
    problem = (
        "GPU devices do not match checkpoint"
        if has_gpus
        else "The machine does not match the checkpoint"
    )
    details = "; ".join(
        f"{'' if difference.what == 'GPUs' else 'a '}different {difference}"
        for difference in serious
    )
    return f"{problem}: {source} was measured on {details}"


def _decision(text: str, wanted: OnMismatch, ask: Questions) -> OnMismatch:
    if wanted is not OnMismatch.ASK:
        return wanted
    answer = ask.choose(
        f"{text}.\nUse its measurements, start fresh (they are kept), or stop?",
        choices=("use", "fresh", "stop"),
        default="stop",
    )
    return OnMismatch(answer) if answer in ("use", "fresh") else OnMismatch.ERROR
