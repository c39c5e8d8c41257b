# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Overviews of the checkpoints in a directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.measurements import Measurement, best_value
from model_analyzer.state.checkpoint import Checkpoint, assemble
from model_analyzer.state.contents import Content, read_journal, read_listed
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The summary of a numbered checkpoint, or of the outcomes that only journals have (no index).

    `file` is its file name. `best` has the best value of each requested metric, None if it was not
    measured. `missing` is the number of outcomes of each node that are neither in the checkpoint
    nor in the node's journal. `damage` is one line, or "".
    """

    header: Header
    models: tuple[str, ...]
    variants: int
    measurements: int
    failures: int
    best: Mapping[str, float | None]
    missing: Mapping[str, int]
    file: str = ""
    damage: str = ""

    @classmethod
    def of(cls, checkpoint: Checkpoint, metrics: Sequence[str]) -> Overview:
        """Summarizes a checkpoint."""
        models: dict[str, None] = {}
        variants = set()
        measured: list[Measurement] = []
        for record in checkpoint.records:
            for work in record.trial.workloads:
                models[work.variant.model] = None
                variants.add((work.variant.identity, work.variant.name))
            if isinstance(record.outcome, Measurement):
                measured.append(record.outcome)
        return cls(
            header=checkpoint.header,
            models=tuple(models),
            variants=len(variants),
            measurements=len(measured),
            failures=len(checkpoint.records) - len(measured),
            best={tag: best_value(measured, tag) for tag in metrics},
            missing=checkpoint.missing,
            damage="; ".join(checkpoint.damage),
        )

    @property
    def state(self) -> str:
        """`intact`, or a description of the problem."""
        if self.damage:
            return (
                f"damaged: {self.file}: {self.damage}" if self.file else f"damaged: {self.damage}"
            )
        if self.missing:
            parts = ", ".join(f"{count} of {node}" for node, count in self.missing.items())
            return f"incomplete: lacks {parts}"
        return "intact" if self.header.index is not None else "in the journal only"

    @property
    def severity(self) -> int:
        """0 if it is intact; higher if more is wrong."""
        if self.damage or self.missing:
            return 3 if self.damage else 2
        return 0 if self.header.index is not None else 1


def overviews(layout: Layout, metrics: Sequence[str]) -> Iterator[Overview]:
    """Every numbered checkpoint, oldest first, damaged ones included; then the journals, if they
    have outcomes.
    """
    journals = {node: read_journal(layout.journal(node)) for node in ("", *layout.nodes())}
    for path in map(layout.checkpoint, layout.indices()):
        content = read_listed(path)
        checkpoint = assemble([(path, content)])
        late = {
            node: checkpoint.header.nodes[node] - _outcomes(journals.get(node), node)
            for node in checkpoint.missing
        }
        yield replace(
            Overview.of(checkpoint, metrics),
            missing={
                node: min(late[node], count)
                for node, count in checkpoint.missing.items()
                if late[node] > 0
            },
            file=path.name,
            damage=content.damage or "; ".join(checkpoint.damage),
        )
    if any(len(content.records) for content in journals.values()):
        contents = [(str(layout.journal(node)), journal) for node, journal in journals.items()]
        overview = Overview.of(assemble(contents), metrics)
        yield replace(overview, header=replace(overview.header, index=None), missing={})


def _outcomes(journal: Content | None, node: str) -> int:
    return 0 if journal is None else journal.records.nodes.get(node, 0)
