# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the size of a checkpoint, its loading time and the share of each node."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model_analyzer.reports.tables import Table, pairs_table
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import find
from model_analyzer.state.records import Share

_NO_NODE = "this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePart:
    """The share of a node, the trials that were `lost` there, and whether all its outcomes are in
    the checkpoint.
    """

    share: Share
    lost: int
    is_complete: bool

    def document(self) -> Mapping[str, Any]:
        """Everything, for programs."""
        return {**asdict(self.share), "lost": self.lost, "complete": self.is_complete}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStatistics:
    """Sizes in bytes, times in seconds. The node "" is the machine of the run itself."""

    path: Path | None
    damage_warnings: Sequence[str]
    size: int
    entries: int
    outcomes: int
    load_s: float
    serialise_s: float
    nodes: Mapping[str, NodePart]

    @property
    def dominant(self) -> str | None:
        """The node that wrote more than half, if there are several."""
        half = sum(part.share.bytes for part in self.nodes.values()) / 2
        largest = (name for name, part in self.nodes.items() if part.share.bytes > half)
        return next(largest, None) if len(self.nodes) > 1 else None

    @property
    def remark(self) -> str:
        """Which node dominates, or ""."""
        if self.dominant is None:
            return ""
        return f"Most of the time was measured on {self.dominant or _NO_NODE}."

    def document(self) -> Mapping[str, Any]:
        """Everything, for programs."""
        return {
            "path": str(self.path),
            "bytes": self.size,
            "entries": self.entries,
            "bytes_per_entry": self.size / self.entries,
            "outcomes": self.outcomes,
            "load_s": self.load_s,
            "serialise_s": self.serialise_s,
            "nodes": {name: part.document() for name, part in self.nodes.items()},
            "dominant_node": self.dominant,
        }

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Everything, for people."""
        seconds = sum(part.share.seconds for part in self.nodes.values())
        pairs = {
            "Bytes": f"{self.size:,}",
            "Entries": f"{self.entries:,}",
            "Bytes per entry": f"{self.size / self.entries:.0f}",
            "Outcomes": f"{self.outcomes:,}",
            "Time measured": f"{seconds:,.1f} s",
            "Time to load": f"{self.load_s * 1000:.1f} ms",
            "Time to serialise": f"{self.serialise_s * 1000:.1f} ms",
        }
        yield str(self.path), pairs_table(pairs)
        if set(self.nodes) != {""}:  # there is a cluster
            yield "Nodes", self._node_table()

    def _node_table(self) -> Table:
        total = sum(part.share.bytes for part in self.nodes.values())
        rows = tuple(
            (
                name or _NO_NODE,
                part.share.outcomes,
                part.share.failures,
                part.lost,
                round(part.share.seconds, 1),
                part.share.bytes,
                part.share.bytes / (total or 1) * 100,
                "yes" if part.is_complete else "NO",
            )
            for name, part in self.nodes.items()
        )
        counts = ("Outcomes", "Failed", "Lost")
        headers = ("Node", *counts, "Measured (s)", "Bytes", "Share (%)", "Complete")
        return Table(headers=headers, rows=rows)


def measure(
    which: str, directory: Path, prefix: str = "", clock: Callable[[], float] = time.perf_counter
) -> CheckpointStatistics:
    """Loads a checkpoint and serialises it again. Raises CheckpointError as `find` does."""
    begin = clock()
    checkpoint = find(which, directory, prefix)
    loaded = clock()
    lines = [len(line) for line in checkpoint.lines()]
    serialised = clock()
    return CheckpointStatistics(
        path=checkpoint.path,
        damage_warnings=checkpoint.damage_warnings,
        size=sum(lines),
        entries=len(lines),
        outcomes=len(checkpoint.records),
        load_s=loaded - begin,
        serialise_s=serialised - loaded,
        nodes=_nodes(checkpoint),
    )


def _nodes(checkpoint: Checkpoint) -> Mapping[str, NodePart]:
    shares, lost, missing = checkpoint.records.shares(), checkpoint.header.lost, checkpoint.missing
    return {
        node: NodePart(
            share=shares.get(node, Share()),
            lost=lost.get(node, 0),
            is_complete=node not in missing,
        )
        for node in sorted({*shares, *lost, *missing})
    }
