#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writers on a disk that is full, and with a limit on the size of files, at many sizes.

    sudo unshare -m tests/faults/full_disk.py build/release/bin/quantscope-cli [sizes=200]

Each result is then the old one or the new one, the exit code is 0 or 3 with one sentence, and nothing lies beside them.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "resources/examples"
FLOAT, QUANTIZED = EXAMPLES / "digits_float.onnx", EXAMPLES / "digits_qdq.onnx"
OLD = b"as it was before"
# Those that tell how long they took are held against their last bytes alone.
WRITERS = {
    "npz": (["run", FLOAT, "--all-tensors", "--out", "a.npz"], ["a.npz"]),
    "json": (["compare", FLOAT, QUANTIZED, "--json", "c.json"], ["c.json"]),
    "html": (["compare", FLOAT, QUANTIZED, "--html", "c.html"], ["c.html"]),
    "csv": (["compare", FLOAT, QUANTIZED, "--csv", "c.csv"], ["c.csv"]),
    "model": (["quantize", FLOAT, "-o", "q.onnx", "--script", "q.py"], ["q.onnx", "q.py"]),
    "state": (["compare", FLOAT, QUANTIZED, "--shard", "1/2", "--state", "s.qstate"], ["s.qstate"]),
    "cache": (["quantize", FLOAT, "-o", "q.onnx", "--calibration-cache", "cal"], ["q.onnx", "cal"]),
}


def names(folder):
    return {p.name for p in folder.iterdir()}


def put_back(folder, results):
    for path in folder.iterdir():
        path.unlink()
    for name in results:
        if name != "cal":  # what is no cache would be refused
            (folder / name).write_bytes(OLD)


def run(cli, folder, writer, limit=None):
    command = [cli, *map(str, writer), "--data", str(EXAMPLES / "digits_samples.npz"), "--limit", "3", "--threads",
               "1", "--quiet"]
    before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit is not None else None
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          preexec_fn=before, timeout=60, env={**os.environ, "TMPDIR": str(folder)})


def faults(folder, results, wanted, ended):
    found = []
    if ended.returncode not in (0, 3):
        found.append(f"ends with {ended.returncode}")
    if ended.returncode == 3 and (ended.stderr.count("\n") != 1 or not ended.stderr.startswith("error: ")):
        found.append(f"says {ended.stderr!r}")
    for name in results:
        path = folder / name
        content = path.read_bytes() if path.exists() else None
        old = content == OLD or (content is None and name == "cal")
        new = content is not None and (content == wanted[name]
                                       or (name.endswith(("json", "html", "py")) and content[-8:] == wanted[name][-8:]))
        if not (new or (old and ended.returncode != 0)):
            found.append(f"{name} is a half one")
    found += [f"{name} is left" for name in names(folder) - set(results)]
    return found


def spread(count, largest):
    return sorted({round(largest * i / count) for i in range(count)})


def main():
    cli, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    bad = 0
    with tempfile.TemporaryDirectory() as room:
        folder = pathlib.Path(room)
        for name, (writer, results) in WRITERS.items():
            wanted = {}
            put_back(folder, results)
            assert run(cli, folder, writer).returncode == 0, name
            wanted = {r: (folder / r).read_bytes() for r in results}
            largest = max(map(len, wanted.values()))
            codes = {"limit": {}, "disk": {}}
            for limit in spread(count, largest * 1.05):
                put_back(folder, results)
                ended = run(cli, folder, writer, limit)
                codes["limit"][ended.returncode] = codes["limit"].get(ended.returncode, 0) + 1
                for fault in faults(folder, results, wanted, ended):
                    bad += 1
                    print(f"{name}, files of at most {limit} bytes: {fault}")
            # Old results and temporary files of all that is written are on it at once.
            disk = folder / "disk"
            for room_left in spread(count, 3.5 * sum(map(len, wanted.values()))):
                for path in folder.iterdir():
                    path.unlink() if path.is_file() else None
                disk.mkdir(exist_ok=True)
                pages = room_left // 4096 + len(results) + 2
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * 4096}", "tmpfs", disk], check=True)
                try:
                    put_back(disk, results)
                    ended = run(cli, disk, writer)
                    codes["disk"][ended.returncode] = codes["disk"].get(ended.returncode, 0) + 1
                    for fault in faults(disk, results, wanted, ended):
                        bad += 1
                        print(f"{name}, {pages} pages of disk: {fault}")
                finally:
                    subprocess.run(["umount", disk], check=True)
            disk.rmdir()
            print(f"{name}: exit codes {codes}")
    print(f"{bad} faults")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
