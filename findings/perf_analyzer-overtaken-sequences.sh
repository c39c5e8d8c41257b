#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) ends a run
# over a model with a sequence batcher by closing the sequences that have begun: it sends their last
# request early. With asynchronous requests, which it chooses for such models, that last request can
# overtake one of the same sequence that is still on its way. The server ends the sequence, refuses
# the late one, and perf_analyzer prints the error after its report, with status 0 or 99.
# So a run without a fault of server or model may fail, and the last sequences are always too short.
#
# Guess before: requests of one sequence are sent one after the other, to the end of the run.
#
# Seen: sequences of 8, three at a time, 60 requests, a model that answers at once: in about a
# quarter of the runs "must specify the START flag on the first request of the sequence". In each
# run, the last sequences have 4 or 5 requests. The same was seen with --request-rate-range, with
# --serial-sequences, which promises one request at a time, and over gRPC. With --sync, no such
# error in ten runs.
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

mkdir -p "$work/models/sum/1"
cat > "$work/models/sum/config.pbtxt" <<'CONFIG'
name: "sum"
backend: "python"
max_batch_size: 4
input [ { name: "X" data_type: TYPE_INT32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
sequence_batching { direct { } }
instance_group [ { kind: KIND_CPU count: 2 } ]
CONFIG
cat > "$work/models/sum/1/model.py" <<'MODEL'
import os
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.log = open(os.environ["SEQUENCE_LOG"], "a", buffering=1)

    def execute(self, requests):
        for request in requests:
            if request.correlation_id():  # else an empty slot of the batch
                print(request.correlation_id(), request.flags(), file=self.log)
        answer = pb.Tensor("Y", np.ones((1, 1), np.float32))
        return [pb.InferenceResponse([answer]) for _ in requests]
MODEL
export SEQUENCE_LOG=$work/sequences.txt

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
refused=0
for run in $(seq 40); do
    : > "$SEQUENCE_LOG"
    status=0
    timeout 60 "$work/rt/bin/perf_analyzer" -m sum -u "127.0.0.1:$http" --sequence-length 8 \
        --sequence-length-variation 0 --concurrency-range 3 --request-count 60 \
        > output.txt 2>&1 || status=$?
    python3 - "$SEQUENCE_LOG" <<'CHECK'
import sys
from collections import Counter

lengths = Counter(line.split()[0] for line in open(sys.argv[1]))
short = sorted(length for length in lengths.values() if length < 8)
if not short or max(lengths.values()) > 8:
    sys.exit(f"changed: in 2.51.0, the last sequences were short, these are {lengths}")
CHECK
    if grep -q "must specify the START flag" output.txt; then
        refused=$((refused + 1))
        echo "run $run: status $status: $(grep -m 1 'START flag' output.txt)"
        [ "$refused" -lt 2 ] || break
    fi
done
echo "$refused of $run runs had a request that came after the last one of its sequence"
if [ "$refused" = 0 ]; then
    echo "changed: in 2.51.0, that was about every fourth run" >&2
    exit 1
fi
