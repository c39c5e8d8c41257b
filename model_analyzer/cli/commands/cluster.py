# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer cluster`: what a run on several machines needs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from model_analyzer.cli.echo import echo_data
from model_analyzer.cli.options import path_option
from model_analyzer.errors import EXIT_OK


@click.group("cluster", context_settings={"help_option_names": ["-h", "--help"]})
def cluster() -> None:
    """Prepare runs on several machines: manifests for Kubernetes."""


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
    from model_analyzer.app.cluster_manifest import cluster_manifest
    from model_analyzer.cli.given import warn_about

    made = cluster_manifest(kind, config_file, os.environ, name=name, image=image)
    warn_about(made.remarks)
    echo_data(made.text)
    return EXIT_OK
