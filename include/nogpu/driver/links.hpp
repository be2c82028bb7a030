#pragma once
/// \file
/// Entry points: the driver's linker. It takes PTX, alone, in fat binaries, in objects and in
/// archives; what it makes is loaded like a cubin.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>
#include <nogpu/driver/linked_image.hpp>
#include <nogpu/ptx/archive.hpp>
#include <nogpu/ptx/device_runtime.hpp>

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_link(call& c, CUlinkState handle, link_ptr& link) {
  link = c.driver.links.find(handle);
  return link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// Adds a line to the log for errors.
inline void note_link_error(link_state& link, const std::string& line) {
  if (!link.errors.empty()) link.errors += '\n';
  link.errors += line;
}

/// Writes the whole log to the caller's buffer.
inline void write_link_errors(link_state& link) {
  for (unsigned i = 0; i < link.options.count; ++i) {
    if (link.options.names[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      link.options.values[i] = link.option_values[i];
  }
  link.options.write_log(true, link.errors);
}

/// Finds the PTX in an input of `size` bytes.
inline ptx::image_text text_of_input(CUjitInputType type, std::string_view bytes) {
  if (type == CU_JIT_INPUT_PTX) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool begins = first != bytes.npos && (bytes[first] == '.' || bytes[first] == '/');
    if (begins) return {std::string(bytes.substr(0, bytes.find('\0'))), std::nullopt};
  }
  if (type == CU_JIT_INPUT_FATBINARY && bytes.size() >= 16 &&
      ptx::identify(bytes.data()) == ptx::image_kind::fatbin) {
    return ptx::text_of_fatbin({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                               target_architecture);
  }
  if (type == CU_JIT_INPUT_CUBIN && bytes.size() >= 20 &&
      ptx::identify(bytes.data()) == ptx::image_kind::elf) {
    return ptx::text_of_image(bytes.data(), target_architecture);
  }
  return ptx::detail::refuse_image(
      "error   : Binary format for key='0', ident='' is not recognized",
      ptx::refusal::invalid_image);
}

/// Adds a unit to a link.
inline CUresult add_unit(link_state& link, const std::string& name, std::string text,
                         ptx::module code) {
  const std::vector<std::string> errors = link.symbols.add(std::move(code), name);
  for (const std::string& each : errors) note_link_error(link, each);
  write_link_errors(link);
  if (!errors.empty()) {
    link.spoilt = true;
    return CUDA_ERROR_UNKNOWN;
  }
  link.units.emplace_back(name, std::move(text));
  return CUDA_SUCCESS;
}

/// The parsed PTX of an input, or the error.
struct link_text {
  ptx::image_text image;
  ptx::parse_result parsed;
  const ptx::diagnostic* why() const {
    if (image.error) return &*image.error;
    return parsed.error ? &*parsed.error : nullptr;
  }
};

inline link_text parse_input(ptx::image_text image) {
  link_text made{std::move(image), {}};
  if (made.image) made.parsed = ptx::parse(made.image.text);
  if (made.why() == nullptr)
    made.parsed.error = machine::detail::refuse_constants(made.parsed.value);
  return made;
}

/// Lists the files of an archive with what they have for this device; false if it is damaged.
inline bool read_library(std::string_view bytes, const std::string& archive,
                         std::vector<library_unit>& units) {
  std::vector<ptx::archive_member> members;
  if (!ptx::read_archive({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, members))
    return false;
  for (const ptx::archive_member& member : members) {
    std::vector<ptx::image_text> texts = ptx::texts_of_object(member.contents, target_architecture);
    const bool runtime = member.name == ptx::device_runtime_member;
    if (runtime) texts = {{std::string(ptx::device_runtime_text), std::nullopt}};
    for (ptx::image_text& text : texts) {
      link_text read = parse_input(std::move(text));
      library_unit made;
      made.name = member.name + "' of '" + archive;
      if (read.why() != nullptr) {
        made.refused = read.why()->text;
      } else {
        made.text = std::move(read.image.text);
        made.code = std::move(read.parsed.value);
      }
      units.push_back(std::move(made));
    }
  }
  return true;
}

/// Adds those files of archives that have something which is missing, again and again.
inline CUresult take_from_libraries(link_state& link) {
  for (bool found = true; found;) {
    found = false;
    const auto missing = link.symbols.missing();
    for (library_unit& each : link.library) {
      if (missing.empty() || each.taken || !each.refused.empty() ||
          !ptx::linker::defines_any(each.code, missing))
        continue;
      each.taken = found = true;
      if (const CUresult bad =
              add_unit(link, each.name, std::move(each.text), std::move(each.code)))
        return bad;
      break;
    }
  }
  return CUDA_SUCCESS;
}

/// Adds an input to a link.
inline CUresult add_input(call& c, CUlinkState handle, CUjitInputType type, std::string bytes,
                          const char* name) {
  link_ptr link;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (link->spoilt) return CUDA_ERROR_UNKNOWN;
  if (link->done) return CUDA_ERROR_INVALID_VALUE;
  const std::string called = name != nullptr ? name : "";
  const auto begin = std::chrono::steady_clock::now();
  c.lock.unlock();
  std::vector<library_unit> library;
  std::vector<link_text> texts;
  if (type == CU_JIT_INPUT_LIBRARY) {
    if (!read_library(bytes, called, library))
      texts.push_back({ptx::detail::refuse_image("this archive is truncated or damaged",
                                                 ptx::refusal::invalid_image),
                       {}});
  } else if (type == CU_JIT_INPUT_OBJECT) {
    for (ptx::image_text& each : ptx::texts_of_object(
             {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, target_architecture))
      texts.push_back(parse_input(std::move(each)));
  } else {
    texts.push_back(parse_input(text_of_input(type, bytes)));
  }
  c.lock.lock();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  link->milliseconds += took.count();
  for (library_unit& each : library) link->library.push_back(std::move(each));
  for (link_text& each : texts) {
    if (const ptx::diagnostic* why = each.why()) {
      note_link_error(*link, each.image ? "ptxas application ptx input, line " +
                                              std::to_string(why->line) + "; fatal   : " + why->text
                                        : why->text);
      write_link_errors(*link);
      c.lock.unlock();
      const CUresult code = refuse_code(c.driver, {}, *why);
      c.lock.lock();
      return code;
    }
    if (const CUresult bad =
            add_unit(*link, called, std::move(each.image.text), std::move(each.parsed.value)))
      return bad;
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult link_create(call& c, unsigned count, CUjit_option* names, void** values,
                            CUlinkState* handle) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  const jit_options options{count, names, values};
  if (handle == nullptr || !options.valid() || options.has(CU_JIT_FALLBACK_STRATEGY))
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<link_state>();
  made->context = std::move(context);
  made->option_names.assign(names, names + count);
  made->option_values.assign(values, values + count);
  made->options = {count, made->option_names.data(), values};
  made->max_registers = options.max_registers();
  made->place = c.driver.place();
  *handle = c.driver.links.add(std::move(made));
  return CUDA_SUCCESS;
}

inline CUresult link_add_data(call& c, CUlinkState handle, CUjitInputType type, void* data,
                              std::size_t size, const char* name, unsigned count,
                              CUjit_option* names, void** values) {
  link_ptr link;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (data == nullptr || size == 0 || number_of(type) >= CU_JIT_NUM_INPUT_TYPES ||
      !jit_options{count, names, values}.valid())
    return CUDA_ERROR_INVALID_VALUE;
  return add_input(c, handle, type, std::string(static_cast<const char*>(data), size), name);
}

inline CUresult link_add_file(call& c, CUlinkState handle, CUjitInputType type, const char* path,
                              unsigned count, CUjit_option* names, void** values) {
  link_ptr link;
  std::vector<char> contents;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (path == nullptr || number_of(type) >= CU_JIT_NUM_INPUT_TYPES ||
      !jit_options{count, names, values}.valid())
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_file(path, contents)) return bad;
  return add_input(c, handle, type, std::string(contents.begin(), contents.end()), path);
}

inline CUresult link_complete(call& c, CUlinkState handle, void** image, std::size_t* size) {
  link_ptr link;
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (link->spoilt) return CUDA_ERROR_UNKNOWN;
  if (link->done) return link->refused != CUDA_SUCCESS ? link->refused : CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult bad = take_from_libraries(*link)) return bad;
  link->done = true;
  for (const std::string& each : link->symbols.undefined()) {
    note_link_error(*link, each);
    link->refused = CUDA_ERROR_INVALID_SOURCE;
  }
  for (const library_unit& each : link->library)
    if (link->refused && !each.refused.empty())
      note_link_error(*link, "error   : Not linked: '" + each.name + "': " + each.refused);
  write_link_errors(*link);
  link->options.write_log(false, "");
  link->options.write_wall_time(link->milliseconds);
  if (link->refused) return link->refused;
  link->image = make_linked_image(link->units, link->options.target(target_architecture),
                                  link->max_registers);
  *image = link->image.data();
  if (size != nullptr) *size = link->image.size();
  return CUDA_SUCCESS;
}

inline CUresult link_destroy(call& c, CUlinkState handle) {
  return c.driver.links.take(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}}}  // namespace nogpu::v1::driver::entry
