# Exchanges tensors of DLPack with the libraries that Python has here, both ways and in both forms:
# NumPy takes page-locked memory; PyTorch, CuPy and JAX exchange memory of a GPU. Checks that nothing is
# copied, types, shapes, strides, devices, that owners live as long as tensors and deleters are called
# once, and that streams wait for each other. Prints a line for each check: "ok", "failed" or "skipped",
# and a name. The argument is the library of dlpack_python.cpp. Python's headers are not needed: capsules
# are made with ctypes.

import ctypes
import gc
import importlib
import os
import struct
import sys
import time

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu")

i64, pointer_type, c_int = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int
lib = ctypes.CDLL(sys.argv[1])
for name, result, arguments in [
        ("on_gpu", c_int, []), ("last_message", ctypes.c_char_p, []), ("owners_ended", c_int, []),
        ("own_stream", i64, []),
        ("give", pointer_type, [c_int, c_int, ctypes.c_char_p, c_int, c_int, c_int, i64]),
        ("give_late", pointer_type, [c_int, i64]), ("take", pointer_type, [pointer_type, c_int, c_int]),
        ("describe", None, [pointer_type, ctypes.POINTER(i64)]),
        ("read_elements", c_int, [pointer_type, ctypes.c_char_p]), ("drop", None, [pointer_type]),
        ("take_sum", ctypes.c_double, [pointer_type, c_int]),
        ("take_and_add_one", c_int, [pointer_type, c_int])]:
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [pointer_type, ctypes.c_char_p, pointer_type]
python.PyCapsule_GetPointer.restype = pointer_type
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAMES = {0: b"dltensor_versioned", 1: b"dltensor"}
USED = {0: b"used_dltensor_versioned", 1: b"used_dltensor"}
FORMS = {0: "DLPack 1", 1: "DLPack 0.6"}
CUDA, CUDA_HOST = 2, 3
READ_ONLY = 1
WHOLE, TRANSPOSED, EVERY_SECOND, READ_ONLY_VIEW, PAGE_LOCKED = range(5)
ROWS, COLUMNS = 3, 4


# The structures as dlpack.h has them.
class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", pointer_type), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)),
                ("byte_offset", ctypes.c_uint64)]


class Old(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", pointer_type), ("deleter", pointer_type)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", pointer_type),
                ("deleter", pointer_type), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


DELETER = ctypes.CFUNCTYPE(None, pointer_type)

# Name, DLPack's code and bits, and the form of `struct`; the order is that of dlpack_python.cpp.
TYPES = [("bool", 6, 8, "?"), ("int8", 0, 8, "b"), ("uint8", 1, 8, "B"), ("int16", 0, 16, "h"),
         ("uint16", 1, 16, "H"), ("int32", 0, 32, "i"), ("uint32", 1, 32, "I"), ("int64", 0, 64, "q"),
         ("uint64", 1, 64, "Q"), ("float16", 2, 16, "e"), ("bfloat16", 4, 16, None), ("float32", 2, 32, "f"),
         ("float64", 2, 64, "d"), ("complex64", 5, 64, "ff"), ("complex128", 5, 128, "dd")]
FLOAT = 11


def element(type, i):
    """The bytes of the number i; of i - i j for complex types."""
    name, _, _, form = TYPES[type]
    if name == "bool":
        return struct.pack("?", i % 2 == 1)
    if name == "bfloat16":
        return struct.pack("<f", i)[2:]
    return struct.pack("<" + form, *([i, -i] if len(form) == 2 else [i]))


def matrix_bytes(type, order=None):
    order = range(ROWS * COLUMNS) if order is None else order
    return b"".join(element(type, i) for i in order)


ORDERS = {WHOLE: ((3, 4), (4, 1), list(range(12))),
          READ_ONLY_VIEW: ((3, 4), (4, 1), list(range(12))),
          TRANSPOSED: ((4, 3), (1, 4), [r * 4 + c for c in range(4) for r in range(3)]),
          EVERY_SECOND: ((3, 2), (4, 2), [r * 4 + c for r in range(3) for c in (0, 2)])}


def struct_of(pointer, old):
    return ctypes.cast(pointer, ctypes.POINTER(Old if old else Versioned)).contents


class Given:
    """An object that Python's libraries take: it makes its tensor when they ask for it. `old` makes it
    one that does not know of versions."""

    def __init__(self, make, old=False, device=CUDA):
        self.make, self.old, self.device = make, old, device
        self.stream = self.address = self.form = self.capsule = None
        self.asked = False

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None, **more):
        if self.old and "max_version" in more:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        version = more.get("max_version")
        old = 0 if version is not None and version[0] >= 1 else 1
        self.stream, self.form, self.asked = stream, old, True
        pointer = self.make(old, -1 if stream is None else stream)
        if not pointer:
            raise BufferError(lib.last_message().decode())
        self.address = struct_of(pointer, old).tensor.data
        self.capsule = python.PyCapsule_New(pointer, NAMES[old], None)
        return self.capsule

    def delete_refused(self):
        """Ends a tensor that nobody took."""
        if self.capsule is not None and python.PyCapsule_IsValid(self.capsule, NAMES[self.form]):
            pointer = python.PyCapsule_GetPointer(self.capsule, NAMES[self.form])
            DELETER(struct_of(pointer, self.form).deleter)(pointer)


def given(type, way, old=False):
    return Given(lambda form, stream: lib.give(type, way, matrix_bytes(type), ROWS, COLUMNS, form, stream),
                 old, CUDA_HOST if way == PAGE_LOCKED else CUDA)


class Taken:
    """The tensor of an object of Python's, in one form, whose deleter is counted."""

    def __init__(self, x, old, stream=None):
        keywords = {} if old else {"max_version": (1, 0)}
        capsule = x.__dlpack__(stream=lib.own_stream() if stream is None else stream, **keywords)
        self.old = 1 if python.PyCapsule_IsValid(capsule, NAMES[1]) else 0
        if self.old != (1 if old else 0):
            raise Skipped("gives only " + FORMS[self.old])
        self.pointer = python.PyCapsule_GetPointer(capsule, NAMES[self.old])
        python.PyCapsule_SetName(capsule, USED[self.old])
        self.deleted = 0
        tensor = struct_of(self.pointer, self.old)
        original = DELETER(tensor.deleter)

        def delete(pointer):
            self.deleted += 1
            original(pointer)
        self.callback = DELETER(delete)
        tensor.deleter = ctypes.cast(self.callback, pointer_type).value

    def struct(self):
        return struct_of(self.pointer, self.old)

    def delete(self):
        DELETER(self.struct().deleter)(self.pointer)


class Skipped(Exception):
    pass


def check(name, test, *arguments):
    try:
        test(*arguments)
        outcome, reason = "ok", ""
    except Skipped as why:
        outcome, reason = "skipped", ": %s" % why
    except Exception as error:
        line = error.__traceback__
        while line.tb_next is not None:
            line = line.tb_next
        outcome, reason = "failed", ": line %d: %s %s" % (line.tb_lineno, type(error).__name__,
                                                         " ".join(str(error).split())[:300])
    print("%s %s%s" % (outcome, name, reason), flush=True)


def require(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(each) for each in what))


def equal(found, expected, what):
    require(found == expected, what, "is", found, "and not", expected)


def ends(before, what, count=1):
    """Waits until an owner has ended; libraries may let go of it a little later."""
    for _ in range(100):
        gc.collect()
        if lib.owners_ended() - before >= count:
            break
        time.sleep(0.02)
    equal(lib.owners_ended() - before, count, what)


# The tensors themselves, without a library: what any consumer reads.

def tensor_is_sound(type, way, old):
    before = lib.owners_ended()
    pointer = lib.give(type, way, matrix_bytes(type), ROWS, COLUMNS, old, -1)
    if way == READ_ONLY_VIEW and old:
        require(not pointer and b"before 1.0 cannot say" in lib.last_message(), "the older form of read-only elements")
        return
    require(pointer, lib.last_message())
    made = struct_of(pointer, old)
    tensor = made.tensor
    if not old:
        equal(made.major, 1, "the major version")
        equal(made.flags, READ_ONLY if way == READ_ONLY_VIEW else 0, "flags")
    equal((tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes), TYPES[type][1:3] + (1,), "the type")
    if way == PAGE_LOCKED:
        equal((tensor.device.type, tensor.ndim, tensor.shape[0], tensor.strides[0]), (CUDA_HOST, 1, 12, 1), "the tensor")
        equal(ctypes.string_at(tensor.data + tensor.byte_offset, len(matrix_bytes(type))), matrix_bytes(type), "elements")
        DELETER(made.deleter)(pointer)
        return
    shape, strides, _ = ORDERS[way]
    equal((tensor.device.type, tensor.device.id), (CUDA, 0), "the device")
    equal(tuple(tensor.shape[:tensor.ndim]), shape, "the shape")
    equal(tuple(tensor.strides[:tensor.ndim]), strides, "strides")
    equal(lib.owners_ended(), before, "the number of owners that ended")
    # And back: the library sees the same memory, and calls the deleter once.
    taken = lib.take(pointer, type, old)
    require(taken, lib.last_message())
    out = (i64 * 5)()
    lib.describe(taken, out)
    equal(list(out), [tensor.data + tensor.byte_offset, *shape, *strides], "what came back")
    equal(lib.owners_ended(), before, "the number of owners that ended")
    lib.drop(taken)
    equal(lib.owners_ended(), before + 1, "the number of owners that ended")


# With a library of Python's. Each adapter says how to read an array of it.

class NumPy:
    refuses = ("bfloat16",)

    def __init__(self, module):
        self.module = module

    def from_dlpack(self, x):
        return self.module.from_dlpack(x)

    def dtype(self, x):
        return str(x.dtype)

    def pointer(self, x):
        return x.ctypes.data

    def bytes(self, x):
        return x.tobytes()


class Torch:
    strided = True
    refuses = (READ_ONLY_VIEW,)

    def __init__(self, module):
        self.module = module

    def from_dlpack(self, x):
        return self.module.from_dlpack(x)

    def dtype(self, x):
        return str(x.dtype).split(".")[1]

    def pointer(self, x):
        return x.data_ptr()

    def layout(self, x):
        return tuple(x.shape), tuple(x.stride()), x.device.index

    def bytes(self, x):
        host = x.cpu().contiguous()
        return ctypes.string_at(host.data_ptr(), host.numel() * host.element_size())

    def make(self, type):
        dtype = getattr(self.module, TYPES[type][0])
        host = self.module.frombuffer(bytearray(matrix_bytes(type)), dtype=dtype)
        return host.reshape(ROWS, COLUMNS).to("cuda")

    def transposed(self, x):
        return x.t()

    def total(self, x):
        return float(x.sum())

    def late(self):
        """A matrix that another stream fills after a while, and that stream."""
        x = self.module.zeros((64, 64), device="cuda")
        self.module.cuda.synchronize()
        side = self.module.cuda.Stream()
        with self.module.cuda.stream(side):
            self.module.cuda._sleep(400_000_000)
            x.fill_(3)
        return x, lambda: self.module.cuda.stream(side)

    def own_stream(self):
        side = self.module.cuda.Stream()
        return self.module.cuda.stream(side), side.cuda_stream


class CuPy:
    strided = True
    refuses = ("bfloat16", READ_ONLY_VIEW)

    def __init__(self, module):
        self.module = module

    def from_dlpack(self, x):
        return self.module.from_dlpack(x)

    def dtype(self, x):
        return str(x.dtype)

    def pointer(self, x):
        return x.data.ptr

    def layout(self, x):
        return tuple(x.shape), tuple(each // x.itemsize for each in x.strides), x.device.id

    def bytes(self, x):
        return x.get().tobytes()

    def make(self, type):
        numpy = importlib.import_module("numpy")
        dtype = numpy.dtype(TYPES[type][0])
        return self.module.asarray(numpy.frombuffer(matrix_bytes(type), dtype=dtype).reshape(ROWS, COLUMNS))

    def transposed(self, x):
        return x.T

    def total(self, x):
        return float(x.sum())

    def late(self):
        x = self.module.zeros((64, 64), dtype=self.module.float32)
        self.module.cuda.Device().synchronize()
        side = self.module.cuda.Stream(non_blocking=True)
        with side:
            side.launch_host_func(lambda _: time.sleep(0.3), None)
            x.fill(3)
        return x, lambda: side

    def own_stream(self):
        side = self.module.cuda.Stream(non_blocking=True)
        return side, side.ptr


class Jax:
    # Its arrays are dense, with axes in any order, and must not be written.
    strided = False
    # It asks for the older form alone, in which elements cannot be read-only.
    refuses = (EVERY_SECOND, READ_ONLY_VIEW)

    def __init__(self, module):
        self.module = module
        self.numpy = importlib.import_module("numpy")
        self.device = module.devices("cuda")[0]

    def from_dlpack(self, x):
        return importlib.import_module("jax.dlpack").from_dlpack(x)

    def dtype(self, x):
        return str(x.dtype)

    def pointer(self, x):
        return x.unsafe_buffer_pointer()

    def layout(self, x):
        return tuple(x.shape), None, x.devices().pop().id

    def bytes(self, x):
        return self.numpy.asarray(x).tobytes()

    def make(self, type):
        dtype = self.module.numpy.dtype(TYPES[type][0])
        host = self.numpy.frombuffer(matrix_bytes(type), dtype=dtype).reshape(ROWS, COLUMNS)
        return self.module.device_put(host, self.device).block_until_ready()

    def total(self, x):
        return float(x.sum())


def refused(library, error, *what):
    """Passes on an error, unless the library is known not to take such tensors."""
    if not any(each in library.refuses for each in what):
        raise error
    raise Skipped("it refuses that: " + " ".join(str(error).split())[:120])


def library_takes(library, type, way, old):
    """Ours to Python's."""
    before = lib.owners_ended()
    source = given(type, way, old)
    if way == READ_ONLY_VIEW and old:
        raise Skipped("the older form has no flag")
    try:
        x = library.from_dlpack(source)
    except Exception as error:
        source.delete_refused()
        if way != PAGE_LOCKED:
            ends(before, "owners that ended after a refusal", 1 if source.asked else 0)
        refused(library, error, TYPES[type][0], way)
    equal(source.form, 1 if old else source.form, "the form that was asked for")
    equal(library.dtype(x), TYPES[type][0], "the type")
    if way == PAGE_LOCKED:
        equal(library.pointer(x), source.address, "the address")
        equal(library.bytes(x), matrix_bytes(type), "elements")
        return
    shape, strides, order = ORDERS[way]
    equal(library.pointer(x), source.address, "the address")
    found = library.layout(x)
    equal(found[0], shape, "the shape")
    if found[1] is not None:
        equal(found[1], strides, "strides")
    equal(found[2], 0, "the device")
    equal(library.bytes(x), matrix_bytes(type, order), "elements")
    equal(lib.owners_ended(), before, "owners that ended too early")
    del x
    ends(before, "owners that ended")


def library_gives(library, type, old):
    """Python's to ours."""
    try:
        x = library.make(type)
        taken = Taken(x, old)
    except Skipped:
        raise
    except Exception as error:
        refused(library, error, TYPES[type][0])
    tensor = taken.struct().tensor
    equal((tensor.dtype.code, tensor.dtype.bits), TYPES[type][1:3], "the type")
    equal((tensor.device.type, tensor.device.id), (CUDA, 0), "the device")
    ours = lib.take(taken.pointer, type, taken.old)
    require(ours, lib.last_message())
    out = (i64 * 5)()
    lib.describe(ours, out)
    equal(list(out), [library.pointer(x), ROWS, COLUMNS, COLUMNS, 1], "what came in")
    # The elements stay while the object of Python's is gone and others take memory.
    del x
    gc.collect()
    others = [library.make(type) for _ in range(8)]
    host = ctypes.create_string_buffer(len(matrix_bytes(type)))
    equal(lib.read_elements(ours, host), 0, lib.last_message())
    equal(host.raw, matrix_bytes(type), "elements")
    equal(taken.deleted, 0, "the number of deletions")
    lib.drop(ours)
    equal(taken.deleted, 1, "the number of deletions")
    del others


def library_computes(library, old):
    x = library.make(FLOAT)
    taken = Taken(x, old)
    equal(lib.take_sum(taken.pointer, taken.old), 66, "the sum")
    equal(taken.deleted, 1, "the number of deletions")
    if not library.strided:
        taken = Taken(x, old)
        if taken.old == 0 and taken.struct().flags & READ_ONLY:
            equal(lib.take_and_add_one(taken.pointer, taken.old), -1, "an attempt to write read-only elements")
            require(b"must not be written" in lib.last_message(), lib.last_message())
        else:
            taken.delete()
        return
    taken = Taken(library.transposed(x), old)
    equal(lib.take_and_add_one(taken.pointer, taken.old), 0, lib.last_message())
    equal(library.bytes(x), b"".join(element(FLOAT, i + 1) for i in range(12)), "elements after + 1")


def library_waits(library, old):
    """The consumer's stream waits for ours, which writes late."""
    before = lib.owners_ended()
    scope, handle = library.own_stream() if hasattr(library, "own_stream") else (None, None)
    source = Given(lib.give_late, old)
    if scope is None:
        x = library.from_dlpack(source)
        equal(library.total(x), 7 * 64 * 64, "the sum")
    else:
        with scope:
            x = library.from_dlpack(source)
            equal(source.stream, handle, "the stream that was handed over")
            equal(library.total(x), 7 * 64 * 64, "the sum")
    del x
    ends(before, "owners that ended")


def library_is_waited_for(library, old):
    """Our stream waits for the producer's, which writes late."""
    if not hasattr(library, "late"):
        raise Skipped("no way to delay its work")
    x, scope = library.late()
    with scope():
        taken = Taken(x, old)
    equal(lib.take_sum(taken.pointer, taken.old), 3 * 64 * 64, "the sum")


on_gpu = lib.on_gpu() == 1
for type, (name, *_) in enumerate(TYPES):
    for old in (0, 1):
        for way, words in ((WHOLE, "a matrix"), (PAGE_LOCKED, "page-locked")):
            check("tensor: %s, %s, %s" % (words, name, FORMS[old]), tensor_is_sound, type, way, old)
for old in (0, 1):
    for way, words in ((TRANSPOSED, "transposed"), (EVERY_SECOND, "every second column"), (READ_ONLY_VIEW, "read-only")):
        check("tensor: %s, %s" % (words, FORMS[old]), tensor_is_sound, FLOAT, way, old)

for name, adapter in (("numpy", NumPy), ("torch", Torch), ("cupy", CuPy), ("jax", Jax)):
    try:
        module = importlib.import_module(name)
    except ImportError:
        print("skipped %s: it is not here" % name)
        continue
    if name != "numpy" and not on_gpu:
        print("skipped %s: it needs a GPU" % name)
        continue
    try:
        library = adapter(module)
    except Exception as error:
        print("failed %s: %s" % (name, " ".join(str(error).split())[:300]))
        continue
    for old in (False, True):
        form = FORMS[1 if old else 0]
        for type, (type_name, *_) in enumerate(TYPES):
            way = PAGE_LOCKED if name == "numpy" else WHOLE
            check("%s takes %s, %s" % (name, type_name, form), library_takes, library, type, way, old)
            if name != "numpy":
                check("%s gives %s, %s" % (name, type_name, form), library_gives, library, type, old)
        if name == "numpy":
            continue
        for way, words in ((TRANSPOSED, "a transposed matrix"), (EVERY_SECOND, "every second column"),
                           (READ_ONLY_VIEW, "read-only elements")):
            check("%s takes %s, %s" % (name, words, form), library_takes, library, FLOAT, way, old)
        check("%s computes with us, %s" % (name, form), library_computes, library, old)
        check("%s waits for our stream, %s" % (name, form), library_waits, library, old)
        check("our stream waits for %s, %s" % (name, form), library_is_waited_for, library, old)
