#pragma once
/// \file
/// Names for the codes of the driver, NVRTC and nvJitLink that the library itself uses.

namespace gpu { inline namespace v1 { namespace detail {

/// Values of `CUresult`. They are repeated here because errors need no `cuda.h`, and because
/// the driver may be newer than that header.
enum class driver_code : int {
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  call_requires_newer_driver = 36,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  contained = 226,
  invalid_source = 300,
  file_not_found = 301,
  shared_object_init_failed = 303,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  launch_incompatible_texturing = 703,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  primary_context_active = 708,
  context_is_destroyed = 709,
  assertion = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  tensor_memory_leak = 721,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  mps_connection_failed = 805,
  mps_rpc_failure = 806,
  mps_server_not_ready = 807,
  mps_max_clients_reached = 808,
  mps_max_connections_reached = 809,
  mps_client_terminated = 810,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  invalid_cluster_size = 912,
  unknown = 999,
};

/// Values of `nvrtcResult`.
enum class nvrtc_code : int {
  out_of_memory = 1,
  invalid_option = 5,
  compilation = 6,
  builtin_operation_failure = 7,
  name_expression_not_valid = 10,
  internal_error = 11,
};

/// Values of `nvJitLinkResult`.
enum class cublas_code : int {
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  execution_failed = 13,
  not_supported = 15,
};

enum class cufft_code : int {
  alloc_failed = 2,
  invalid_size = 8,
};

/// Values of `cusolverStatus_t`.
enum class cusolver_code : int {
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  execution_failed = 6,
};

/// Values of `cusparseStatus_t`.
enum class cusparse_code : int {
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  execution_failed = 6,
  not_supported = 10,
  insufficient_resources = 11,
};

enum class nccl_code : int {
  unhandled_cuda_error = 1,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

enum class nvjitlink_code : int {
  unrecognized_option = 1,
  invalid_input = 3,
  internal = 6,
  unrecognized_input = 8,
  incorrect_input_type = 12,
  arch_mismatch = 13,
  outdated_library = 14,
  unrecognized_arch = 16,
  unsupported_arch = 17,
  lto_not_enabled = 18,
};

}}}  // namespace gpu::v1::detail
