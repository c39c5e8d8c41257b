# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`mcp`: the commands as tools of an agent, within directories and a budget that a person names.

docs/decisions/0032-agents.md has the reasons.
"""
