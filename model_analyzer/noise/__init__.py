# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What measurements tell: several as one, their noise, ties, and laws that they must not break."""
