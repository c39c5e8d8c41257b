# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the container in launch mode docker."""

from __future__ import annotations

import re
from collections.abc import Mapping

from model_analyzer.config.fragments import Schema, text, whole
from model_analyzer.config.kinds import Boolean, Fields, Integer, Kind, ListOf, Text
from model_analyzer.config.nodes import Node

_TEXTS = (
    "cgroup_parent", "cgroupns", "cpuset_cpus", "cpuset_mems", "domainname", "entrypoint",
    "hostname", "init_path", "ipc_mode", "isolation", "kernel_memory", "mac_address",
    "mem_limit", "mem_reservation", "memswap_limit", "name", "network", "network_mode",
    "pid_mode", "platform", "runtime", "shm_size", "stop_signal", "user", "userns_mode",
    "uts_mode", "version", "volume_driver", "working_dir", "image", "command",
)  # fmt: skip
_SWITCHES = (
    "auto_remove", "detach", "init", "network_disabled", "oom_kill_disable", "privileged",
    "publish_all_ports", "remove", "stdin_open", "stdout", "stderr", "stream", "tty",
    "use_config_proxy",
)  # fmt: skip
_NUMBERS = (
    "blkio_weight", "cpu_count", "cpu_percent", "cpu_period", "cpu_quota", "cpu_rt_period",
    "cpu_shares", "nano_cpus", "oom_score_adj", "pids_limit",
)  # fmt: skip
_LISTS = ("blkio_weight_device", "cap_add", "cap_drop", "environment", "labels", "volumes")

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_TEXTS, Text()),
    **dict.fromkeys(_SWITCHES, Boolean()),
    **dict.fromkeys(_NUMBERS, Integer()),
    **dict.fromkeys(_LISTS, ListOf(Text(), "TEXTS", whole_items=True)),
}

DOCKER_ARGUMENTS = Fields("arguments of a container", _KINDS)


class Mount:
    """HOST:CONTAINER:MODE, with mode ro or rw."""

    metavar = "HOST:CONTAINER:MODE"
    pattern = r"[^:,\s][^:,]*:[^:,\s][^:,]*:r[ow]"

    def parse(self, node: Node) -> str:
        written = Text().parse(node).strip()
        if not re.search(whole(self.pattern), written):
            raise node.problem(
                f"expected HOST:CONTAINER:ro or HOST:CONTAINER:rw, found {written!r}"
            )
        return written

    def schema(self) -> Schema:
        return text(self.pattern)
