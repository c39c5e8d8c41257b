# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint verify`, `stats` and `merge`: checkpoints as files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from model_analyzer.cli.checkpoint.options import (
    checkpoint_argument,
    directory_options,
    json_option,
    path_option,
    prefix_option,
)
from model_analyzer.cli.echo import echo
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError, wrong

_PATH = click.Path(path_type=Path)
_NO_NODE = "this machine"


@click.command()
@click.argument("paths", nargs=-1, type=_PATH, metavar="[FILE|DIRECTORY]...")
@directory_options
@json_option
def verify(paths: Sequence[Path], directory: Path, prefix: str, as_json: bool) -> int:
    """Check that checkpoint files are intact.

    For a damaged file, it shows what is lost. Without a FILE, it checks all checkpoints and
    journals of the directory. The exit status is 1 if a file is damaged.

    \b
    Example:
      model-analyzer checkpoint verify -s start/checkpoints
    """
    from model_analyzer.state.format.layout import Layout
    from model_analyzer.state.verify import files_of
    from model_analyzer.state.verify import verify as verdict_of

    files: list[Path] = []
    for path in paths or (directory,):
        if os.path.isdir(path) or not paths:
            inside = files_of(Layout(path, prefix))
            if not inside:
                raise CheckpointError(f"{path}: no checkpoints found: give -s DIRECTORY")
            files += inside
        else:
            files.append(path)
    verdicts = [verdict_of(path) for path in files]
    if as_json:
        documents = [
            {
                "path": str(verdict.path),
                "bytes": verdict.size,
                "outcomes": verdict.outcomes,
                "intact": not verdict.damage,
                "damage": verdict.damage,
                "lost": verdict.loss,
            }
            for verdict in verdicts
        ]
        echo(json.dumps(documents, indent=1))
    else:
        for verdict in verdicts:
            state = (
                f"damaged: {verdict.damage}; lost: {verdict.loss}" if verdict.damage else "intact"
            )
            echo(f"{verdict.path}: {state} ({counted(verdict.outcomes, 'outcome')} can be read)")
    return EXIT_RUN_FAILED if any(verdict.damage for verdict in verdicts) else EXIT_OK


@click.command()
@checkpoint_argument
@directory_options
@json_option
def stats(which: str, directory: Path, prefix: str, as_json: bool) -> None:
    """Show the size of a checkpoint, its loading time and the share of each node.

    \b
    Example:
      model-analyzer checkpoint stats 3
    """
    from model_analyzer.cli.checkpoint.output import found, pairs_table, print_table
    from model_analyzer.reports.tables import Table

    begin = time.perf_counter()
    checkpoint = found(which, directory, prefix)
    loaded = time.perf_counter()
    lines = [len(line) for line in checkpoint.lines()]
    written = time.perf_counter()
    size, outcomes = sum(lines), len(checkpoint.records)
    nodes = checkpoint.records.shares()
    total = sum(share.bytes for share in nodes.values())
    dominant = next(
        (name for name, share in nodes.items() if share.bytes * 2 > total and len(nodes) > 1), None
    )
    if as_json:
        document = {
            "path": str(checkpoint.path),
            "bytes": size,
            "entries": len(lines),
            "bytes_per_entry": size / len(lines),
            "outcomes": outcomes,
            "load_s": loaded - begin,
            "serialise_s": written - loaded,
            "nodes": {name: asdict(share) for name, share in nodes.items()},
            "dominant_node": dominant,
        }
        echo(json.dumps(document, indent=1))
        return
    pairs = {
        "Bytes": f"{size:,}",
        "Entries": f"{len(lines):,}",
        "Bytes per entry": f"{size / len(lines):.0f}",
        "Outcomes": f"{outcomes:,}",
        "Time measured": f"{sum(share.seconds for share in nodes.values()):,.1f} s",
        "Time to load": f"{(loaded - begin) * 1000:.1f} ms",
        "Time to serialise": f"{(written - loaded) * 1000:.1f} ms",
    }
    print_table(str(checkpoint.path), pairs_table(pairs))
    if set(nodes) == {""}:
        return  # no cluster
    rows = tuple(
        (
            name or _NO_NODE,
            share.outcomes,
            round(share.seconds, 1),
            share.bytes,
            share.bytes / total * 100,
        )
        for name, share in nodes.items()
    )
    headers = ("Node", "Outcomes", "Measured (s)", "Bytes", "Share (%)")
    print_table("Nodes", Table(headers=headers, rows=rows))
    if dominant is not None:
        echo(f"Most of the time was measured on {dominant or _NO_NODE}.")


@click.command()
@click.argument("sources", nargs=-1, required=True, type=_PATH, metavar="A B...")
@path_option(
    "--output-dir", required=True, metavar="DIR", help="Directory for the merged checkpoint."
)
@prefix_option
def merge(sources: Sequence[Path], output_dir: Path, prefix: str) -> None:
    """Merge checkpoints of several runs on the same hardware.

    A and B are checkpoint directories or files. The result is the next numbered checkpoint of
    DIR; nothing else is changed.

    \b
    Example:
      model-analyzer checkpoint merge monday/checkpoints tuesday/checkpoints --output-dir both
    """
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.state.checkpoint import load_existing, read_file
    from model_analyzer.state.merge import merge as merged_from
    from model_analyzer.state.profile_state import ProfileState

    if len(sources) < 2:
        raise wrong("A B", "give at least two checkpoints to merge")
    checkpoints = [
        load_existing(path, prefix) if os.path.isdir(path) else read_file(path) for path in sources
    ]
    for checkpoint in checkpoints:
        for sentence in checkpoint.damage:
            warn(f"{sentence}: using the intact part")
    merged = merged_from(checkpoints)
    with ProfileState(output_dir, prefix=prefix) as state:
        state.start_from(merged.checkpoint)
        path = state.newest
    echo(f"wrote {path} with {counted(len(merged.checkpoint.records), 'outcome')}")
    if merged.conflicts:
        echo(
            f"{counted(merged.conflicts, 'trial')} had two outcomes: kept the measurement if the"
            " other is a failure, otherwise the newer one"
        )
    if merged.renamed:
        echo(
            f"renamed {counted(merged.renamed, 'variant')}, because each name must mean one"
            " configuration"
        )
