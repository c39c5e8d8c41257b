#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) does not
# count the requests of a decoupled model that end without a response: the final flag alone. The
# server counts them, and perf_analyzer sends and exports them, but its throughput lacks them.
#
# Seen: a model that responds to every second request: perf_analyzer counts half of the requests
# that it exports (within two, which the edges of the windows explain).
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.8 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet 'numpy==1.26.4'
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0 tritonclient==2.51.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$triton/python_backend_stubs/$version/triton_python_backend_stub" "$triton/backends/python/"
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver" "$triton/backends/python/triton_python_backend_stub" \
    "$work/rt/bin/perf_analyzer"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
export PATH=$work/env/bin:$PATH

mkdir -p "$work/models/half/1"
cat > "$work/models/half/config.pbtxt" <<'CONFIG'
name: "half"
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
model_transaction_policy { decoupled: true }
CONFIG
cat > "$work/models/half/1/model.py" <<'MODEL'
import time
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.count = 0

    def execute(self, requests):
        for request in requests:
            time.sleep(0.01)
            self.count += 1
            sender = request.get_response_sender()
            if self.count % 2:
                sender.send(pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]))
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
MODEL

read -r http grpc metrics < <(python3 - <<'PORTS'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PORTS
)
"$triton/bin/tritonserver" --model-repository "$work/models" \
    --backend-directory "$triton/backends" --disable-auto-complete-config \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

cd "$work"
timeout 60 "$work/rt/bin/perf_analyzer" -m half -u "127.0.0.1:$grpc" -i grpc --streaming --async \
    --concurrency-range 1 --measurement-mode time_windows -p 500 -s 999 -r 3 -v \
    -f table.csv --profile-export-file export.json > output.txt
python3 - <<'CHECK'
import json, re, sys

text = open("output.txt").read()
counted = int(re.findall(r"Request count: (\d+)", text)[-1])
experiment = json.load(open("export.json"))["experiments"][0]
bounds = experiment["window_boundaries"]
ended = [request["response_timestamps"][-1] for request in experiment["requests"]]
exported = sum(bounds[-4] <= end <= bounds[-1] for end in ended)
print(f"exported {exported} requests, counted {counted}")
if abs(exported / 2 - counted) > 2:
    sys.exit("changed: perf_analyzer counted about half of the requests in 2.51.0")
CHECK
