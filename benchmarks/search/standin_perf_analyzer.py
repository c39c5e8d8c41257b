# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A fake perf_analyzer that gets its measurement from the laboratory's server.

It reads -b, -u, -f, --concurrency-range and --request-rate-range with one value, and ignores other
flags. It starts once for each measurement, so it imports very little.
"""

import json
import sys
from http.client import HTTPConnection

# Column of perf_analyzer's table, in microseconds, by the metric that it is in milliseconds.
LATENCIES = {
    "p50 latency": "perf_latency_p50",
    "p90 latency": "perf_latency_p90",
    "p95 latency": "perf_latency_p95",
    "p99 latency": "perf_latency_p99",
    "Avg latency": "perf_latency_avg",
}
PARTS = (
    "Client Send", "Network+Server Send/Recv", "Server Queue", "Server Compute Input",
    "Server Compute Infer", "Server Compute Output", "Client Recv",
)  # fmt: skip


def option(default: str, *names: str) -> str:
    words = sys.argv[1:]
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else words[index + 1]
    return default


def main() -> int:
    if "--version" in sys.argv:
        print("Perf Analyzer Version 2.51.0 (commit laboratory)")
        return 0
    rate = option("", "--request-rate-range")
    load = rate or option("1", "--concurrency-range")
    kind, shown = (
        ("Request Rate", "Request Rate") if rate else ("Concurrency", "Request concurrency")
    )
    connection = HTTPConnection(option("localhost:8000", "-u", "--url"), timeout=30)
    batch = option("1", "-b", "--batch-size")
    connection.request("GET", f"/measure?{load}&{batch}")
    values = json.loads(connection.getresponse().read())["values"]
    if values is None:
        print("Failed to retrieve results from inference request.\nThread [0] had error: refused")
        return 1
    latencies = {column: round(1000 * values[tag]) for column, tag in LATENCIES.items()}
    row = {
        kind: load,
        "Inferences/Second": f"{values['perf_throughput']:.3f}",
        **dict.fromkeys(PARTS, 10),
        **latencies,
        "request/response": 1,
        "response wait": latencies["Avg latency"],
    }
    text = ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"
    path = option("", "-f", "--latency-report-file")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"{shown}: {load}\n    Throughput: {row['Inferences/Second']} infer/sec")
    return 0


if __name__ == "__main__":
    sys.exit(main())
