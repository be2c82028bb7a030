# Shared by the structure tests. Each is a script that runs checks and ends with `finish`; it prints
# a line for what failed or was skipped, and one line of counts that scripts/test adds up.
# Environment: CUDA_PATH (folder of the toolkit), CXX (the compiler), COMPILERS (those to check
# with, if more than CXX), QUICK (1 leaves out what takes long), THOROUGH (1 adds to it), STRUCTURE_BUILD (where files may be written), GPU_WERROR (ON makes warnings
# errors, as CI does; otherwise they are printed).

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

CXX=${CXX:-g++}
COMPILERS=${COMPILERS:-$CXX}
# Nothing that is run here may read or fill the cache of the user.
export GPU_CACHE=off
CUDA_PATH=${CUDA_PATH:-/usr/local/cuda}
STRUCTURE_BUILD=${STRUCTURE_BUILD:-$PWD/build/structure}
JOBS=${JOBS:-$(nproc)}
mkdir -p "$STRUCTURE_BUILD"
script=$(basename "$0")
passed=0 failed=0 skipped=0

WERROR=()
[ "${GPU_WERROR:-OFF}" = OFF ] || WERROR=(-Werror)
WARNINGS=(-Wall -Wextra -Wconversion -Wshadow -Wsign-conversion "${WERROR[@]}")
INCLUDES=(-I include -isystem "$CUDA_PATH/include")

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAILED %s: %s\n' "$script" "$*"; }
skip() { skipped=$((skipped + 1)); printf 'skipped %s: %s\n' "$script" "$*"; }

# check NAME COMMAND...: passes if the command does; shows its output if it does not. Tells the time of
# what takes long.
check() {
  local name=$1 output start=$SECONDS
  shift
  if output=$("$@" 2>&1); then pass; else fail "$name"; printf '%s\n' "$output" | head -n 40; fi
  tell_time "$name" $((SECONDS - start))
}
tell_time() { [ "$2" -lt 5 ] || printf '%4d s: %s\n' "$2" "$1"; }

# compiles COMMAND...: passes what is said of a failed compilation on. Warnings alone go to the log.
exec 3>&1
compiles() {
  local output code=0
  output=$("$@" 2>&1) || code=$?
  [ -z "$output" ] || printf '%s\n' "$output" >&$((code == 0 ? 3 : 1))
  return $code
}

# check_each FUNCTION NAME...: runs `FUNCTION NAME` for every name, several at a time. A function
# that prints nothing passes.
check_each() {
  local function=$1 results name start=$SECONDS
  shift
  results=$(mktemp -d "$STRUCTURE_BUILD/each.XXXXXX")
  for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
    "$function" "$name" > "$results/${name//\//%}" 2>&1 &
  done
  wait
  for name in "$@"; do
    if [ -s "$results/${name//\//%}" ]; then
      fail "$name"
      head -n 25 "$results/${name//\//%}"
    else
      pass
    fi
  done
  rm -rf "$results"
  tell_time "$function, $# times" $((SECONDS - start))
}

# precompile COMPILER HEADER OPTION...: writes HEADER.gch, which a compilation with `-include HEADER`
# and the same options takes instead.
precompile() {
  local once=()
  [[ $1 != *clang* ]] || once=(-fpch-instantiate-templates)  # g++ does it in each compilation
  "$1" "${@:3}" "${once[@]}" -x c++-header "$2" -o "$2.gch"
}

# driver_object: prints the name of an object with the CPU driver, for shared libraries too, without
# optimization. It is compiled once for all tests of the tree that need it; beside it, with the end .su in
# place of .o, are the sizes of stack frames.
driver_object() {
  local object=$STRUCTURE_BUILD/cpu_driver-${CXX##*/}.o
  (
    flock 9
    [ -e "$object" ] && [ -z "$(find include -newer "$object" -print -quit)" ] ||
      "$CXX" -std=c++20 -fPIC -fstack-usage "${WARNINGS[@]}" "${INCLUDES[@]}" \
        -c include/gpu/testing/cpu_driver.cpp -o "$object" >&2
  ) 9> "$object.lock" && printf '%s\n' "$object"
}

# section HEADING: of a document on standard input, what is below that heading of the second level.
section() { awk -v heading="## $1" '/^## / { inside = $0 == heading; next } inside'; }

# blocks LANGUAGE PREFIX: of a document on standard input, writes the code in that language to files,
# PREFIX-01.LANGUAGE and so on, and prints their names.
blocks() {
  mkdir -p "$(dirname "$2")"
  rm -f "$2"-*."$1"
  awk -v language="$1" -v prefix="$2" '
    $0 == "```" language { inside = 1; file = sprintf("%s-%02d.%s", prefix, ++n, language); next }
    /^```/ { if (inside) { close(file); print file }; inside = 0; next }
    inside { print > file }'
}

finish() {
  printf '%s: %d passed, %d failed, %d skipped\n' "$script" $passed $failed $skipped
  [ $failed -eq 0 ]
  exit
}
