# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor` looks at, a file for each subject.

A check reads, which touches the world, and judges, which does not: tests give the judges readings
of machines that nobody has at hand.
"""
