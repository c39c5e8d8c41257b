# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`capacity`: how many replicas serve a rate, from measurements, or measured now."""
