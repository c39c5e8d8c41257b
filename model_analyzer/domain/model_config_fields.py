# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of Triton's ModelConfig, made by tools/model_config_fields.py: do not edit.

A line is a message with its fields, or an enum with its values; its further lines are indented.
A field is `NAME:TYPE`, `NAME:[TYPE]` where it repeats, or `NAME:{TYPE}` where it maps names to
values. TYPE is `int32`, `int64`, `uint32`, `uint64`, `float`, `bool`, `str`, an enum or a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MESSAGES = """\
BatchInput kind:BatchInput.Kind target_name:[str] data_type:DataType source_input:[str]
BatchOutput target_name:[str] kind:BatchOutput.Kind source_input:[str]
ModelConfig name:str platform:str backend:str runtime:str version_policy:ModelVersionPolicy
    max_batch_size:int32 input:[ModelInput] output:[ModelOutput] batch_input:[BatchInput]
    batch_output:[BatchOutput] optimization:ModelOptimizationPolicy
    dynamic_batching:ModelDynamicBatching sequence_batching:ModelSequenceBatching
    ensemble_scheduling:ModelEnsembling instance_group:[ModelInstanceGroup]
    default_model_filename:str cc_model_filenames:{str} metric_tags:{str}
    parameters:{ModelParameter} model_warmup:[ModelWarmup] model_operations:ModelOperations
    model_transaction_policy:ModelTransactionPolicy model_repository_agents:ModelRepositoryAgents
    response_cache:ModelResponseCache model_metrics:ModelMetrics
ModelDynamicBatching preferred_batch_size:[int32] max_queue_delay_microseconds:uint64
    preserve_ordering:bool priority_levels:uint64 default_priority_level:uint64
    default_queue_policy:ModelQueuePolicy priority_queue_policy:{ModelQueuePolicy}
ModelEnsembling step:[ModelEnsembling.Step] max_inflight_requests:uint32
ModelEnsembling.Step model_name:str model_version:int64 input_map:{str} output_map:{str}
    model_namespace:str
ModelInput name:str data_type:DataType format:ModelInput.Format dims:[int64]
    reshape:ModelTensorReshape is_shape_tensor:bool allow_ragged_batch:bool optional:bool
    is_non_linear_format_io:bool
ModelInstanceGroup name:str kind:ModelInstanceGroup.Kind count:int32 rate_limiter:ModelRateLimiter
    gpus:[int32] secondary_devices:[ModelInstanceGroup.SecondaryDevice] profile:[str] passive:bool
    host_policy:str
ModelInstanceGroup.SecondaryDevice kind:ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind
    device_id:int64
ModelMetrics metric_control:[ModelMetrics.MetricControl]
ModelMetrics.MetricControl metric_identifier:ModelMetrics.MetricControl.MetricIdentifier
    histogram_options:ModelMetrics.MetricControl.HistogramOptions
ModelMetrics.MetricControl.HistogramOptions buckets:[float]
ModelMetrics.MetricControl.MetricIdentifier family:str
ModelOperations op_library_filename:[str]
ModelOptimizationPolicy graph:ModelOptimizationPolicy.Graph
    priority:ModelOptimizationPolicy.ModelPriority cuda:ModelOptimizationPolicy.Cuda
    execution_accelerators:ModelOptimizationPolicy.ExecutionAccelerators
    input_pinned_memory:ModelOptimizationPolicy.PinnedMemoryBuffer
    output_pinned_memory:ModelOptimizationPolicy.PinnedMemoryBuffer
    gather_kernel_buffer_threshold:uint32 eager_batching:bool
ModelOptimizationPolicy.Cuda graphs:bool busy_wait_events:bool
    graph_spec:[ModelOptimizationPolicy.Cuda.GraphSpec] output_copy_stream:bool
ModelOptimizationPolicy.Cuda.GraphSpec batch_size:int32
    input:{ModelOptimizationPolicy.Cuda.GraphSpec.Shape}
    graph_lower_bound:ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound
ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound batch_size:int32
    input:{ModelOptimizationPolicy.Cuda.GraphSpec.Shape}
ModelOptimizationPolicy.Cuda.GraphSpec.Shape dim:[int64]
ModelOptimizationPolicy.ExecutionAccelerators
    gpu_execution_accelerator:[ModelOptimizationPolicy.ExecutionAccelerators.Accelerator]
    cpu_execution_accelerator:[ModelOptimizationPolicy.ExecutionAccelerators.Accelerator]
ModelOptimizationPolicy.ExecutionAccelerators.Accelerator name:str parameters:{str}
ModelOptimizationPolicy.Graph level:int32
ModelOptimizationPolicy.PinnedMemoryBuffer enable:bool
ModelOutput name:str data_type:DataType dims:[int64] reshape:ModelTensorReshape label_filename:str
    is_shape_tensor:bool is_non_linear_format_io:bool
ModelParameter string_value:str
ModelQueuePolicy timeout_action:ModelQueuePolicy.TimeoutAction default_timeout_microseconds:uint64
    allow_timeout_override:bool max_queue_size:uint32
ModelRateLimiter resources:[ModelRateLimiter.Resource] priority:uint32
ModelRateLimiter.Resource name:str global:bool count:uint32
ModelRepositoryAgents agents:[ModelRepositoryAgents.Agent]
ModelRepositoryAgents.Agent name:str parameters:{str}
ModelResponseCache enable:bool
ModelSequenceBatching direct:ModelSequenceBatching.StrategyDirect
    oldest:ModelSequenceBatching.StrategyOldest max_sequence_idle_microseconds:uint64
    control_input:[ModelSequenceBatching.ControlInput] state:[ModelSequenceBatching.State]
    iterative_sequence:bool
ModelSequenceBatching.Control kind:ModelSequenceBatching.Control.Kind int32_false_true:[int32]
    fp32_false_true:[float] bool_false_true:[bool] data_type:DataType
ModelSequenceBatching.ControlInput name:str control:[ModelSequenceBatching.Control]
ModelSequenceBatching.InitialState data_type:DataType dims:[int64] zero_data:bool data_file:str
    name:str
ModelSequenceBatching.State input_name:str output_name:str data_type:DataType dims:[int64]
    initial_state:[ModelSequenceBatching.InitialState] use_same_buffer_for_input_output:bool
    use_growable_memory:bool
ModelSequenceBatching.StrategyDirect max_queue_delay_microseconds:uint64
    minimum_slot_utilization:float
ModelSequenceBatching.StrategyOldest max_candidate_sequences:int32 preferred_batch_size:[int32]
    max_queue_delay_microseconds:uint64 preserve_ordering:bool
ModelTensorReshape shape:[int64]
ModelTransactionPolicy decoupled:bool
ModelVersionPolicy latest:ModelVersionPolicy.Latest all:ModelVersionPolicy.All
    specific:ModelVersionPolicy.Specific
ModelVersionPolicy.All
ModelVersionPolicy.Latest num_versions:uint32
ModelVersionPolicy.Specific versions:[int64]
ModelWarmup name:str batch_size:uint32 inputs:{ModelWarmup.Input} count:uint32
ModelWarmup.Input data_type:DataType dims:[int64] zero_data:bool random_data:bool
    input_data_file:str
"""
_ENUMS = """\
BatchInput.Kind BATCH_ELEMENT_COUNT BATCH_ACCUMULATED_ELEMENT_COUNT
    BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO BATCH_MAX_ELEMENT_COUNT_AS_SHAPE BATCH_ITEM_SHAPE
    BATCH_ITEM_SHAPE_FLATTEN
BatchOutput.Kind BATCH_SCATTER_WITH_INPUT_SHAPE
DataType TYPE_INVALID TYPE_BOOL TYPE_UINT8 TYPE_UINT16 TYPE_UINT32 TYPE_UINT64 TYPE_INT8 TYPE_INT16
    TYPE_INT32 TYPE_INT64 TYPE_FP16 TYPE_FP32 TYPE_FP64 TYPE_STRING TYPE_BF16
ModelInput.Format FORMAT_NONE FORMAT_NHWC FORMAT_NCHW
ModelInstanceGroup.Kind KIND_AUTO KIND_GPU KIND_CPU KIND_MODEL
ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind KIND_NVDLA
ModelOptimizationPolicy.ModelPriority PRIORITY_DEFAULT PRIORITY_MAX PRIORITY_MIN
ModelQueuePolicy.TimeoutAction REJECT DELAY
ModelSequenceBatching.Control.Kind CONTROL_SEQUENCE_START CONTROL_SEQUENCE_READY
    CONTROL_SEQUENCE_END CONTROL_SEQUENCE_CORRID
"""


def _lines(table: str) -> Iterator[tuple[str, list[str]]]:
    for line in re.sub(r"\n +", " ", table).splitlines():
        name, *entries = line.split()
        yield name, entries


MESSAGES: dict[str, dict[str, str]] = {
    name: dict(field.split(":") for field in fields) for name, fields in _lines(_MESSAGES)
}
ENUMS: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in _lines(_ENUMS)}
