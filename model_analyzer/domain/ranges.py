# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of numbers: what an option accepts is what a checkpoint stores."""

from __future__ import annotations

# No metric and no option comes near this number, in any unit: so sums, squares and quotients are
# finite.
MOST_NUMBER = 10**15
MOST_INTEGER = 2**63 - 1
# The largest number that fits into a model configuration and into client flags (int32).
MOST_COUNT = 2**31 - 1
# Instances of a model on one device: each needs a thread of the server.
MOST_INSTANCES = 10_000
# More than 11 days, of which every wait of the operating system takes the milliseconds (int32).
MOST_SECONDS = 10**6
# Seconds between readings: with fewer, readings would take all the time of a processor.
LEAST_INTERVAL = 0.001

# Requests per second, of which no perf_analyzer sends a tenth. In 50 seconds, these are as many
# requests as a log may have (`domain.traffic`).
MOST_RATE = 100_000
# Requests per second that all replicas of a model get together: more than any service gets.
MOST_DEMAND = 10**9
