#pragma once
/// \file
/// Memory: who owns it, who names it, and how its elements move.

#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/strided_span.hpp>
