# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of `doctor`, one file for each subject.

A check has two parts: `read_…` inspects the machine, and `judge_…` is pure. So tests can judge
readings of any machine.
"""
