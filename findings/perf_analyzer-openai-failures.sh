#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0) with --service-kind openai cannot be asked whether a
# stream failed. A stream that ends with an error event instead of the rest of its answer, as
# servers do when they fail after the headers are sent, counts as a successful request, and the exit
# status is 0. If nothing listens at all, it says "HTTP code 400", as if a server had refused.
#
# Guess before: a stream with an error event is a failed request; a refused connection is called so.
#
# Seen: 5 requests whose streams have an error event: "Request count: 5", status 0.
#       A port where nothing listens: "OpenAI response returns HTTP code 400".
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
import sys
import time

EVENTS = (
    '{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}',
    '{"choices": [{"index": 0, "delta": {"content": "one "}}]}',
    '{"error": {"message": "out of memory", "type": "server_error"}}',
    "[DONE]",
)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in EVENTS:
            piece = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            time.sleep(0.02)
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
free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

cat > "$work/input.json" <<'INPUT'
{"data": [{"payload": [{"model": "m", "stream": true,
                        "messages": [{"role": "user", "content": "count"}]}]}]}
INPUT

export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
measure() {
    status=0
    timeout 60 "$work/rt/bin/perf_analyzer" -m m --service-kind openai \
        --endpoint v1/chat/completions -u "127.0.0.1:$1" --async --input-data "$work/input.json" \
        --request-count 5 > "$work/output" 2>&1 || status=$?
    cat "$work/output"
}
measure "$port"
[ "$status" = 0 ] && grep -q "Request count: 5" "$work/output" ||
    { echo "changed: expected status 0 and 5 requests, found status $status"; exit 1; }
measure "$free"
[ "$status" != 0 ] && grep -q "HTTP code 400" "$work/output" ||
    { echo "changed: expected a failure with \"HTTP code 400\", found status $status"; exit 1; }
