# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster with several nodes on this machine: `python nodes.py COUNT`.

It prints its address. For each line of its standard input, it adds a node, and then prints an empty
line. It ends with its standard input. The label `number` of the head is 0.
"""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

from ray.cluster_utils import Cluster


def main(count: int) -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 -- Ray's own name
    numbers = itertools.count()
    cluster = Cluster(
        initialize_head=True, head_node_args={**node(next(numbers)), "include_dashboard": False}
    )
    for _ in range(count - 1):
        cluster.add_node(**node(next(numbers)))
    print(cluster.address, flush=True)
    for _ in sys.stdin:
        cluster.add_node(**node(next(numbers)))
        print(flush=True)
    cluster.shutdown()


def node(number: int) -> dict[str, Any]:
    return {
        "num_cpus": 2,
        "num_gpus": 0,
        "object_store_memory": 80 * 2**20,
        "labels": {"number": str(number)},
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
