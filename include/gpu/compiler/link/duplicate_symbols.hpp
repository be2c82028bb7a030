#pragma once
/// \file
/// Finds names that inputs cannot share, before a linker is called.

#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/compiler/link/link_error.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/link/symbols.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A hash table of the names that the inputs share.
class shared_link_symbols {
 public:
  struct entry {
    link_symbol symbol;
    std::size_t piece;
  };

  /// Returns the entry of that name; creates it and sets `fresh` if it is missing.
  entry& find(const link_symbol& symbol, std::size_t piece, bool& fresh) {
    if ((entries_.size() + 1) * 2 > slots_.size()) grow();
    std::size_t at = slot_of(symbol.name);
    fresh = slots_[at] == 0;
    if (fresh) {
      entries_.push_back({symbol, piece});
      slots_[at] = entries_.size();
    }
    return entries_[slots_[at] - 1];
  }

 private:
  std::size_t slot_of(string_ref name) const noexcept {
    std::size_t at = quick_hash(name, 0) & (slots_.size() - 1);
    while (slots_[at] != 0 && !(entries_[slots_[at] - 1].symbol.name == name)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      slots_[slot_of(entries_[i].symbol.name)] = i + 1;
    }
  }

  sequence<entry> entries_;
  sequence<std::size_t> slots_;  // 1 and up; 0 is free
};

/// Returns whether two inputs cannot share a name, and writes why.
inline bool explain_conflict(text_builder& out, const link_plan& plan,
                             const shared_link_symbols::entry& first, const link_symbol& second,
                             std::size_t piece) {
  using role = link_symbol::role;
  const link_symbol& a = first.symbol;
  const auto both = [&](const char* what) {
    write_symbol(out, second.name);
    out << what << plan.pieces[first.piece].name << " and in " << plan.pieces[piece].name;
  };
  const bool sizes_known = a.shape != 0 && second.shape != 0 && a.is_function == second.is_function;
  if (first.piece == piece) return false;
  if (a.as == role::defined && second.as == role::defined) {
    both(" is defined in ");
    out << ". Keep one of the two, or make it static.\n";
  } else if (a.space != 0 && second.space != 0 && a.space != second.space) {
    both(" is in different memory spaces in ");
    out << ". Declare it __device__ or __constant__ in both.\n";
  } else if (sizes_known && a.shape != second.shape && a.as != role::replaceable &&
             second.as != role::replaceable) {
    both(a.is_function ? " has different parameters or results in " : " has different sizes in ");
    out << ". Declare it identically in both.\n";
  } else {
    return false;
  }
  return true;
}

/// Fails if two inputs define a name or declare it differently, as far as their symbols can be
/// read.
inline result<> check_symbols(const link_plan& plan, source_location where) {
  shared_link_symbols known;
  text_builder out;
  message_list conflicts(out, "");
  std::size_t piece = 0;
  const auto enter = [&](const link_symbol& symbol) {
    bool fresh = false;
    shared_link_symbols::entry& entry = known.find(symbol, piece, fresh);
    if (fresh) return;
    text_builder conflict;
    if (explain_conflict(conflict, plan, entry, symbol, piece) && conflicts.add())
      out << conflict.finish();
    const bool more =
        symbol.as == link_symbol::role::defined || entry.symbol.as == link_symbol::role::declared;
    if (more && entry.symbol.as != link_symbol::role::defined) entry = {symbol, piece};
  };
  for (; piece < plan.pieces.size(); ++piece) {
    const link_piece& each = plan.pieces[piece];
    if (each.kind == link_input_kind::ptx) for_each_ptx_symbol(each.bytes, enter);
    if (each.kind == link_input_kind::cubin) for_each_cubin_symbol(each.bytes, enter);
  }
  if (conflicts.count() == 0) return {};
  conflicts.finish();
  if (conflicts.count() > message_list::most) out << ".\n";
  return fail(link_refusal(errc::link_failed, out, where));
}

}}}  // namespace gpu::v1::detail
