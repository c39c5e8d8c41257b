# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run in three parts: what it begins with, its measurements, its end.

The server of the run starts while the second part is imported, which takes as long.
"""
