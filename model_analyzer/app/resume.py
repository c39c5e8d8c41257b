# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the state of a run: resumed from the newest checkpoint or another one, or fresh."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from model_analyzer.app.run.caller import Questions
from model_analyzer.domain.profiles import Difference, secret_differences
from model_analyzer.domain.settings import CheckpointSettings, OnMismatch
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError, ModelAnalyzerError
from model_analyzer.state.checkpoint import Checkpoint, load, load_existing, read_file
from model_analyzer.state.find import files_of, find
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.mismatch import Run, differences
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores import Uploads, open_store

log = logging.getLogger(__name__)


def open_state(
    settings: CheckpointSettings,
    work: Path,
    stack: ExitStack,
    *,
    ask: Questions,
    impatience: Callable[[], Callable[[], bool]],
) -> ProfileState:
    """The state of a run, resumed from a checkpoint if there is one. The `stack` closes it.

    Without checkpoints, it is in the `work` directory. For `impatience` see `Uploads`. Raises
    CheckpointError.
    """
    if settings.disabled:
        log.info("No checkpoint is read or written.")
        state_log = logging.getLogger(ProfileState.__module__)
        stack.callback(state_log.setLevel, state_log.level)
        state_log.setLevel(logging.WARNING)
        return stack.enter_context(
            ProfileState(work / "checkpoints", retry_failed=settings.retry_failed)
        )
    base = _chosen(settings)
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
    # with resume_from the user wants exactly this checkpoint, even if the state has newer ones
    may_be_newer = settings.resume_from is None
    if base is None or (may_be_newer and state.descends_from(base)):
        state.announce()
    else:
        for warning in base.damage_warnings:
            log.warning("%s", warning)
        state.start_from(base)
    return state


def settle_differences(
    state: ProfileState, run: Run, settings: CheckpointSettings, ask: Questions
) -> None:
    """Logs differences from the checkpoint. If they change the meaning of its measurements, does
    what `on_mismatch` says; raises CheckpointError if that is to stop.
    """
    all_differences = differences(state.checkpoint, run)
    serious = [difference for difference in all_differences if difference.matters]
    for difference in all_differences:
        if not difference.matters:
            log.info("Different from the checkpoint: %s", difference)
    if len(all_differences) > len(serious):
        log.info("Measurements of the checkpoint are used where they still apply.")
    if not serious:
        if state.newest is not None and not run.ignores_gpus:
            _log_match(state.checkpoint, run)
        return
    source = settings.load_file or settings.load_directory or settings.directory
    text = _mismatch(source, serious)
    match _decision(text, settings.on_mismatch, ask):
        case OnMismatch.USE:
            log.warning("%s: using its measurements", text)
        case OnMismatch.FRESH:
            log.warning("%s: starting fresh; earlier checkpoints are kept", text)
            state.start_from(Checkpoint())
        case _:
            raise CheckpointError(
                f"{text}; give --on-mismatch use or --on-mismatch fresh, or choose another"
                " --checkpoint-directory"
            )


def _log_match(checkpoint: Checkpoint, run: Run) -> None:
    """Logs that the GPUs match, in words that scripts know, and whether others of their kind are
    used now.
    """
    known = {device.uuid for device in checkpoint.devices}
    others = [
        machine.kind
        for machine in run.machines
        if any(device.uuid not in known for device in machine.devices)
    ]
    kinds = "; ".join(dict.fromkeys(others))
    log.info("GPU devices match checkpoint%s", f" (others of the same kind: {kinds})" * bool(kinds))


def log_changed_secrets(state: ProfileState, setups: Mapping[str, ServerSetup]) -> None:
    """Logs the names of secret server variables whose values have changed since these models were
    last measured. Their measurements are still used.
    """
    latest = {
        work.variant.model: record.trial.setup
        for record in state.checkpoint.records
        for work in record.trial.workloads
    }
    changed = (
        difference
        for model, setup in setups.items()
        if model in latest
        for difference in secret_differences(latest[model], setup)
    )
    for difference in dict.fromkeys(changed):
        log.info("Different from the checkpoint: %s (its measurements are used)", difference)


def starting_point(settings: CheckpointSettings) -> Checkpoint | None:
    """The checkpoint from which a run would resume; None if it would start fresh. Changes nothing.
    Raises CheckpointError.
    """
    if settings.disabled:
        return None
    chosen = _chosen(settings)
    if chosen is not None or settings.fresh:
        return chosen
    newest = load(settings.directory, settings.prefix)
    return None if newest.path is None else newest


def _chosen(settings: CheckpointSettings) -> Checkpoint | None:
    """The checkpoint that the user chose; None means the newest in the checkpoint directory."""
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
    names = f" that begin with {layout.prefix}-" if layout.prefix else ""
    question = f"Remove {counted(count, 'file')} with measurements{names} from {layout.directory}?"
    if not ask.confirm(question):
        raise ModelAnalyzerError("stopped: nothing was removed")


def _mismatch(source: Path, serious: list[Difference]) -> str:
    has_gpus = any(difference.subject == "GPUs" for difference in serious)
    problem = (
        "GPU devices do not match checkpoint"
        if has_gpus
        else "The machine does not match the checkpoint"
    )
    details = "; ".join(
        f"{'' if difference.subject == 'GPUs' else 'a '}different {difference}"
        for difference in serious
    )
    return f"{problem}: {source} was measured on {details}"


def _decision(text: str, on_mismatch: OnMismatch, ask: Questions) -> OnMismatch:
    if on_mismatch is not OnMismatch.ASK:
        return on_mismatch
    answer = ask.choose(
        f"{text}.\nUse its measurements, start fresh (they are kept), or stop?",
        choices=("use", "fresh", "stop"),
        default="stop",
    )
    return OnMismatch(answer) if answer in ("use", "fresh") else OnMismatch.ERROR
