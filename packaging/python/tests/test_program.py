# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors, progress, interruption."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import quantscope as q
from quantscope.tying import tied_quickly


def test_errors_have_the_program_s_sentence(pair, images, tmp_path):
    with pytest.raises(q.BadInput, match="does not exist") as error:
        q.compare(tmp_path / "none.onnx", pair[1], tmp_path / "data.npz")
    assert isinstance(error.value, q.Error) and not error.value.message.startswith("error")
    with pytest.raises(q.BadUse, match="--threads"):
        q.run(pair[0], {"x": images}, threads=0)
    (tmp_path / "broken.onnx").write_bytes(b"nonsense")
    with pytest.raises(q.BadInput, match="broken.onnx"):
        q.info(tmp_path / "broken.onnx")


def test_unknown_options_run_nothing(pair):
    with pytest.raises(TypeError, match="did you mean 'per_channel'"):
        q.quantize(pair[0], "never.onnx", "never.npz", per_chanel=True)
    with pytest.raises(TypeError, match="no option 'colour'"):
        q.compare(*pair, "never.npz", colour=1)
    with pytest.raises(TypeError, match="no option 'json'"):
        q.run(pair[0], "never.npz", json="-")
    for call in (q.compare, q.quantize):
        with pytest.raises(TypeError, match="no option 'json' in Python: what the function returns holds"):
            call(*pair, "never.npz", json="out.json")
    with pytest.raises(TypeError, match="no option 'out' in Python: the function returns the arrays"):
        q.run(pair[0], "never.npz", out="out.npz")
    with pytest.raises(TypeError, match="takes one value"):
        q.run(pair[0], "random:1", seed=[1, 2])


def test_names_that_begin_with_a_dash(images, tmp_path, monkeypatch, pair):
    (tmp_path / "-x.onnx").write_bytes(Path(pair[0]).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert len(q.run("-x.onnx", {"x": images})["scores"]) == 8


def test_progress_is_told(pair, images):
    told = []
    q.compare(*pair, {"x": images}, progress=lambda *state: told.append(state))
    assert told and all(isinstance(phase, str) and done <= total for phase, done, total in told)
    assert any(total == 8 for _, _, total in told)


def test_progress_bar(pair, images, capfd):
    q.run(pair[0], {"x": images}, progress=True)
    assert "run" in capfd.readouterr().err


def test_an_error_in_who_is_told_ends_the_run(pair, images):
    def call(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        q.compare(*pair, {"x": images}, progress=call)


# A shell that starts the tests in the background has its children ignore SIGINT.
LONG = textwrap.dedent("""
    import signal, sys, quantscope as q
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("begin", flush=True)
    try:
        q.compare(sys.argv[1], sys.argv[2], "random:400000", shape={"x": (1, 2, 6, 6)})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
""")


def children(pid):
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def running_comparisons(pid):
    """Waits until the program runs."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        lines = {child: Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0") for child in children(pid)}
        found = [child for child, line in lines.items() if b"compare" in line and b"--help" not in line]
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("the program does not run")


@pytest.mark.parametrize("to_both", [False, True], ids=["as a notebook does", "as a terminal does"])
def test_interrupting_ends_the_program(pair, to_both):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, *map(str, pair)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout.readline() == "begin\n"
    running = running_comparisons(process.pid)
    time.sleep(0.3)
    if to_both:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.wait(10) == 0
    assert not any(Path(f"/proc/{child}").exists() for child in running)


def test_several_at_once(pair, images):
    results = [None] * 4

    def one(index):
        results[index] = q.run(pair[0], {"x": images[index : index + 2]})["scores"]

    threads = [threading.Thread(target=one, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = q.run(pair[0], {"x": images})["scores"]
    assert all(np.array_equal(results[i], whole[i : i + 2]) for i in range(4))


def script(path, *lines):
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return str(path)


def test_where_the_program_is(monkeypatch, tmp_path):
    program = q.cli_path()
    assert os.access(program, os.X_OK)
    monkeypatch.setenv("QUANTSCOPE_CLI", str(tmp_path / "none"))
    with pytest.raises(q.BadUse, match="names no program: .*none; give the path"):
        q.cli_path()
    # What pip makes of the package's commands, and the like, would start this package again.
    own = ["from quantscope.launch import command_line", 'exec python3 -m quantscope "$@"']
    for number, line in enumerate(own):
        monkeypatch.setenv("QUANTSCOPE_CLI", script(tmp_path / str(number), line))
        with pytest.raises(q.BadUse, match="not one that pip installed"):
            q.cli_path()


def test_scripts_that_start_the_program(monkeypatch, tmp_path, pair, images):
    wrapper = script(tmp_path / "quantscope-cli", f'exec {q.cli_path()} "$@"')
    expected = q.run(pair[0], images)["scores"]
    monkeypatch.setenv("QUANTSCOPE_CLI", wrapper)
    assert q.cli_path() == wrapper
    assert np.array_equal(q.run(pair[0], images)["scores"], expected)


@pytest.mark.skipif(not tied_quickly(), reason="util-linux is not there")
@pytest.mark.parametrize("in_a_thread", [False, True])
def test_a_killed_python_ends_the_program(pair, in_a_thread):
    call = 'q.compare(sys.argv[1], sys.argv[2], "random:400000", shape={"x": (1, 2, 6, 6)})'
    if in_a_thread:
        call = f"import threading; threading.Thread(target=lambda: {call}).start()"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys, quantscope as q\n{call}", *map(str, pair)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    (program,) = running_comparisons(process.pid)
    time.sleep(0.3)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while alive(program) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(program)


def test_version_is_that_of_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "quantscope", "--version"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == f"quantscope-cli {q.version}"


def test_exit_codes_of_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "quantscope", "info", str(tmp_path / "none.onnx")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 3 and done.stderr.startswith("error: ")


def test_lessons_come_along(pair):
    def lesson(*arguments, answers=""):
        command = [q.cli_path(), "lesson", *arguments]
        return subprocess.run(command, input=answers, capture_output=True, text=True, check=True).stdout

    lessons = json.loads(lesson("list", "--json", "-"))["lessons"]
    assert len(lessons) >= 12 and lessons[0]["id"] == "scale-and-zero-point"
    assert " 0 problems" in lesson("check", "scale-and-zero-point", "two-exporters-one-network", "--seeds", "1")
    files = ["--float", str(pair[0]), "--quantized", str(pair[1])]
    own = ["--yours", *files, "--data", "random:2:1", "--shape", "x=1x2x6x6"]
    assert "The answer: " in lesson("run", "made-here-or-inherited", *own, answers="=\n=\n")
