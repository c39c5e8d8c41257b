#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) loads a Python model whose sequence batcher wants the
# correlation ID as text (control CORRID with data_type TYPE_STRING), and answers every request to it
# with an error: "unexpected number of string elements 2 for inference input 'CORRID', expecting 1".
# It makes no difference whether the client sends a number or text, whether the model batches, or
# whether the strategy is direct or oldest. The same model with TYPE_UINT64 answers.
#
# Guess before: the ID arrives as one string, and a number as its digits.
#
# Seen: 0 of 6 requests answered with TYPE_STRING, 3 of 3 with TYPE_UINT64.
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.9 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet 'numpy==1.26.4' 'tritonclient[grpc]==2.51.0'
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" nvidia-pytriton==0.7.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$triton/python_backend_stubs/$version/triton_python_backend_stub" "$triton/backends/python/"
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver" "$triton/backends/python/triton_python_backend_stub"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
export PATH=$work/env/bin:$PATH

for type in STRING UINT64; do
mkdir -p "$work/models/$type/1"
cat > "$work/models/$type/config.pbtxt" <<CONFIG
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
sequence_batching {
  control_input [ { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_$type } ] } ]
}
CONFIG
cat > "$work/models/$type/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
MODEL
done

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

answers=$("$work/env/bin/python" - <<CLIENT
import numpy as np
import tritonclient.grpc as triton

client = triton.InferenceServerClient("127.0.0.1:$grpc")
value = triton.InferInput("X", [1], "FP32")
value.set_data_from_numpy(np.ones(1, "float32"))

def answered(model, sequence):
    count = 0
    for start, end in ((True, False), (False, False), (False, True)):
        try:
            client.infer(
                model, [value], sequence_id=sequence, sequence_start=start, sequence_end=end
            )
            count += 1
        except triton.InferenceServerException as error:
            errors.add(error.message())
    return count

errors = set()
print(answered("STRING", 7) + answered("STRING", "seven"), answered("UINT64", 7), *errors)
CLIENT
)
echo "answered with TYPE_STRING (of 6), with TYPE_UINT64 (of 3), errors: $answers"
[[ $answers == "0 3 "*"unexpected number of string elements 2 for inference input 'CORRID'"* ]] ||
    { echo "changed: in 2.51.0, these are 0 and 3, with one error" >&2; exit 1; }
