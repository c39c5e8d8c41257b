# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Makes `python -m model_analyzer` the same as the command `model-analyzer`."""

from model_analyzer.cli.main import main

if __name__ == "__main__":
    main()
