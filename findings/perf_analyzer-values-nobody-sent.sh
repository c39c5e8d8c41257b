#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) exports a
# value that no model sent: for the final flag of a decoupled model, which comes without tensors, the
# profile export has a last response with one number, read from memory that belongs to something else.
# It is another one in every run. If the output is a float and the memory holds no number, JSON cannot
# have it: then the export is an empty file, and the exit status is 0.
#
# Seen: a model that sends one response with the value 1 and then the flag: [[1.0], <random>] for each
# request, with other last values in the second run. (That the file is empty was seen in 2 of 70 runs
# of a similar model, and is not repeated here: it is chance.)
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

mkdir -p "$work/models/flag/1"
cat > "$work/models/flag/config.pbtxt" <<'CONFIG'
name: "flag"
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
model_transaction_policy { decoupled: true }
CONFIG
cat > "$work/models/flag/1/model.py" <<'MODEL'
import time
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            time.sleep(0.02)
            sender = request.get_response_sender()
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
for run in 1 2; do
    timeout 60 "$work/rt/bin/perf_analyzer" -m flag -u "127.0.0.1:$grpc" -i grpc --streaming \
        --async --concurrency-range 1 --request-count 20 \
        --profile-export-file "export$run.json" > output.txt
done
python3 - <<'CHECK'
import json, sys

last = []
for run in (1, 2):
    experiment = json.load(open(f"export{run}.json"))["experiments"][0]
    responses = [request["response_outputs"] for request in experiment["requests"]]
    print(f"run {run}:", responses[0])
    if any(len(each) != 2 or each[0]["Y"] not in ([1.0], 1.0) for each in responses):
        sys.exit("changed: in 2.51.0, each request has its response and one more")
    last.append({json.dumps(each[1]["Y"]) for each in responses})
if last[0] & last[1] or "1.0" in last[0] | last[1]:
    sys.exit("changed: in 2.51.0, the last values were other ones in each run")
CHECK
