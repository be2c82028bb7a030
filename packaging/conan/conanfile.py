import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy

required_conan_version = ">=2.0"


class GpuConan(ConanFile):
    name = "gpu"
    version = "0.1.0"
    license = "MIT"
    description = "CUDA for C++20: a header-only template library over the driver API and NVRTC"
    topics = ("cuda", "gpu", "nvrtc", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "header-library"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.compiler.get_safe("cppstd"):
            check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for what in ("TESTS", "EXAMPLES", "BENCHMARKS", "NOGPU"):
            toolchain.cache_variables["GPU_BUILD_" + what] = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # The package brings its own gpu-config.cmake, which finds cuda.h and has gpu::compiled and gpu::cpu_driver.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "gpu")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["dl", "pthread"]
