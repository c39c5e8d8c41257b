# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Start time of the command line, compared with upstream, in pairs.

python benchmarks/command_line.py --upstream /tmp/upstream
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import parser, show, timed, upstream_command

CASES = (["--version"], ["--help"], ["profile", "--help"])


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.set_defaults(n=11)
    given = options.parse_args()
    upstream = upstream_command(given.upstream)
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        for case in CASES:
            times: dict[Path, list[float]] = {given.ours: [], upstream: []}
            for pair in range(given.n + 1):
                for tool, taken in times.items():
                    took = timed([str(tool), *case], cwd=here, log=here / "output.txt")
                    if pair:  # the first one warms the file cache
                        taken.append(took)
            show(" ".join(case), times[given.ours], times[upstream])
        bare = [
            timed([sys.executable, "-c", "import click"], cwd=here, log=here / "o")
            for _ in range(7)
        ]
        print(f"for orientation: a bare `import click` takes {sorted(bare)[3]:.3f} s")
    packages = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format=freeze"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    print(f"packages in this environment: {len(packages.stdout.splitlines())}")


if __name__ == "__main__":
    main()
