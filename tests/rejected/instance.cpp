// Types and values that have no name in device code.

#include <gpu/compiler.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/kernel.hpp>

namespace user {
struct point {
  int x;
};
struct named_otherwise;
template <class T, class U> struct pair {};
}  // namespace user
namespace {
struct hidden {};
}  // namespace
using without_name = decltype([] {});
extern int variable;

template <> struct gpu::device_name<user::named_otherwise> {
  static constexpr const char* value = "float3";
};
template <> struct gpu::device_name<gpu::value<user::point{7}>> {
  static constexpr const char* value = "point{7}";
};

gpu::result<> use(gpu::program& program, const gpu::module& code) {
  struct local {};
  enum local_enumeration { enumerator };
  const auto lambda = [] {};
  static_cast<void>(lambda);
  static_cast<void>(local{});

  program.instance(gpu::instance<user::point, 4>("f"));
  program.instance(gpu::instance<user::pair<user::point, user::named_otherwise>>("f"));
  program.instance(gpu::instance<user::point{7}>("f"));
  GPU_TRY(code.kernel<void(float*, int)>("f"));
  GPU_TRY(code.kernel<float*, int>("f"));

#ifdef GPU_REJECTED
#  if GPU_REJECTED == 1
  // expect 1: a lambda's type has no name in device code
  program.instance(gpu::instance<decltype(lambda)>("f"));
#  elif GPU_REJECTED == 2
  // expect 2: a type that is local to a function has no name in device code
  program.instance(gpu::instance<local>("f"));
#  elif GPU_REJECTED == 3
  // expect 3: a type in an anonymous namespace is a different one in each source
  program.instance(gpu::instance<hidden>("f"));
#  elif GPU_REJECTED == 4
  // expect 4: has no name in device code
  program.instance(gpu::instance<user::pair<int, local>>("f"));
#  elif GPU_REJECTED == 5
  // expect 5: a lambda's type has no name in device code
  program.instance(gpu::instance<without_name>("f"));
#  elif GPU_REJECTED == 6
  // expect 6: long double is double on the device
  program.instance(gpu::instance<const long double*>("f"));
#  elif GPU_REJECTED == 7
  // expect 7: a value of this type cannot be written in device code
  program.instance(gpu::instance<user::point{8}>("f"));
#  elif GPU_REJECTED == 8
  // expect 8: a value of this type cannot be written in device code
  program.instance(gpu::instance<&variable>("f"));
#  elif GPU_REJECTED == 9
  // expect 9: a type that is local to a function has no name in device code
  program.instance(gpu::overload<local*>("f"));
#  elif GPU_REJECTED == 10
  // expect 10: a type that is local to a function has no name in device code
  program.instance(gpu::instance<enumerator>("f"));
#  elif GPU_REJECTED == 11
  // expect 11: a type in an anonymous namespace is a different one in each source
  program.instance(gpu::instance<user::pair<hidden, float>*>("f"));
#  elif GPU_REJECTED == 12
  // expect 12: an unnamed type has no name in device code
  struct {
    int x;
  } unnamed;
  program.instance(gpu::instance<decltype(unnamed)>("f"));
#  elif GPU_REJECTED == 13
  // expect 13: a kernel's function type is void(Parameters...)
  GPU_TRY(code.kernel<int(float*)>("f"));
#  elif GPU_REJECTED == 14
  // A kernel does not take references: they would name the host's memory.
  // expect 14: is not a trivially copyable object
  GPU_TRY(code.kernel<void(const float&)>("f"));
#  elif GPU_REJECTED == 15
  // A type and a signature are one list too many.
  // expect 15: no matching
  GPU_TRY(code.kernel<void(float*), int>("f"));
#  endif
#endif
  return {};
}
