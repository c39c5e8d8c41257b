# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Assembles a run in five stages. Each is a frozen value and the input of the next one:

    job → devices → models → workplace → serving → bench

The dry run stops after `models`. Files are first written in `workplace`, and the server for the
measurements starts in `serving`.
"""
