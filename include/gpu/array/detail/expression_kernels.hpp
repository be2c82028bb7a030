#pragma once
/// \file
/// The kernels of expressions, found by what the expressions are made of.

#include <gpu/algorithm/detail/elementwise_kernel.hpp>
#include <gpu/algorithm/detail/loop_plan.hpp>
#include <gpu/algorithm/snippet_options.hpp>
#include <gpu/array/detail/expression_text.hpp>
#include <gpu/system/made_once.hpp>

namespace gpu::inline v0::detail {

/// Where an expression's elements go.
struct expression_target {
  expression_ref expression;
  const loop_operand* out;
  element_kind kind;  ///< of the elements of `out`
};

/// The kernels of one structure of expressions, for all layouts of their operands.
struct expression_kernels {
  loop_state loops;
  loop_form usual;  ///< for contiguous, aligned operands, if they are loaded before the text
  std::uint32_t hash = 0;
  sequence<std::uint32_t> key;
  expression_kernels* next = nullptr;
};

/// The extents of a result, and the strides of a leaf that repeats along some axes.
struct repeated_leaf {
  long long extent[most_axes], stride[most_axes];
};

/// Names a parameter for each of the targets: `out`, or `out0`, `out1`, ...
inline text target_name(std::size_t t, std::size_t count) {
  text_builder out;
  out << "out";
  if (count > 1) out << t;
  return required(out.finish());
}

/// Describes the kernel of an expression.
inline result<> describe_expression(const evaluation& call, const expression_layout& layout,
                                    const expression_target* targets, std::size_t count,
                                    expression_kernels& made) {
  expression_writer writer(layout);
  snippet& code = made.loops.code;
  // Of the functions that share a kernel, the one that its errors name.
  code.function = count > 1 ? "gpu::assign_all" : "gpu::assign";
  text_builder names;
  const auto add = [&](parameter_kind kind, bool writable, const element_type& type,
                       const text& name) {
    code.parameters.push_back({kind, writable, type, text()});
    if (names.size() != 0) names << ", ";
    names << name;
  };
  const auto type_of = [](element_kind kind) {
    const kind_facts facts = facts_of(kind);
    const unsigned alignment = facts_of(real_kind(kind)).bytes;
    return element_type{facts.device_name, {}, facts.bytes, alignment};
  };
  for (std::size_t t = 0; t < count; ++t) {
    const text name = target_name(t, count);
    add(parameter_kind::elements, true, type_of(targets[t].kind), name);
    writer.write(targets[t].expression, name, targets[t].kind);
  }
  for (std::size_t s = 0; s < layout.slot_count; ++s) {
    const expression_slot& slot = layout.slots[s];
    const word_header header = slot.header();
    const text& name = writer.slot_names[s];
    if (header.what != opcode::leaf) {
      const bool is_number = header.what == opcode::number;
      add(is_number ? parameter_kind::number : parameter_kind::elements, false,
          type_of(header.kind), name);
      continue;
    }
    add(parameter_kind::number, false,
        {slot.description().state_type,
         {},
         static_cast<std::uint32_t>(slot.state_bytes()),
         static_cast<std::uint32_t>(slot.state_alignment())},
        name);
    if (!slot.repeats) continue;
    text_builder repeated;
    repeated << 'r' << name;
    add(parameter_kind::number, false, {"gpu_repeated", {}, sizeof(repeated_leaf), 8},
        required(repeated.finish()));
  }
  writer.finish();
  snippet_options options;
  options.fast = writer.is_fast;
  static_cast<text&>(options.name) = writer.name;
  static_cast<text&>(options.preamble) = writer.preamble;
  static_cast<text&>(options.before) = writer.setup;
  GPU_TRY(describe_snippet(code, required(names.finish()), writer.body, options, call.where));
  made.loops.uses = find_uses(code);
  made.loops.write = &write_elementwise;
  made.usual = spread_groups(usual_form(made.loops));
  return {};
}

/// All kernels of expressions in this library. They are kept until the process ends.
class expression_store {
 public:
  /// Returns the kernels of a structure, described on first use. Looking them up takes no lock; if
  /// two threads describe one structure at the same time, both are kept and one is used.
  result<expression_kernels*> find(const evaluation& call, const expression_layout& layout,
                                   const expression_target* targets, std::size_t count) {
    const std::uint32_t hash = hash_of(layout);
    expression_kernels*& bucket = buckets_[hash % bucket_count];
    expression_kernels* const head = __atomic_load_n(&bucket, __ATOMIC_ACQUIRE);
    for (expression_kernels* each = head; each != nullptr; each = each->next) {
      if (each->hash == hash && each->key.size() == layout.key_size &&
          __builtin_memcmp(each->key.data(), layout.key, layout.key_size * sizeof *layout.key) == 0)
        return each;
    }
    return catch_bad_alloc(call.function, call.where, [&]() -> result<expression_kernels*> {
      unique_handle<expression_kernels*, delete_kernels> made(new expression_kernels);
      made.get()->hash = hash;
      made.get()->key = sequence<std::uint32_t>(layout.key, layout.key + layout.key_size);
      made.get()->next = head;
      GPU_TRY(describe_expression(call, layout, targets, count, *made.get()));
      while (!__atomic_compare_exchange_n(&bucket, &made.get()->next, made.get(), true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      }
      return made.release();
    });
  }

  /// Returns the store, or null if the host is out of memory.
  static expression_store* shared() noexcept {
    static expression_store* store = nullptr;  // constant initialization: no lock in a fork
    return made_once(store, [] { return new (std::nothrow) expression_store; });
  }

 private:
  static constexpr std::size_t bucket_count = 256;
  struct delete_kernels {
    void operator()(expression_kernels* each) const noexcept { delete each; }
  };

  static std::uint32_t hash_of(const expression_layout& layout) noexcept {
    std::uint64_t hash = layout.key_size;
    for (std::size_t k = 0; k < layout.key_size; ++k)
      hash = (hash ^ layout.key[k]) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return static_cast<std::uint32_t>(hash >> 32);
  }

  expression_kernels* buckets_[bucket_count] = {};
};

/// Returns the kernels of an expression.
inline result<expression_kernels*> find_expression(const evaluation& call,
                                                   const expression_layout& layout,
                                                   const expression_target* targets,
                                                   std::size_t count) {
  expression_store* const store = expression_store::shared();
  if (store == nullptr)
    return fail(out_of_host_memory_error(call.function, sizeof(expression_store), call.where));
  return store->find(call, layout, targets, count);
}

}  // namespace gpu::inline v0::detail
