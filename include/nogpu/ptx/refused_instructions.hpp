#pragma once
/// Legal PTX that is not executed here.

#include <string_view>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Legal PTX that is refused by name, unless the instruction table has the form: the words an
/// instruction starts with, and why.
struct refused_instruction {
  std::string_view name;
  std::string_view what;
};
inline constexpr refused_instruction refused_instructions[] = {
    {"tcgen05", "matrix instructions of newer devices"},
    {"cp.async.bulk",
     "bulk copies by a mask of bytes, of rows that are gathered, and of newer devices"},
    {"st.bulk", "bulk stores"},
    {"multimem", "accesses to multicast memory"},
    {"clusterlaunchcontrol", "cluster launch control instructions"},
    {"tex.2dms", "multisampled textures"},
    {"tex.a2dms", "multisampled textures"},
    {"tex.base.2dms", "multisampled textures"},
    {"tex.base.a2dms", "multisampled textures"},
};

}}}  // namespace nogpu::v1::ptx::detail
