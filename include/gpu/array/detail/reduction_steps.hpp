#pragma once
/// \file
/// Evaluates expressions in which others are reduced: each reduction by itself first, and then what
/// is left, in which its result is a view.

#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/reduction_launch.hpp>
#include <gpu/array/detail/reduction_part.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>
#include <gpu/core/detail/size_product.hpp>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The reductions of some expressions, in the order in which they run.
class reduction_steps {
 public:
  /// Takes an expression apart. `rest` gets its words with a view in place of each reduction.
  /// **Errors**: axes out of range, and shapes that cannot be broadcast in what is reduced; no
  /// elements where there has to be one.
  result<> add(const evaluation& call, const expression_ref& expression,
               sequence<expression_word>& rest) {
    sequence<std::size_t> begins;  // of the operands that have not been used yet
    for (std::size_t at = 0; at < expression.count;) {
      const expression_word* const words = expression.words + at;
      const word_header header = header_at(words);
      at += header.words;
      if (header.what <= opcode::leaf) {
        begins.push_back(rest.size());
      } else if (header.what == opcode::reduce) {
        // A name, and `fast`, of a reduction is that of its own kernel.
        for (; at < expression.count && is_of_kernel(expression.words + at);
             at += header_at(expression.words + at).words)
          append(rest, expression.words + at);
        GPU_TRY(add_step(call, {words}, begins.back(), rest));
        continue;
      } else if (!is_of_kernel(words)) {
        const std::size_t operands =
            header.what == opcode::formula ? header.extra : facts_of(header.what).operands;
        for (std::size_t k = 1; k < operands; ++k) begins.pop_back();
      }
      append(rest, words);
    }
    return {};
  }

  /// Runs the reductions, or compiles their kernels. If `out` is not null, the result of the last
  /// one goes there, unless it reads from there.
  result<> run(const evaluation& call, const loop_operand* out, bool& is_out_written,
               evaluation_step what) {
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      reduction_step& step = steps_[k];
      fill(step.words);
      if (out != nullptr && k + 1 == steps_.size()) {
        const loop_operand own = step.out;
        step.out = *out;
        is_out_written = GPU_TRY(run_reduction_step(call, step, what));
        if (is_out_written) return {};
        step.out = own;
      }
      const std::size_t count = step.out.memory.count;
      step.memory =
          GPU_TRY(allocate_workspace(call.stream, count * facts_of(step.kind()).bytes, call.where));
      step.out.memory = copy_end_of(step.memory);
      step.out.memory.count = count;
      GPU_TRY(run_reduction_step(call, step, what));
    }
    return {};
  }

  /// Sets the addresses of the views of results.
  void fill(sequence<expression_word>& words) const noexcept {
    for (std::size_t at = 0; at < words.size(); at += header_at(words.data() + at).words) {
      const word_header header = header_at(words.data() + at);
      if (header.what != opcode::view || (header.flags & reduced_flag) == 0) continue;
      words[at + 1] = steps_[words[at + 1] - 1].memory.native();
    }
  }

  /// Returns whether all that is left of an expression is the result of the last reduction, of the
  /// same kind and shape as `out`, whose elements are evenly spaced.
  bool is_last(const sequence<expression_word>& rest, const expression_target& target) const {
    if (rest.empty() || header_at(rest.data()).words != rest.size()) return false;
    const word_header header = header_at(rest.data());
    if (header.what != opcode::view || (header.flags & reduced_flag) == 0) return false;
    if (rest[1] != steps_.size() || header.kind != target.kind) return false;
    if (!same_shape(steps_.back().out, *target.out)) return false;
    const loop_operand* const view = target.out;
    if (view->memory.count < 2) return true;
    merged_axes axes;
    merge_axes(axes, &view, 1);
    return axes.rank == 1 && axes.strides[0][0] != 0;
  }

  const sequence<reduction_step>& all() const noexcept { return steps_; }

 private:
  static bool is_of_kernel(const expression_word* words) noexcept {
    const opcode what = header_at(words).what;
    return what == opcode::named || what == opcode::fast;
  }
  static void append(sequence<expression_word>& to, const expression_word* words) {
    to.append(words, words + header_at(words).words);
  }

  /// Moves the words of an operand, from `begin` on, into a step, and puts a view in their place.
  result<> add_step(const evaluation& call, const reduction_part& part, std::size_t begin,
                    sequence<expression_word>& rest) {
    reduction_step step;
    step.words.append(rest.data() + begin, rest.end());
    rest.resize(begin);
    __builtin_memcpy(step.part, part.words, sizeof step.part);
    GPU_TRY(find_shape(call, step));
    std::size_t number = 0;
    while (number < steps_.size() && !same_step(steps_[number], step)) ++number;
    if (number == steps_.size()) steps_.push_back(std::move(step));
    put_result(rest, number);
    return {};
  }

  /// Finds the shapes of the operand and of the result.
  static result<> find_shape(const evaluation& call, reduction_step& step) {
    const reduction_part part = step.reduction();
    expression_layout layout;
    GPU_TRY(add_expression(call, step.operand(), layout));
    step.rank = layout.rank;
    for (int axis = 0; axis < step.rank; ++axis) step.extents[axis] = layout.extents[axis];
    if (part.problem() != fault_kind::none) {
      text_builder out;
      out << step.texts().function << ": ";
      explain_fault(out, {part.problem(), {}, 0, part.asked(), step.rank});
      return refuse_evaluation(call, errc::invalid_argument, out);
    }
    loop_operand& out = step.out;
    out.rank = 0;
    out.memory.count = 1;
    for (int axis = 0; axis < step.rank; ++axis) {
      const bool reduced = part.has_axis(axis);
      if (reduced && !part.keeps_dims()) continue;
      out.extents[out.rank] = reduced ? 1 : step.extents[axis];
      out.memory.count *= out.extents[out.rank++];
    }
    set_dense_strides(out.extents, out.strides, out.rank);
    const char* const wanted = step.texts().wanted;
    if (wanted == nullptr || step.count() != 0 || out.memory.count == 0) return {};
    text_builder shape;
    shape << "the operand of the shape ";
    write_extents(shape, step.extents, step.rank);
    return refuse_nothing(step.texts().function, wanted, required(shape.finish()).c_str(),
                          call.where);
  }

  static bool same_step(const reduction_step& a, const reduction_step& b) noexcept {
    return a.words == b.words && __builtin_memcmp(a.part, b.part, sizeof a.part) == 0;
  }

  /// Adds a view of a result, with the number of the step, counted from 1, as its address.
  void put_result(sequence<expression_word>& rest, std::size_t number) const {
    const reduction_step& step = steps_[number];
    expression_word words[view_words + 2 * most_axes];
    put_view(words, step.kind(), step.out);
    word_header header = header_at(words);
    header.flags = reduced_flag;
    words[0] = __builtin_bit_cast(expression_word, header);
    words[1] = number + 1;
    append(rest, words);
  }

  sequence<reduction_step> steps_;
};

/// Returns the texts of the kernels of an expression in which others are reduced, one after the
/// other.
inline result<text> write_source_with_reductions(const evaluation& call,
                                                 const expression_ref& expression) {
  return catch_bad_alloc(call.function, call.where, [&]() -> result<text> {
    reduction_steps steps;
    sequence<expression_word> rest;
    GPU_TRY(steps.add(call, expression, rest));
    text_builder out;
    for (const reduction_step& each : steps.all()) {
      const text source = GPU_TRY(write_reduction_source(call, each));
      out << (out.size() == 0 ? "" : "\n") << source;
    }
    if (header_at(rest.data()).words == rest.size()) return required(out.finish());
    const expression_ref left{rest.data(), rest.size(), expression.kind, expression.rank};
    const text source = GPU_TRY(write_kernel_source(call, left));
    out << '\n' << source;
    return required(out.finish());
  });
}

/// Returns the text of the kernel of an expression, or of its kernels, for operands that are
/// contiguous and aligned.
inline result<text> write_source(const evaluation& call, const expression_ref& expression) {
  if (has_reduction(expression)) return write_source_with_reductions(call, expression);
  return write_kernel_source(call, expression);
}

}}}  // namespace gpu::v1::detail
