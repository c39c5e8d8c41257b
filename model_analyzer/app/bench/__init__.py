# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run is assembled in five stages, each a frozen value that the next one takes:

    job → devices → models → workplace → serving → bench

The dry run stops after the models. Nothing is written before the workplace, and no server for
measurements starts before `serving`.
"""
