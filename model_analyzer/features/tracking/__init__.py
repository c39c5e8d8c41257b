# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements and recommendations, sent to an experiment tracker."""
