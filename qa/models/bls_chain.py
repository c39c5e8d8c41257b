"""A chain written as code: what comes in is scaled, and then added to itself and subtracted.

The models `scale` and `add_sub` must be loaded beside it.
"""

import triton_python_backend_utils as pb


def ask(model, inputs, outputs):
    """The tensors called `outputs` that `model` makes of `inputs`."""
    reply = pb.InferenceRequest(
        model_name=model, inputs=inputs, requested_output_names=outputs
    ).exec()
    if reply.has_error():
        raise pb.TritonModelException(f"{model}: {reply.error().message()}")
    return [pb.get_output_tensor_by_name(reply, name) for name in outputs]


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        raw = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
        (scaled,) = ask("scale", [pb.Tensor("RAW", raw)], ["SCALED"])
        inputs = [pb.Tensor("INPUT0", scaled.as_numpy()), pb.Tensor("INPUT1", raw)]
        (total,) = ask("add_sub", inputs, ["OUTPUT0"])
        return pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", total.as_numpy())])
