# Exchanges tensors of DLPack with the libraries that Python has here: NumPy takes page-locked memory,
# and PyTorch, CuPy and JAX memory of the GPU, both ways, without a copy. Prints a line for each
# library; what is not here is skipped. The argument is the library of dlpack_python.cpp.

import ctypes
import importlib
import sys

lib = ctypes.CDLL(sys.argv[1])
lib.last_message.restype = ctypes.c_char_p
lib.own_stream.restype = ctypes.c_int64
lib.give_pinned.restype = ctypes.c_void_p
lib.give_matrix.restype = ctypes.c_void_p
lib.give_matrix.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
lib.take_sum.restype = ctypes.c_double
lib.take_sum.argtypes = lib.take_and_add_one.argtypes = [ctypes.c_void_p, ctypes.c_int]

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAMES = {0: b"dltensor_versioned", 1: b"dltensor"}
USED = {0: b"used_dltensor_versioned", 1: b"used_dltensor"}
CUDA, CUDA_HOST = 2, 3


class Given:
    """An object that Python's libraries take: it makes its tensor when they ask for it."""

    def __init__(self, device, make):
        self.device, self.make = device, make

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        old = 0 if max_version is not None and max_version[0] >= 1 else 1
        pointer = self.make(old, -1 if stream is None else stream)
        assert pointer, lib.last_message().decode()
        return python.PyCapsule_New(pointer, NAMES[old], None)


def take(tensor, function):
    """Passes a tensor of Python's to the library, which uses it on its own stream."""
    capsule = tensor.__dlpack__(stream=lib.own_stream())
    old = 1 if python.PyCapsule_IsValid(capsule, NAMES[1]) else 0
    pointer = python.PyCapsule_GetPointer(capsule, NAMES[old])
    python.PyCapsule_SetName(capsule, USED[old])
    result = function(pointer, old)
    assert result >= 0, lib.last_message().decode()
    return result


def numpy_takes_page_locked_memory(np):
    x = np.from_dlpack(Given(CUDA_HOST, lambda old, stream: lib.give_pinned(5, old)))
    assert x.dtype == np.int32 and x.tolist() == [0, 1, 2, 3, 4], x
    del x


def matrix_of(old, stream):
    return lib.give_matrix(3, 4, old, stream)


def torch_exchanges(torch):
    x = torch.from_dlpack(Given(CUDA, matrix_of))
    assert x.is_cuda and x.dtype == torch.float32 and tuple(x.stride()) == (4, 1)
    assert x.cpu().flatten().tolist() == list(range(12))
    y = torch.arange(6, dtype=torch.float32, device="cuda").reshape(2, 3)
    assert take(y, lib.take_sum) == 15
    assert take(y.t(), lib.take_and_add_one) == 0  # in place: there is no copy
    assert y.cpu().flatten().tolist() == [1, 2, 3, 4, 5, 6]
    assert float(x.sum()) == 66


def cupy_exchanges(cupy):
    x = cupy.from_dlpack(Given(CUDA, matrix_of))
    assert x.get().flatten().tolist() == list(range(12))
    y = cupy.arange(6, dtype=cupy.float32).reshape(2, 3)
    assert take(y, lib.take_sum) == 15
    assert take(y[:, ::2], lib.take_and_add_one) == 0
    assert y.get().flatten().tolist() == [1, 1, 3, 4, 4, 6]


def jax_exchanges(jax):
    x = jax.dlpack.from_dlpack(Given(CUDA, matrix_of))
    assert [float(e) for e in x.flatten()] == list(range(12))
    y = jax.numpy.arange(6, dtype=jax.numpy.float32).reshape(2, 3).block_until_ready()
    assert take(y, lib.take_sum) == 15


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


on_gpu = lib.on_gpu() == 1
tests = [("numpy", numpy_takes_page_locked_memory, False), ("torch", torch_exchanges, True),
         ("cupy", cupy_exchanges, True), ("jax", jax_exchanges, True)]
for name, test, needs_gpu in tests:
    module = library(name)
    if module is None or (needs_gpu and not on_gpu):
        print("skipped:", name, "is not here" if module is None else "needs a GPU")
        continue
    test(module)
    print("passed:", name)
