// Texture and surface objects, and the table of their handles.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/allocation.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The number of an image's coordinates, without layers: see `image::layered`.
enum class image_shape : std::uint8_t { one, two, three, cube };

/// The memory of the texels. Linear memory is read like a one-dimensional array, but is neither
/// filtered nor wrapped, and may be wider; pitched memory is read like a two-dimensional array.
enum class image_origin : std::uint8_t { array, linear, pitched };

/// The meaning of a channel's bits. The normalized kinds (CU_AD_FORMAT_UNORM_INT8X1 and the like)
/// are read as floats in [0, 1] or [-1, 1] whatever the sampler says.
enum class channel_kind : std::uint8_t {
  unsigned_integer,
  signed_integer,
  floating,
  unsigned_normalized,
  signed_normalized,
};

/// A texel: `channels` values side by side, each of `channel_bytes` bytes.
struct texel_format {
  channel_kind kind = channel_kind::unsigned_integer;
  std::uint8_t channel_bytes = 1;  // 1, 2 or 4; 2 or 4 when floating
  std::uint8_t channels = 1;       // 1, 2 or 4
  constexpr std::uint32_t bytes() const noexcept {
    return std::uint32_t{channel_bytes} * std::uint32_t{channels};
  }
};

/// One level of detail. The texel (x, y, z) of layer l begins at
/// base + x * format.bytes() + y * row_pitch + (z + l) * slice_pitch; one of z and l is always 0.
/// `base` is an address in the `address_space` of the launch, so that bounds, rights, bytes never
/// written and freed memory are checked as for every other access.
struct image_level {
  address base = 0;
  std::uint64_t width = 1;  // texels; of one face of a cube
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  std::uint64_t row_pitch = 0;    // bytes
  std::uint64_t slice_pitch = 0;  // bytes, from slice to slice or from layer to layer
};

/// Texels in memory with their shape.
struct image {
  image_shape shape = image_shape::one;
  bool layered = false;
  image_origin origin = image_origin::array;
  texel_format format{};
  /// Layers, or 1. The faces of a cube count as layers, in the order +x, -x, +y, -y, +z, -z: 6 for
  /// a cube, 6 n for n layered cubes.
  std::uint32_t layers = 1;
  /// The finest first, at least one. A resource view has been applied: only its levels and layers
  /// are here.
  std::vector<image_level> levels{};
};

/// The treatment of coordinates outside the image.
enum class address_mode : std::uint8_t { wrap, clamp, mirror, border };

/// The way in which a texture is read, as in CUDA_TEXTURE_DESC.
struct sampler_state {
  std::array<address_mode, 3> address{};
  bool linear = false;                  // filterMode
  bool normalized_coordinates = false;  // CU_TRSF_NORMALIZED_COORDINATES
  bool read_as_integer = false;         // CU_TRSF_READ_AS_INTEGER: 8 and 16 bits stay integers
  bool srgb = false;                    // CU_TRSF_SRGB
  bool seamless_cube = false;           // CU_TRSF_SEAMLESS_CUBEMAP
  bool linear_levels = false;           // mipmapFilterMode
  float level_bias = 0;
  float least_level = 0;
  float greatest_level = 0;
  std::uint32_t anisotropy = 0;  // maxAnisotropy
  std::array<float, 4> border{};
};

struct texture {
  image source{};
  sampler_state how{};
  std::string site{};  // the code that made the object, for reports: "main.cpp:12"
};

/// A surface reads and writes the first level of its image.
struct surface {
  image source{};
  std::string site{};
};

/// The texture and surface objects of a driver. A handle is never used twice, so that the use of a
/// destroyed object is found. Threads: every member may be called from any thread at any time.
class image_table {
 public:
  /// A handle of its own for an object; never zero.
  std::uint64_t add(texture object) {
    const std::unique_lock lock(mutex_);
    textures_.emplace(++last_, std::make_shared<const texture>(std::move(object)));
    return last_;
  }
  std::uint64_t add(surface object) {
    const std::unique_lock lock(mutex_);
    surfaces_.emplace(++last_, std::make_shared<const surface>(std::move(object)));
    return last_;
  }

  /// Removes a texture; returns false if it does not exist. Grids that have looked it up continue
  /// to use it.
  bool remove_texture(std::uint64_t handle) {
    const std::unique_lock lock(mutex_);
    return textures_.erase(handle) != 0;
  }
  bool remove_surface(std::uint64_t handle) {
    const std::unique_lock lock(mutex_);
    return surfaces_.erase(handle) != 0;
  }

  /// The object, or null.
  std::shared_ptr<const texture> find_texture(std::uint64_t handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = textures_.find(handle);
    return found == textures_.end() ? nullptr : found->second;
  }
  std::shared_ptr<const surface> find_surface(std::uint64_t handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = surfaces_.find(handle);
    return found == surfaces_.end() ? nullptr : found->second;
  }

  /// Returns why a handle that was not found is wrong: "0x12 is a surface object, not a texture
  /// object".
  std::string why_not(std::uint64_t handle, bool wanted_texture) const {
    const std::shared_lock lock(mutex_);
    const std::string wanted = wanted_texture ? "texture object" : "surface object";
    const std::string name = detail::hexadecimal(handle);
    if (wanted_texture ? surfaces_.count(handle) != 0 : textures_.count(handle) != 0)
      return name + " is a " + (wanted_texture ? "surface object" : "texture object") + ", not a " +
             wanted;
    if (handle != 0 && handle <= last_) return name + " is a " + wanted + " that was destroyed";
    return name + " is no " + wanted;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const texture>> textures_;
  std::map<std::uint64_t, std::shared_ptr<const surface>> surfaces_;
  std::uint64_t last_ = 0;
};

}}}  // namespace nogpu::v1::machine
