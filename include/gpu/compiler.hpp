#pragma once
/// \file
/// The layer `compiler`: CUDA C++ compiled at run time.

// IWYU pragma: begin_exports
#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/autotune.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_async.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/diagnostics.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/compiler/kernel_resources.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/compiler/macro_value.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/compiler/type_layout.hpp>
// IWYU pragma: end_exports
