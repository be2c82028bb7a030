#pragma once
/// Rows of the instruction table: comparison, selection and conversion.

#include <nogpu/ptx/instruction_form.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

inline constexpr form value_forms[] = {
    // Comparison and selection.
    {"setp", opcode::setp, "compare_unsigned!", "u16 u32 u64", "Qaa"},
    {"setp", opcode::setp, "compare_signed!", "s16 s32 s64", "Qaa"},
    {"setp", opcode::setp, "equality!", "bits", "Qaa"},
    {"setp", opcode::setp, "compare_floating! ftz", "f32 f16 f16x2", "Qaa"},
    {"setp", opcode::setp, "compare_floating!", "f64", "Qaa"},
    {"setp", opcode::setp, "compare_floating!", "bf16 bf16x2", "Qaa", 90},
    {"setp", opcode::setp, "compare_unsigned! boolean!", "u16 u32 u64", "Qaap"},
    {"setp", opcode::setp, "compare_signed! boolean!", "s16 s32 s64", "Qaap"},
    {"setp", opcode::setp, "equality! boolean!", "bits", "Qaap"},
    {"setp", opcode::setp, "compare_floating! boolean! ftz", "f32 f16 f16x2", "Qaap"},
    {"setp", opcode::setp, "compare_floating! boolean!", "f64", "Qaap"},
    {"setp", opcode::setp, "compare_floating! boolean!", "bf16 bf16x2", "Qaap", 90},
    {"set", opcode::set, "compare_unsigned!", "u32 s32 f32|u16 u32 u64", "Dbb"},
    {"set", opcode::set, "compare_signed!", "u32 s32 f32|s16 s32 s64", "Dbb"},
    {"set", opcode::set, "equality!", "u32 s32 f32|bits", "Dbb"},
    {"set", opcode::set, "compare_floating! ftz", "u32 s32 f32|f32", "Dbb"},
    {"set", opcode::set, "compare_floating!", "u32 s32 f32|f64", "Dbb"},
    {"set", opcode::set, "compare_floating! ftz", "u16 s16 u32 s32 f16|f16", "Dbb", 53},
    {"set", opcode::set, "compare_floating! ftz", "u32 s32 f16x2|f16x2", "Dbb", 53},
    {"set", opcode::set, "compare_floating!", "u16 s16 u32 s32 bf16|bf16", "Dbb", 90},
    {"set", opcode::set, "compare_floating!", "u32 s32 bf16x2|bf16x2", "Dbb", 90},
    {"set", opcode::set, "compare_unsigned! boolean!", "u32 s32 f32|u16 u32 u64", "Dbbp"},
    {"set", opcode::set, "compare_signed! boolean!", "u32 s32 f32|s16 s32 s64", "Dbbp"},
    {"set", opcode::set, "equality! boolean!", "u32 s32 f32|bits", "Dbbp"},
    {"set", opcode::set, "compare_floating! boolean! ftz", "u32 s32 f32|f32", "Dbbp"},
    {"set", opcode::set, "compare_floating! boolean!", "u32 s32 f32|f64", "Dbbp"},
    {"set", opcode::set, "compare_floating! boolean! ftz", "u16 s16 u32 s32 f16|f16", "Dbbp", 53},
    {"set", opcode::set, "compare_floating! boolean! ftz", "u32 s32 f16x2|f16x2", "Dbbp", 53},
    {"set", opcode::set, "compare_floating! boolean!", "u16 s16 u32 s32 bf16|bf16", "Dbbp", 90},
    {"set", opcode::set, "compare_floating! boolean!", "u32 s32 bf16x2|bf16x2", "Dbbp", 90},
    {"selp", opcode::selp, "", "bits int f32 f64", "Daap"},
    {"slct", opcode::slct, "", "bits int f32 f64|s32", "Daab"},
    {"slct", opcode::slct, "ftz", "bits int f32 f64|f32", "Daab"},

    // Conversion.
    {"cvt", opcode::cvt, "sat", "int8|int8", "Kr"},
    {"cvt", opcode::cvt, "rint! ftz sat", "int8|f16 f32 f64", "Kk"},
    {"cvt", opcode::cvt, "rint!", "int|bf16", "Kk", 90},
    {"cvt", opcode::cvt, "rint!", "u8 s8|bf16", "Db", 90},
    {"cvt", opcode::cvt, "round! ftz sat", "f16 f32 f64|int8", "Kk"},
    {"cvt", opcode::cvt, "round!", "bf16|int", "Kk", 90},
    {"cvt", opcode::cvt, "round!", "bf16|u8 s8", "Db", 90},
    {"cvt", opcode::cvt, "rint! ftz sat", "f16 f32 f64|f16 f32 f64", "Kk"},
    {"cvt", opcode::cvt, "rint!", "bf16|bf16", "Kk", 90},
    {"cvt", opcode::cvt, "round ftz sat relu", "f16 f32 f64|f16 f32 f64", "Kk"},
    {"cvt", opcode::cvt, "round ftz sat relu", "bf16 f32 f64 f16|bf16 f32 f64 f16", "Kk", 80},
    {"cvt", opcode::cvt, "rn_rz! relu satfinite!", "f16 bf16|f32", "Kk", 80},
    {"cvt", opcode::cvt, "rn_rz! relu satfinite", "f16x2 bf16x2|f32", "Dbb", 80},
    {"cvt", opcode::cvt, "rna! satfinite", "tf32|f32", "Db", 80},
    {"cvt", opcode::cvt, "rn_rz! relu", "tf32|f32", "Db", 90},
    {"cvt", opcode::cvt, "rn! satfinite! relu", "e4m3x2 e5m2x2|f32", "Dbb", 89},
    {"cvt", opcode::cvt, "rn! satfinite! relu", "e4m3x2 e5m2x2|f16x2", "Db", 89},
    {"cvt", opcode::cvt, "rn! relu", "f16x2|e4m3x2 e5m2x2", "Db", 89},
    {"cvt.pack", opcode::cvt_pack, "sat!", "u16 s16|s32", "Eii", 72},
    {"cvt.pack", opcode::cvt_pack, "sat!", "u8 s8|s32|b32", "Eiii", 72},
    {"cvt.pack", opcode::cvt_pack, "sat! narrow!", "s32|b32", "Eiii", 75},
};

}}}  // namespace nogpu::v1::ptx::detail
