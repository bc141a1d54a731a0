# SPDX-License-Identifier: GPL-3.0-or-later
"""Mends a badly quantized model in a window, through `quantscope-cli mcp --attach` and the official client of the Model
Context Protocol (`mcp` on PyPI), while a person could look on.

  DISPLAY=:0 tests/parity/mcp_window.py [FLOAT QUANTIZED DATA [FOLDER OF PROGRAMS [PICTURE.png]]]

Without models those of the bundled example. The picture, by ImageMagick's `import`, is of the screen when the model is
mended. Ends with one line of numbers; exit code 1 where something is not as it should be."""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from environment import ROOT, run_again
from mcp_given import DATA, FLOAT, QUANTIZED, check

try:
    from mcp import Client, StdioServerParameters
except ImportError:
    run_again(__file__, ["mcp", "jsonschema"])

PROGRAMS = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else ROOT / "build/release/bin").resolve()
PICTURE = sys.argv[5] if len(sys.argv) > 5 else None


async def attached(server):
    """The window needs a moment before agents may attach."""
    for _ in range(100):
        tried = subprocess.run([server.command, *server.args], input="", capture_output=True, text=True)
        if tried.returncode == 0:
            return Client(server)
        await asyncio.sleep(0.2)
    raise SystemExit(f"not as it should be: {tried.stderr}")


async def mended(folder):
    server = StdioServerParameters(command=str(PROGRAMS / "quantscope-cli"),
                                   args=["mcp", "--attach", "--allow", str(folder), str(FLOAT.parent)], cwd=str(folder))
    async with await attached(server) as client:
        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            check(not result.is_error, f"{tool} {arguments}: {result.content[0].text}")
            check(json.loads(result.content[0].text) == result.structured_content, f"{tool}: text and structure differ")
            return result.structured_content

        async def refused(word, tool, **arguments):
            result = await client.call_tool(tool, arguments)
            check(result.is_error and word in result.content[0].text, f"{tool} {arguments}: {result.content[0].text}")

        bad = await call("compare")
        best, steps = bad["now"]["output_sqnr_db"], []
        for _ in range(6):
            causes = await call("findings", try_remedies=8, limit=20)
            ways = [f for f in causes["findings"] if f["change"] and (f["measured_gain_db"] or 0) > 0.5]
            if not ways:
                break
            way = max(ways, key=lambda f: f["measured_gain_db"])
            edit = await call("edit_recipe", apply_finding=way["index"])
            check(edit["step_text"].startswith("Agent: "), edit)
            now = (await call("compare"))["now"]
            if now["output_sqnr_db"] is not None and now["output_sqnr_db"] <= best:
                await call("undo")
                break
            steps.append(edit["step_text"])
            best = now["output_sqnr_db"]
            if best is None:
                break
        good = await call("compare")
        check(steps and (best is None or best > bad["now"]["output_sqnr_db"] + 6), f"nothing was mended: {steps} {best}")
        await refused("not saved", "open", float=str(FLOAT))
        await refused("outside", "quantize", path="/tmp/outside.onnx")
        written = await call("quantize", path="mended.onnx")
        check((folder / "mended.onnx").stat().st_size == written["bytes"], "the file is not what was said")
        if PICTURE:
            await asyncio.sleep(2)
            subprocess.run(["import", "-window", "root", PICTURE], check=True)
        print(f"{client.protocol_version}: {steps}: {bad['now']['output_sqnr_db']:.2f} -> {best:.2f} dB, accuracy "
              f"{bad['now']['accuracy']} -> {good['now']['accuracy']}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "home").mkdir()
        window = subprocess.Popen([PROGRAMS / "quantscope", "--serve", FLOAT, QUANTIZED, "--data", DATA],
                                  env={**os.environ, "HOME": str(folder / "home")})
        try:
            asyncio.run(mended(folder))
            check(window.poll() is None, "the window is gone")
        finally:
            window.kill()  # it would ask about work that is not saved
            window.wait()


main()
