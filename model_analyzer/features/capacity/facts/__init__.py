# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How many requests one server carries, and what follows: replicas, autoscalers, hardware."""
