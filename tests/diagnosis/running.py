# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program under test."""
import json
import shlex
import subprocess
import time


class Refused(Exception):
    pass


def command(cli, *arguments):
    return [str(cli), *map(str, arguments)]


def shown(parts):
    return " ".join(shlex.quote(str(p)) for p in parts)


def compare(cli, floats, quantized, data, *more, timeout=300):
    """(document of `compare --json`, seconds); Refused with the program's sentence where it ends otherwise."""
    parts = command(cli, "compare", floats, *([quantized] if quantized else []), "--data", data, "--threads", 1, "--quiet",
                    "--json", "-", *more)
    begin = time.time()
    try:
        done = subprocess.run(parts, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Refused(f"no answer after {timeout} s: {shown(parts)}") from None
    if done.returncode != 0:
        raise Refused(f"exit {done.returncode}: {done.stderr.strip()[:300]}  ({shown(parts)})")
    return json.loads(done.stdout), time.time() - begin
