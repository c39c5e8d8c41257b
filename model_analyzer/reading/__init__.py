# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads files that anybody may have made: regular ones only, up to a limit, streams, logs."""
