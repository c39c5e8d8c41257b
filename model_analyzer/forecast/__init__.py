# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run will still cost: for the dry run, and for the time left. Pure."""
