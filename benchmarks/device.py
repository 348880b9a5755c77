"""Kernel rows on another device: what they cost there and here, and what a fit gains.

    python benchmarks/device.py                      NumPy, and whatever of torch (with CUDA) and cupy is installed
    python benchmarks/device.py --devices torch:cuda,cupy --points 60000 --features 50,784
    python benchmarks/device.py --fits 8000,60000 --results device_mine      fits of two sizes, in a file of their own

Three tables.  The parts of a row: multiply-adds, exponentials and the way to the processor's memory, each as a rate.
Rows by number of features: nanoseconds an entry, as measured and as the rates let expect.  A fit: seconds, and the
share of them that rows take, which bounds what a faster device can save.
"""

import argparse
import importlib.util
import time
from contextlib import contextmanager

import numpy as np
from common import Results, compile_native, gaussians

import convex_tsvm as ct
from convex_tsvm.kernels import Device, DeviceRows, ProductRows

#: Bytes a second, above which nothing is copied.
MOST_BYTES = 1e12

#: Rows asked for at a time, as a working set does.
ROWS = 512


def devices():
    """Those that are here."""
    found = ["numpy"]
    if importlib.util.find_spec("torch"):
        import torch

        found += ["torch", *(["torch:cuda"] if torch.cuda.is_available() else [])]
    if importlib.util.find_spec("cupy"):
        found.append("cupy")
    return found


def card(name):
    """The name of a device with that of the graphics processor, where it is one."""
    library, _, place = name.partition(":")
    if library == "torch" and place.startswith("cuda"):
        import torch

        return f"{name} ({torch.cuda.get_device_name(place)}, PyTorch {torch.__version__})"
    if library == "cupy":
        import cupy

        found = cupy.cuda.runtime.getDeviceProperties(int(place or 0))["name"].decode()
        return f"{name} ({found}, CuPy {cupy.__version__})"
    return name


def seconds(run, least=0.4):
    """The median of repeated runs, for about so many seconds, after one that compiles and allocates."""
    run()
    spent = []
    while sum(spent) < least or len(spent) < 3:
        began = time.perf_counter()
        run()
        spent.append(time.perf_counter() - began)
    return float(np.median(spent))


def rates(device, n):
    """Multiply-adds, exponentials and bytes to memory, of single precision, per second.

    ``get`` of one number waits for what was started before it.
    """
    xp, random = device.xp, np.random.default_rng(0)
    left = device.put(random.standard_normal((ROWS, 1024)).astype(np.float32))
    right = device.put(random.standard_normal((n, 1024)).astype(np.float32))
    values = -xp.abs(xp.matmul(left, right.T))
    product = seconds(lambda: device.get(xp.matmul(left, right.T)[:1, :1]))
    exponential = seconds(lambda: device.get(xp.exp(values)[:1, :1]))
    way = 4 * ROWS * n / seconds(lambda: device.get(values))
    # A library that works in the processor's memory hands over its own array.
    return ROWS * n * 1024 / product, ROWS * n / exponential, way if way < MOST_BYTES else np.inf


def rows_of(name, kernel, X):
    """The source of rows: the library's own by NumPy, or one of another device."""
    return ProductRows(kernel, X, np.float32) if name == "ours" else DeviceRows(kernel, X, np.float32, Device(name))


@contextmanager
def time_in_rows(kind):
    """A list whose one number is the seconds that a source of rows works inside; nested calls count once."""
    spent, depth = [0.0], [0]
    names = ("rows", "block", "full", "mean", "combine", "times")
    own = {name: getattr(kind, name) for name in names}

    def timed(name):
        def call(self, *given):
            depth[0] += 1
            began = time.perf_counter()
            try:
                return own[name](self, *given)
            finally:
                depth[0] -= 1
                spent[0] += (time.perf_counter() - began) * (depth[0] == 0)

        return call

    kept = {name: kind.__dict__[name] for name in names if name in kind.__dict__}
    for name in names:
        setattr(kind, name, timed(name))
    try:
        yield spent
    finally:
        for name in names:
            delattr(kind, name)
        for name, method in kept.items():
            setattr(kind, name, method)


def fits(out, names, n, d):
    """Seconds of a fit, and how many of them are rows."""
    X, truth = gaussians(n)
    X = np.hstack([X, np.random.default_rng(1).standard_normal((n, d - X.shape[1])) / 10]) if d > X.shape[1] else X
    problem = ct.Problem(X, np.where(np.arange(n) < 50, truth, 0.0), kernel=ct.RBF(17.0), C=10)
    for name in names:
        with time_in_rows(ProductRows if name == "ours" else DeviceRows) as spent:
            began = time.perf_counter()
            solver = ct.solvers.NativeSolver(problem, device=None if name == "ours" else name)
            solution = ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
            total = time.perf_counter() - began
        out.row(n, d, name, f"{total:.2f}", f"{100 * spent[0] / total:.0f} %", f"{solution.objective:.6g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default=",".join(devices()))
    parser.add_argument("--points", type=int, default=20000)
    parser.add_argument("--features", default="10,50,200,784,3000")
    parser.add_argument("--fits", default="8000", help="points of the fits")
    parser.add_argument("--results", default="device", help="the file in benchmarks/results")
    options = parser.parse_args()
    names, n = options.devices.split(","), options.points
    compile_native()
    out = Results(options.results, "Kernel rows on another device", "device.py")
    out("Single precision; *ours* is the package's own rows by NumPy, in place on processor threads.", "")
    out.table("device", "10⁹ multiply-adds/s", "10⁹ exp/s", "GB/s to memory")
    known = {}
    for name in names:
        known[name] = rates(Device(name), n)
        out.row(card(name), *(f"{rate / 1e9:.3g}" if np.isfinite(rate) else "–" for rate in known[name]))
    out(
        "", f"Nanoseconds an entry of {ROWS} rows of {n} points, RBF kernel; in brackets what the rates let expect.", ""
    )
    features = [int(d) for d in options.features.split(",")]
    out.table("device", *(f"d = {d}" for d in features))
    for name in ["ours", *names]:
        cells = []
        for d in features:
            X = np.random.default_rng(2).standard_normal((n, d)) / np.sqrt(d)
            rows, some = rows_of(name, ct.RBF(1.0), X), np.arange(ROWS)
            took = seconds(lambda rows=rows, some=some: rows.rows(some)) / (ROWS * n)
            expected = None if name == "ours" else d / known[name][0] + 1 / known[name][1] + 4 / known[name][2]
            cells.append(f"{took * 1e9:.3g}" + ("" if expected is None else f" ({expected * 1e9:.3g})"))
        out.row(name, *cells)
    out("", "A transductive SVM with its defaults, Gaussians like g50c's, 50 labelled points.", "")
    out.table("points", "features", "device", "s", "of them rows", "objective")
    for points in map(int, options.fits.split(",")):
        for d in (50, 784):
            fits(out, ["ours", *names], points, d)
    out.done()


if __name__ == "__main__":
    main()
