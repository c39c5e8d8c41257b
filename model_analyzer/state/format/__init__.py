# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpoint format: lines, their entries, what an entry may hold, and names of files."""
