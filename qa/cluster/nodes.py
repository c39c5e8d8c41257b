# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster with several nodes on this machine: `python nodes.py COUNT`.

It prints its address, and ends with its standard input.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ray.cluster_utils import Cluster

_NODE: dict[str, Any] = {"num_cpus": 2, "num_gpus": 0, "object_store_memory": 80 * 2**20}


def main(count: int) -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 -- Ray's own name
    cluster = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
    for _ in range(count - 1):
        cluster.add_node(**_NODE)
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
