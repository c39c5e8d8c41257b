# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The main loop: it asks a search for trials, measures them on slots, and records outcomes."""
