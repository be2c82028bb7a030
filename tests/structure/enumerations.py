#!/usr/bin/env python3
# Every enumeration that stands for one of cuda.h has all of its values: an `enum class` whose
# enumerators are CU_... is compared with the `typedef enum` that they come from. And the name of
# each value is that of its enumerator, which a program finds out for all of them.
# CUDA_PATH says where cuda.h is, CXX which compiler to use, STRUCTURE_BUILD where the program goes.

import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")

# What an enumeration leaves out, and why that is right.
LEFT_OUT = {
    "CU_STREAM_WAIT_VALUE_FLUSH": "memory_operation::flush_remote_writes is the same",
    "CU_CTX_MAP_HOST": "every context maps host memory",
    "CU_LAUNCH_ATTRIBUTE_IGNORE": "launch_attributes has no gaps",
    "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY": "stream_attribute has it; launches do not",
    "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": "launch_config::cluster is the same",
}
# Stands for a part of its enumeration.
PARTS = {"stream_attribute": "CUlaunchAttributeID has those of launches, too"}
# No values, but marks of the end of a list, and of what was not given.
NO_VALUE = re.compile(r"_(MAX|INVALID)$")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def driver_enumerations(path):
    """The enumerations of cuda.h: name -> {enumerator: value}."""
    with open(path) as file:
        text = without_comments(file.read())
    found, values = {}, {}
    for body, name in re.findall(r"typedef\s+enum\s*\w*\s*\{([^{}]*)\}\s*(\w+)\s*;", text):
        following = 0
        found[name] = {}
        for item in re.sub(r"(?m)^\s*#.*$", "", body).split(","):
            enumerator, _, value = (" ".join(part.split()) for part in item.partition("="))
            if not enumerator:
                continue
            if value:
                known = re.sub(r"\b[A-Z]\w*\b", lambda m: str(values.get(m.group(), 0)), value)
                following = eval(re.sub(r"(?<=\d)[uU]\b|\(\w+\)(?=\d)", "", known))
            found[name][enumerator] = values[enumerator] = following
            following += 1
    return found


def with_lists(body):
    """The body of an enumeration, and what the lists that it includes hold."""
    for name in re.findall(r"#\s*include\s*<(gpu/[\w/]+\.inc)>", body):
        with open(os.path.join(ROOT, name)) as file:
            body += file.read()
    return without_comments(body)


def own_enumerations():
    """Those of the library: file, name, body, and the text of the whole file."""
    for folder, _, names in os.walk(os.path.join(ROOT, "gpu")):
        for name in sorted(names):
            if not name.endswith(".hpp") or "testing" in folder:
                continue
            path = os.path.join(folder, name)
            with open(path) as file:
                text = file.read()
            for own, body in re.findall(r"enum class (\w+)[^{};]*\{([^{}]*)\}", text):
                yield os.path.relpath(path, ROOT), own, with_lists(body), text


def walk(named, cuda):
    """Runs a program that asks for the name of each enumerator; returns what is wrong."""
    folder = os.environ.get("STRUCTURE_BUILD", "/tmp")
    source, program = (os.path.join(folder, "enumerations" + end) for end in (".cpp", ""))
    os.makedirs(folder, exist_ok=True)
    with open(source, "w") as file:
        for path in sorted({path for path, _, _ in named}):
            file.write(f"#include <{path}>\n")
        file.write("#include <cstdio>\n#include <cstring>\nint main() {\n  int wrong = 0;\n")
        file.write("  const auto check = [&](const char* is, const char* should) {\n"
                   "    if (is != nullptr && std::strcmp(is, should) == 0) return;\n"
                   '    std::printf("the name of %s is %s\\n", should, is ? is : "missing");\n'
                   "    ++wrong;\n  };\n")
        for _, own, enumerator in named:
            name = enumerator.rstrip("_")
            file.write(f'  check(gpu::name_of(gpu::{own}::{enumerator}), "{name}");\n')
        file.write("  return wrong;\n}\n")
    include = ["-I", ROOT, "-isystem", os.path.join(cuda, "include")]
    compiler = os.environ.get("CXX", "c++").split()
    for command in compiler + ["-std=c++20", *include, source, "-o", program, "-ldl"], [program]:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return (done.stdout + done.stderr).splitlines()
    return []


def main():
    cuda = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    header = os.path.join(cuda, "include", "cuda.h")
    theirs = driver_enumerations(header)
    home = {constant: name for name, all_of in theirs.items() for constant in all_of}
    compared, named, wrong = 0, [], []
    for path, own, body, text in own_enumerations():
        used = [c for c in re.findall(r"\bCU[A-Z]*_\w+\b", body) if c in home]
        if not used:
            continue
        compared += 1
        of = max({home[c] for c in used}, key=lambda name: sum(home[c] == name for c in used))
        have = {theirs[home[c]][c] for c in used}
        for constant, value in ({} if own in PARTS else theirs[of]).items():
            if value not in have and constant not in LEFT_OUT and not NO_VALUE.search(constant):
                wrong.append(f"{path}: {own} has no {constant} of {of}")
        flags = f"is_flag_set<{own}>" in text
        if not flags and not re.search(rf"name_of\({own}\b", text):
            wrong.append(f"{path}: {own} has no name_of")
        elif not flags and "GPU_" not in body:  # not one made of a list, which has its own test
            named += [(path, own, e) for e in re.findall(r"(?:^|,)\s*(\w+)", body)]
    wrong += walk(named, cuda)
    for line in wrong:
        print(line)
    if compared < 40:
        print(f"only {compared} enumerations of the library stand for one of {header}")
        return 1
    print(f"{compared} enumerations were compared with cuda.h, and {len(named)} names with values")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
