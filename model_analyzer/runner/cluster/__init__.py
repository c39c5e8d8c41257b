# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring on the nodes of a Ray cluster. A slot is a place for one server and one load generator.

* slot_places.py: on which nodes the slots go, and what they reserve there (pure)
* child_environment.py: the environment of the programs of a slot (pure)
* host_lock.py: one driver at a time measures on a host
* parent_watch.py: ends the process of a slot when its node has died
* slot_worker.py: what runs in that process: prepare, run trials, end
* comparison.py: what differs between nodes, before a run (pure)
* ray_slots.py: slot workers as Ray actors, and questions to nodes; the only file that imports Ray
"""
