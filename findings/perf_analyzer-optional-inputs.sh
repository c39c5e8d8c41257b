#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) does not leave
# out inputs that the model's configuration calls optional: without --input-data, each gets one random
# value, the same in every request of the run; with --input-data zero it gets zeros. A file decides
# otherwise: an input that it does not name is left out.
#
# Seen: an optional INT32 input "n" is 1936311911 in each request, a number of tokens that no stream
# ends with; it is 0 with zero, and absent with a file that has only the other input.
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

mkdir -p "$work/models/options/1"
cat > "$work/models/options/config.pbtxt" <<'CONFIG'
name: "options"
backend: "python"
max_batch_size: 0
input [
  { name: "X" data_type: TYPE_FP32 dims: [ 1 ] },
  { name: "n" data_type: TYPE_INT32 dims: [ 1 ] optional: true }
]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
parameters { key: "log" value: { string_value: "LOG" } }
CONFIG
sed -i "s#LOG#$work/received#" "$work/models/options/config.pbtxt"
cat > "$work/models/options/1/model.py" <<'MODEL'
import json
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.log = json.loads(args["model_config"])["parameters"]["log"]["string_value"]

    def execute(self, requests):
        for request in requests:
            n = pb.get_input_tensor_by_name(request, "n")
            with open(self.log, "a") as log:
                print("absent" if n is None else n.as_numpy()[0], file=log)
        one = np.ones(1, np.float32)
        return [pb.InferenceResponse([pb.Tensor("Y", one)]) for _ in requests]
MODEL
echo '{"data": [{"X": [0.5]}]}' > "$work/only-x.json"

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
received() {
    rm -f received
    timeout 60 "$work/rt/bin/perf_analyzer" -m options -u "127.0.0.1:$grpc" -i grpc \
        --request-count 20 "$@" > output.txt 2>&1 || { cat output.txt; exit 1; }
    sort -u received | paste -sd ' '  # each value that came, once
}
usual=$(received)
zero=$(received --input-data zero)
file=$(received --input-data only-x.json)
echo "without input-data: $usual; zero: $zero; a file without it: $file"
[[ $usual =~ ^[0-9]{6,}$ ]] || { echo "changed: 2.51.0 sent one large random number"; exit 1; }
[ "$zero" = 0 ] || { echo "changed: 2.51.0 sent 0"; exit 1; }
[ "$file" = absent ] || { echo "changed: 2.51.0 left it out"; exit 1; }
