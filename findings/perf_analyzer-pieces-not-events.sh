#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0) with --service-kind openai does not read the events of a
# stream: each piece of bytes that it receives is exported as a response. A comment, as servers and
# proxies send one to keep a connection open (": ping"), is the first response, long before the first
# token; two events that are sent together are one response; an event that comes in two parts is two.
# So times to the first token and between tokens have to be computed from the joined texts.
#
# Guess before: a response is an event with data.
#
# Seen: streams of four tokens and [DONE]: 5 responses if each event is sent alone, 6 with a comment
# before them, 3 with two tokens in each piece, 9 with each token in two pieces.
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.9 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0 tritonclient==2.51.0
libs=$work/rt/nvidia_pytriton.libs
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$work/rt/bin/perf_analyzer"

cat > "$work/server.py" <<'SERVER'
import http.server
import json
import sys
import time

def event(word):
    return "data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": word}}]})

ONE, TWO, THREE, FOUR = map(event, ("one ", "two ", "three ", "four "))
END = "data: [DONE]\n\n"
PIECES = {
    "alone": (ONE, TWO, THREE, FOUR, END),
    "comment": (": ping\n\n", ONE, TWO, THREE, FOUR, END),
    "together": (ONE + TWO, THREE + FOUR, END),
    "parts": (*(part for each in (ONE, TWO, THREE, FOUR) for part in (each[:9], each[9:])), END),
}

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in PIECES[self.path.strip("/")]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece.encode()))
            self.wfile.flush()
            time.sleep(0.05)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass

with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    with open(sys.argv[1], "w") as file:
        print(server.server_port, file=file)
    server.serve_forever()
SERVER
python3 "$work/server.py" "$work/port" &
server=$!
until [ -s "$work/port" ]; do sleep 0.1; done
port=$(cat "$work/port")
cat > "$work/input.json" <<'INPUT'
{"data": [{"payload": [{"model": "m", "stream": true,
                        "messages": [{"role": "user", "content": "count"}]}]}]}
INPUT

export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
check() {
    rm -f "$work/export.json"
    timeout 60 "$work/rt/bin/perf_analyzer" -m m --service-kind openai --endpoint "$1" \
        -u "127.0.0.1:$port" --async --input-data "$work/input.json" --request-count 5 \
        --profile-export-file "$work/export.json" > "$work/output" 2>&1 ||
        { cat "$work/output"; exit 1; }
    found=$(python3 - "$work/export.json" <<'COUNT'
import json
import sys
from collections import Counter
(experiment,) = json.load(open(sys.argv[1]))["experiments"]
counts = Counter(len(each["response_timestamps"]) for each in experiment["requests"])
print(counts.most_common(1)[0][0])
COUNT
)
    echo "$1: $found responses to a request"
    [ "$found" = "$2" ] || { echo "changed: expected $2" >&2; exit 1; }
}
check alone 5
check comment 6
check together 3
check parts 9
