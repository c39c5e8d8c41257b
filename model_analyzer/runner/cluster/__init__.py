# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring on the nodes of a Ray cluster. A slot is a place for one server and one load generator.

slots.py                where slots go: from the nodes and the user's request (pure)
child_environment.py    the environment of the servers and load generators of a slot (pure)
host_lock.py            one driver at a time measures on a host
parent_watch.py         ends the process of a slot when its node has died
slot.py                 what runs in a slot: prepare, run trials, end
ray_slots.py            the same slots as actors; the only file that imports Ray
"""
