#pragma once
/// \file
/// The names of the library's types, declared: for headers that only mention them.

#include <cstddef>

namespace gpu { inline namespace v1 {

class cuda_error;
class source_location;
class text;
class string_ref;
class bytes_ref;
struct dims;
struct version;
enum class errc : int;

class device;
class context;
class context_ref;
class stream;
class stream_ref;
class event;
class event_ref;
class green_context;
class green_context_ref;
class multiprocessor_set;
class multiprocessor_split;

template <class T, std::size_t Extent> class device_span;
template <class T, int Rank> class array_view;
template <class T, int Rank> class tensor_map;
template <int Rank> class shape;
template <class T> class device_buffer;
template <class T> class pinned_vector;
template <class T> class managed_buffer;
template <class T> class pitched_buffer;
template <class T> class aligned_buffer;
template <class T> class registered_memory;
template <class T> class imported_memory;
template <class T> class growing_buffer;
class file_descriptor;
class physical_memory;
class address_reservation;
class memory_mapping;
class multicast_object;
class imported_memory_pool;
class memory_pool;
class memory_pool_ref;
class caching_allocator;
class caching_pinned_allocator;
class peer_access;
class peer_matrix;

class graph;
class graph_ref;
class graph_node;
class graph_exec;
class stream_capture;

struct launch_config;
struct jit_options;
struct jit_report;
struct kernel_properties;
template <class T> class managed_variable;
class module;
class untyped_kernel;

class architecture;
class program;
class source;
class compiled_program;
class compile_cache;
class pending_compilation;
struct diagnostic;
struct kernel_resources;
struct compile_options;
class link_input;
class linked_program;
struct link_options;

}}  // namespace gpu::v1
