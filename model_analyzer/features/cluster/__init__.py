# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring on the nodes of a Ray cluster. A slot is a place for one server and one load generator.

* slot_places.py: on which nodes the slots go, and what they reserve there (pure)
* child_environment.py: the environment of the programs of a slot (pure)
* slot_worker.py: what runs in the process of a slot: prepare, run trials, end; what ends it when
  its node has died, and the lock by which one driver at a time measures on a host
* ray_slots.py: slot workers as Ray actors, and questions to nodes; the only file that imports Ray
* cluster_bench.py: the bench of a run whose slots are on a cluster, and these slots for the
  executor of the core: `profile --executor ray`
* slot_bench.py: the bench on a node, built from what the driver sends
* check.py, node_comparison.py: `cluster check`
* manifest.py, run_objects.py: `cluster manifest`
"""
