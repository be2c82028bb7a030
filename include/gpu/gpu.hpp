#pragma once
/// \file
/// The whole library, but for what needs other libraries' headers: see the folder interop.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/version.hpp>
