# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer cluster`: what a run on several machines needs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from model_analyzer.cli.echo import echo, echo_data
from model_analyzer.cli.shared_options import path_option
from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.table import DOCTOR
from model_analyzer.domain.words import counted, printable
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED
from model_analyzer.features.cluster.node_comparison import NodeComparison, Row
from model_analyzer.features.doctor.findings import Level, verdict

_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")
_EXECUTOR = "executor"

_INDENT = " " * 11


@click.group("cluster", context_settings={"help_option_names": ["-h", "--help"]})
def cluster() -> None:
    """Prepare runs on several machines: check a Ray cluster, print manifests for Kubernetes."""


@cluster.command()
@click.option(
    "--kind",
    type=click.Choice(["job", "rayjob", "helm-values"]),
    required=True,
    help="One pod (job), several with KubeRay (rayjob), or values for the Helm chart.",
)
@path_option(
    "-f",
    "--config-file",
    "config_file",
    metavar="FILE",
    required=True,
    help="YAML file of the run. It becomes a ConfigMap.",
)
@click.option("--name", metavar="NAME", help="Name of the objects. Default: from FILE.")
@click.option("--image", metavar="IMAGE", help="Container image with model-analyzer and Triton.")
def manifest(kind: str, config_file: Path, name: str | None, image: str | None) -> int:
    """Print what Kubernetes needs to run profile.

    Comments at the top say what to fill in, and they are repeated on standard error. Nothing is
    sent to a cluster. A pod that dies is started again, and resumes from the checkpoints on its
    claim. The options of the run come from FILE only.

    \b
    Examples:
      model-analyzer cluster manifest --kind rayjob -f my.yaml > run.yaml
      model-analyzer cluster manifest --kind job -f my.yaml --image IMAGE | kubectl apply -f -
      model-analyzer cluster manifest --kind helm-values -f my.yaml > values.yaml
    """
    from model_analyzer.cli.table_command import warn_about
    from model_analyzer.features.cluster.manifest import cluster_manifest

    made = cluster_manifest(kind, config_file, os.environ, name=name, image=image)
    warn_about(made.remarks)
    echo_data(made.text)
    return EXIT_OK


@table_command(DOCTOR, _JSON)
def check(invocation: Invocation) -> int:
    """Run the doctor on each node that would get a slot, and compare the nodes.

    It takes the options of profile. --executor ray is implied. It starts no server and loads no
    model. Nodes that get no slot are listed with the reason.

    The exit status is 1 if a run could not start.

    \b
    Examples:
      model-analyzer cluster check -f my.yaml
      model-analyzer cluster check --ray-address gpu1:6379 -m models --json
    """
    from model_analyzer.features.cluster.check import check_cluster
    from model_analyzer.features.cluster.node_comparison import document_of
    from model_analyzer.features.doctor.examination import Examination, examine_slot

    where = "cluster check"
    given = [entry for entry in invocation.options.command_line if entry.key != _EXECUTOR]
    options = replace(
        invocation.options, command_line=[*given, Entry(_EXECUTOR, where, Node("ray", where))]
    )
    examination = Examination.of(options, os.environ, invocation.timings, with_models=False)
    comparison = check_cluster(examination.job, examine_slot)
    if invocation.switches["as_json"]:
        echo(json.dumps(document_of(comparison), indent=1))
    else:
        for line in lines_of(comparison, is_quiet=invocation.verbosity < 0):
            echo(line)
    return EXIT_OK if comparison.can_start else EXIT_RUN_FAILED


cluster.add_command(check, "check")


def lines_of(comparison: NodeComparison, *, is_quiet: bool = False) -> Iterator[str]:
    """The table, what the doctor found, and the verdict; only what is not fine if `is_quiet`."""
    nodes = comparison.nodes
    if nodes and not is_quiet:
        slots = sum(node.slots for node in nodes)
        yield f"{counted(slots, 'slot')} on {counted(len(nodes), 'node')}"
    for name, reason in comparison.without:
        yield f"  {'no slot':9}{printable(name)}: {printable(reason)}"
    shown = [row for row in comparison.rows if not (is_quiet and row.level is Level.OK)]
    names = max((len(row.name) for row in shown), default=0)
    values = max((len(value) for row in shown for value in row.values), default=0)
    for row in shown:
        yield from map(printable, _row_lines(row, names, values, len(nodes)))
    for subject, finding, hosts in comparison.findings:
        where = ", ".join(hosts) if len(hosts) < len(nodes) else _all(len(nodes))
        text = f"  {finding.level.value:9}{subject}, {finding.check} ({where}): {finding.found}"
        yield printable(text)
        if finding.fix:
            yield printable(f"{_INDENT}→ {finding.fix}")
    if comparison.problem:
        yield printable(f"  {Level.PROBLEM.value:9}{comparison.problem}")
    levels = [*comparison.levels, *([Level.PROBLEM] if comparison.problem else [])]
    yield verdict(levels, good="A run can start", bad="a run would not start")


def _row_lines(row: Row, names: int, values: int, nodes: int) -> Iterator[str]:
    """A line for each value, the name and level in the first, and what to do."""
    start = f"  {row.level.value:9}{row.name:{names}}"
    for value, having in row.values.items():
        where = ", ".join(having) if len(having) < nodes else _all(nodes)
        yield f"{start}  {value:{values}}  {where}"
        start = " " * len(start)
    if row.fix:
        yield f"{_INDENT}→ {row.fix}"


def _all(nodes: int) -> str:
    return f"all {nodes}" if nodes > 1 else "1 node"
