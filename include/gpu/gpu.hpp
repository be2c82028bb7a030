#pragma once
/// \file
/// The whole library, but for what needs other libraries' headers: see the folder interop.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/copy_box.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/managed_hints.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>
#include <gpu/memory/memory_range_attribute.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pointer_attribute.hpp>
#include <gpu/memory/registered_memory.hpp>
#include <gpu/version.hpp>
