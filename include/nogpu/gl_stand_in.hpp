#pragma once
/// \file
/// `gl_stand_in`: a stand-in for a context of OpenGL, whose buffers and images a test can register
/// with the CPU driver.

#include <nogpu/driver/array_checks.hpp>
#include <nogpu/driver/array_formats.hpp>

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 {

/// An image of OpenGL.
struct gl_image {
  unsigned target = 0x0de1;  ///< as in `gpu::gl_target`; a texture_2d by default
  CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 4;
  std::size_t width = 1;
  std::size_t height = 1;
  std::size_t depth = 0;  ///< of a texture_3d; the layers of a texture_2d_array
  unsigned levels = 1;
};

namespace driver {

/// A buffer or an image of OpenGL. The levels of an image lie one after the other, the finest
/// first, and in each of them the layers or faces.
struct gl_object {
  bool is_image = false;
  gl_image image;
  CUDA_ARRAY3D_DESCRIPTOR form{};  // of an image: level 0, with all layers or faces
  std::vector<std::byte> bytes;

  unsigned layers() const noexcept {
    return has_layers(form) ? static_cast<unsigned>(form.Depth) : 1;
  }
  /// The form of one layer or face of a level, or of the whole level where there are none.
  CUDA_ARRAY3D_DESCRIPTOR part_form(unsigned level) const noexcept {
    CUDA_ARRAY3D_DESCRIPTOR part = level_form(form, level);
    if (has_layers(form)) part.Depth = 0;
    part.Flags &= ~unsigned{CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP};
    return part;
  }
  std::size_t part_bytes(unsigned level) const noexcept {
    const CUDA_ARRAY3D_DESCRIPTOR part = part_form(level);
    const format_facts format = find_format(part.Format, part.NumChannels);
    return format.row_bytes(part.Width) * format.rows(part.Height) *
           (part.Depth == 0 ? 1 : part.Depth);
  }
  /// The beginning of a layer of a level; of the level after the last one: the number of bytes.
  std::size_t offset(unsigned level, unsigned layer) const noexcept {
    std::size_t bytes_before = 0;
    for (unsigned i = 0; i < level; ++i) bytes_before += part_bytes(i) * layers();
    return bytes_before + (layer == 0 ? 0 : part_bytes(level) * layer);
  }
};

}  // namespace driver

/// A context of OpenGL that draws nothing: it has buffers and images, and is current in the thread
/// that makes it, until it is destroyed. There it hides another one that was current before.
///
///     nogpu::gl_stand_in gl;
///     const unsigned name = gl.make_buffer(1024);
///     const auto vertices = gpu::registered_gl_buffer::create(device, name);
///
/// Threads: that in which it was made.
class gl_stand_in {
 public:
  gl_stand_in() : before_{std::exchange(current_, this)} {}
  gl_stand_in(const gl_stand_in&) = delete;
  gl_stand_in& operator=(const gl_stand_in&) = delete;
  ~gl_stand_in() { current_ = before_; }

  /// The one that is current in the calling thread, or null.
  static const gl_stand_in* current() noexcept { return current_; }

  /// Makes a buffer of zeros, and returns its name.
  unsigned make_buffer(std::size_t bytes) {
    auto made = std::make_shared<driver::gl_object>();
    made->bytes.resize(bytes);
    return add(std::move(made));
  }
  /// Makes an image of zeros, and returns its name.
  unsigned make_image(const gl_image& image) {
    auto made = std::make_shared<driver::gl_object>();
    made->is_image = true;
    made->image = image;
    made->form = {image.width, image.height, image.depth, image.format, image.channels, 0};
    if (image.target == 0x8513) {  // GL_TEXTURE_CUBE_MAP
      made->form.Depth = 6;
      made->form.Flags = CUDA_ARRAY3D_CUBEMAP;
    } else if (image.target == 0x8c1a) {  // GL_TEXTURE_2D_ARRAY
      made->form.Flags = CUDA_ARRAY3D_LAYERED;
    }
    made->bytes.resize(made->offset(image.levels, 0));
    return add(std::move(made));
  }
  /// Deletes a buffer or an image.
  void remove(unsigned name) { objects_.erase(name); }

  /// Returns the contents of a buffer as OpenGL sees them; empty if no buffer has this name.
  std::span<std::byte> bytes(unsigned name) const {
    const auto found = find(name);
    return found ? std::span<std::byte>(found->bytes) : std::span<std::byte>();
  }
  /// The texels of an image, row by row: of a level, and there of a layer or a face.
  std::span<std::byte> texels(unsigned name, unsigned layer = 0, unsigned level = 0) const {
    const auto found = find(name);
    if (!found || !found->is_image || level >= found->image.levels || layer >= found->layers())
      return {};
    return std::span(found->bytes).subspan(found->offset(level, layer), found->part_bytes(level));
  }

  /// The object of a name, or null.
  std::shared_ptr<driver::gl_object> find(unsigned name) const {
    const auto found = objects_.find(name);
    return found == objects_.end() ? nullptr : found->second;
  }

 private:
  unsigned add(std::shared_ptr<driver::gl_object> object) {
    objects_.emplace(++last_name_, std::move(object));
    return last_name_;
  }

  inline static thread_local gl_stand_in* current_ = nullptr;
  gl_stand_in* before_;
  std::map<unsigned, std::shared_ptr<driver::gl_object>> objects_;
  unsigned last_name_ = 0;
};

}}  // namespace nogpu::v1
