// Parts that texture and surface instructions share: their lists of slots, and finding the texels
// of a handle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <nogpu/machine/image.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The list of slots of a texture or surface instruction. It begins with up to four values that the
/// instruction returns or takes; `no_slot` stands for a value that is ignored or missing.
struct image_list {
  static constexpr std::size_t coordinates = 4;
  static constexpr std::size_t level = 8;
  static constexpr std::size_t gradient_x = 8;
  static constexpr std::size_t gradient_y = 12;
  static constexpr std::size_t offsets = 16;
  static constexpr std::size_t size = 20;
};

/// Four values of a lane; missing ones are 0.
inline std::array<std::uint32_t, 4> read_words(const warp& w, const std::uint32_t* slots,
                                               unsigned lane) {
  std::array<std::uint32_t, 4> words{};
  for (std::size_t n = 0; n < 4; ++n)
    if (slots[n] != no_slot) words[n] = read_lane<std::uint32_t>(w.registers, slots[n], lane);
  return words;
}

/// An element of 1, 2, 4 or 8 bytes.
inline std::uint64_t fetch_sized(const located& at, std::uint32_t offset, std::uint32_t size) {
  switch (size) {
    case 1: return fetch<std::uint8_t>(at, offset);
    case 2: return fetch<std::uint16_t>(at, offset);
    case 4: return fetch<std::uint32_t>(at, offset);
    default: return fetch<std::uint64_t>(at, offset);
  }
}

inline void put_sized(const located& at, std::uint32_t offset, std::uint32_t size,
                      std::uint64_t value) {
  switch (size) {
    case 1: return put(at, offset, static_cast<std::uint8_t>(value));
    case 2: return put(at, offset, static_cast<std::uint16_t>(value));
    case 4: return put(at, offset, static_cast<std::uint32_t>(value));
    default: return put(at, offset, value);
  }
}

/// Finds the object of a handle; the lanes of a warp mostly have the same.
template <class Object> class image_lookup {
 public:
  /// The object that the handle of a lane names, or null with a fault noted.
  const Object* find(warp& w, const decoded& d, unsigned lane) {
    const auto handle = read_lane<std::uint64_t>(w.registers, d.slots[1], lane);
    if (object_ && handle == handle_) return object_.get();
    handle_ = handle;
    const image_table* images = w.block->grid->what->images;
    if (images != nullptr) object_ = look_up(*images, handle, static_cast<Object*>(nullptr));
    if (!object_)
      (void)fail(w, fault_kind::no_such_image, lane,
                 images == nullptr ? hexadecimal(handle) + " is not an object of this machine"
                                   : images->why_not(handle, std::is_same_v<Object, texture>));
    return object_.get();
  }

  /// Returns the lanes that have the handle that was found last.
  lane_mask having_last(const warp& w, const decoded& d) const {
    lane_mask lanes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane)
      if (read_lane<std::uint64_t>(w.registers, d.slots[1], lane) == handle_)
        lanes |= lane_mask{1} << lane;
    return lanes;
  }

 private:
  static std::shared_ptr<const texture> look_up(const image_table& images, std::uint64_t handle,
                                                texture*) {
    return images.find_texture(handle);
  }
  static std::shared_ptr<const surface> look_up(const image_table& images, std::uint64_t handle,
                                                surface*) {
    return images.find_surface(handle);
  }

  std::uint64_t handle_ = 0;
  std::shared_ptr<const Object> object_;
};

/// Returns whether an object has the shape that an instruction is made for. Surface instructions
/// treat the faces of cubes as layers. Linear memory is read with integer coordinates, a
/// one-dimensional array with floating-point ones; the hardware returns zeros if they are mixed up.
inline bool shape_fits(const image& source, const ptx::instruction& i) {
  using enum ptx::image_geometry;
  const bool of_surface = i.op >= ptx::opcode::suld;
  const bool layered = source.layered || (of_surface && source.shape == image_shape::cube);
  switch (i.with.geometry) {
    case d1:
      return source.shape == image_shape::one && !layered &&
             (of_surface ||
              (source.origin == image_origin::linear) == (i.types[1] == ptx::type::s32));
    case d2: return source.shape == image_shape::two && !layered;
    case d3: return source.shape == image_shape::three;
    case a1d: return source.shape == image_shape::one && layered;
    case a2d:
      return (source.shape == image_shape::two || source.shape == image_shape::cube) && layered &&
             (of_surface || source.shape == image_shape::two);
    case cube: return source.shape == image_shape::cube && !layered;
    case acube: return source.shape == image_shape::cube && layered;
    case none: break;
  }
  return true;
}

inline std::string name_of(const image& source) {
  if (source.origin == image_origin::linear) return "linear memory";
  static constexpr const char* names[] = {"1-dimensional array", "2-dimensional array",
                                          "3-dimensional array", "cube map"};
  return (source.layered ? std::string("a layered ") : std::string("a ")) +
         names[static_cast<std::size_t>(source.shape)];
}

/// Notes a fault if the object does not have the shape that the instruction is for.
inline bool check_shape(warp& w, const decoded& d, unsigned lane, const image& source,
                        const std::string& site) {
  if (shape_fits(source, *d.source)) return true;
  (void)fail(w, fault_kind::wrong_image_shape, lane,
             "the object made by " + site + " is " + name_of(source));
  return false;
}

}}}  // namespace nogpu::v1::machine::detail
