# Shared by scripts/quickstart and scripts/test: installs what is missing, once, and finds a
# CUDA toolkit or fetches the parts of one that are needed. Meant to be sourced, in the repository.

say() { printf '%s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# install PACKAGE...: installs Debian packages, or says which ones are to be installed.
install() {
  command -v apt-get > /dev/null 2>&1 ||
    die "Missing: $* (named as in Debian). Install them and run this again."
  [ "$(id -u)" -eq 0 ] || die "Missing packages. Run: sudo apt-get install $*   and then this again."
  say "Installing $*"
  local log=build/apt.log
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y \
      --no-install-recommends "$@"; } > $log 2>&1 < /dev/null; then
    tail -n 20 $log >&2
    die "apt-get failed; the whole log is in $log."
  fi
}

# need COMMAND PACKAGE [COMMAND PACKAGE]...: installs the packages whose commands (or files, where
# the name starts with a slash) are not there.
need() {
  local missing=()
  while [ $# -ge 2 ]; do
    if [[ $1 == /* ]]; then [ -e "$1" ]; else command -v "$1" > /dev/null 2>&1; fi || missing+=("$2")
    shift 2
  done
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

# The C++ compiler: $CXX, else g++ or clang++ if there is one, else g++ is installed.
need_compiler() {
  if [ -z "${CXX:-}" ]; then
    if command -v g++ > /dev/null 2>&1; then CXX=g++
    elif command -v clang++ > /dev/null 2>&1; then CXX=clang++
    else install g++; CXX=g++; fi
  fi
  export CXX
  printf 'int main() {}\n' | "$CXX" -std=c++20 -x c++ -fsyntax-only - 2> /dev/null ||
    die "$CXX does not compile C++20. Set CXX to a compiler that does (g++ 12 or clang++ 14 on)."
}

# Prints the number in `#define CUDA_VERSION` below folder $1, or nothing.
cuda_version_in() {
  sed -n 's/^#define CUDA_VERSION \([0-9]*\)$/\1/p' "$1/include/cuda.h" 2> /dev/null | head -n 1
}

# Succeeds if folder $1 has what is needed of a toolkit: the headers of CUDA 13 and NVRTC.
is_toolkit() {
  local version
  version=$(cuda_version_in "$1")
  [ -n "$version" ] && [ "$version" -ge 13000 ] || return 1
  compgen -G "$1/lib64/libnvrtc.so*" > /dev/null || compgen -G "$1/lib/libnvrtc.so*" > /dev/null
}

# Sets CUDA_PATH to a toolkit that is there already, or to NVIDIA's wheels below build/toolkit.
need_toolkit() {
  local folder nvcc wheels=$PWD/build/toolkit/nvidia/cu13
  local candidates=("${CUDA_PATH:-}" "${CUDAToolkit_ROOT:-}" "${CUDA_HOME:-}")
  if nvcc=$(command -v nvcc); then
    candidates+=("$(dirname "$(dirname "$(readlink -f "$nvcc")")")")
  fi
  candidates+=(/usr/local/cuda "$wheels")
  for folder in "${candidates[@]}"; do
    if [ -n "$folder" ] && is_toolkit "$folder"; then
      export CUDA_PATH=$folder CUDAToolkit_ROOT=$folder
      return
    fi
  done
  for folder in "${candidates[@]}"; do
    if [ -n "$folder" ] && [ -n "$(cuda_version_in "$folder")" ]; then
      say "$folder holds CUDA $(cuda_version_in "$folder"), older than 13.0 or without NVRTC."
    fi
  done
  say "No CUDA 13 toolkit here: fetching NVIDIA's wheels with its headers, NVRTC and nvJitLink (about 135 MB) into build/toolkit"
  fetch_wheels
  is_toolkit "$wheels" || die "The wheels in build/toolkit lack cuda.h or libnvrtc."
  export CUDA_PATH=$wheels CUDAToolkit_ROOT=$wheels
}

# A virtual environment of its own gives a pip; the user's Python stays as it is.
fetch_wheels() {
  python3 -c 'import ensurepip, venv' > /dev/null 2>&1 || install python3-venv
  if ! python3 -m venv --clear build/python > build/pip.log 2>&1; then
    tail -n 20 build/pip.log >&2
    die "python3 -m venv failed; the log is in build/pip.log."
  fi
  rm -rf build/toolkit
  if ! build/python/bin/pip install --quiet --no-deps --only-binary :all: \
      --target build/toolkit 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-nvrtc==13.0.*' \
      'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-cccl==13.0.*' \
      'nvidia-nvjitlink==13.0.*' >> build/pip.log 2>&1; then
    tail -n 20 build/pip.log >&2
    rm -rf build/toolkit
    die "pip could not fetch the wheels; the whole log is in build/pip.log." \
      "With a toolkit elsewhere on this machine, set CUDA_PATH to its folder."
  fi
}
