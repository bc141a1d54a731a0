# SPDX-License-Identifier: GPL-3.0-or-later
"""Mends a badly quantized model in a conversation with `quantscope-cli mcp`, through the official client of the Model
Context Protocol (`mcp` on PyPI), and asks what it must refuse.

  tests/parity/mcp_client.py [FLOAT QUANTIZED DATA [CLI]]

Without models those of the bundled example, of which the quantized one is calibrated badly. Each way of agreeing on a
version is tried. Ends with one line of numbers a way; exit code 1 where something is not as it should be."""
import asyncio
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile

from environment import ROOT, run_again
from mcp_given import DATA, FLOAT, QUANTIZED, check

try:
    import anyio
    import jsonschema
    from mcp import Client, MCPError, StdioServerParameters
except ImportError:
    run_again(__file__, ["mcp", "jsonschema"])

CLI = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else ROOT / "build/release/bin/quantscope-cli").resolve()
TOOLS = {"open", "compare", "findings", "tensor", "edit_recipe", "undo", "quantize", "sensitivity", "export", "explain"}
LONGEST = 40_000  # characters of one answer


class Talk:
    def __init__(self, client):
        self.client, self.progress, self.calls = client, 0, 0

    async def told(self, progress, total, message):
        self.progress += 1

    async def __call__(self, tool, **arguments):
        self.calls += 1
        result = await self.client.call_tool(tool, arguments, progress_callback=self.told)
        text = result.content[0].text
        check(not result.is_error, f"{tool} {arguments}: {text}")
        check(json.loads(text) == result.structured_content, f"{tool}: text and structure differ")
        check(len(text) <= LONGEST, f"{tool}: {len(text)} characters")
        return result.structured_content

    async def refused(self, tool, arguments, word):
        result = await self.client.call_tool(tool, arguments)
        check(result.is_error and word in result.content[0].text, f"{tool} {arguments}: {result.content[0].text}")


def hashes(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir() if p.is_file()}


async def hostile(talk, folder):
    await talk.refused("open", {"float": "/etc/passwd"}, "outside")
    await talk.refused("open", {"float": "../../../../etc/passwd"}, "outside")
    (folder / "link.onnx").symlink_to("/etc/passwd")
    await talk.refused("open", {"float": "link.onnx"}, "outside")
    (folder / "link.onnx").unlink()
    await talk.refused("open", {"float": 7}, "text")
    await talk.refused("open", {"float": FLOAT.name, "colour": "red"}, "colour")
    await talk.refused("compare", {"limit": 10**9}, "whole number")
    await talk.refused("explain", {"tensor": "x", "at": list(range(20_000))}, "list")
    await talk.refused("edit_recipe", {"changes": {"no_such_field": 1}}, "no_such_field")
    await talk.refused("quantize", {"path": FLOAT.name, "overwrite": True}, "float model")
    await talk.refused("export", {"path": DATA.name, "format": "json", "overwrite": True}, "data")
    await talk.refused("export", {"path": "/tmp/outside.json", "format": "json"}, "outside")
    for tool in ("no_such_tool", ""):
        try:
            await talk.client.call_tool(tool, {})
            check(False, "an unknown tool was called")
        except MCPError:
            pass


async def cancelled(talk, inputs):
    """A client that gives up sends notifications/cancelled; the server is ready for the next request at once."""
    shapes = {i["name"]: [d if isinstance(d, int) else 1 for d in i["shape"]] for i in inputs}
    await talk("open", float=FLOAT.name, data="random:20000", shapes=shapes)
    with anyio.move_on_after(0.2):
        await talk("sensitivity", by="node")
        return "finished before it was cancelled"
    with anyio.fail_after(20):
        await talk("tensor", name=talk.output, limit=0)
    return "cancelled"


async def mended(mode, folder):
    server = StdioServerParameters(command=str(CLI), args=["mcp", "--allow", str(folder)], cwd=str(folder))
    before = hashes(folder)
    async with Client(server, mode=mode) as client:
        listed = (await client.list_tools()).tools
        check({t.name for t in listed} == TOOLS, [t.name for t in listed])
        for tool in listed:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            check(tool.input_schema["additionalProperties"] is False and tool.description, tool.name)
        talk = Talk(client)
        opened = await talk("open", float=FLOAT.name, quantized=QUANTIZED.name, data=DATA.name)
        talk.output = opened["float"]["outputs"][0]["name"]
        bad = await talk("compare")
        causes = await talk("findings", limit=3)
        first = causes["findings"][0]
        row = (await talk("tensor", limit=1))["activations"][0]
        await talk("tensor", name=row["name"], limit=5)
        shape = (await talk("tensor", name=talk.output, limit=1))["values"]["shape"]
        await talk("explain", tensor=talk.output, at=[0] * len(shape), limit=3)
        edit = await talk("edit_recipe", apply_finding=first["index"])
        good = await talk("compare")
        await talk("undo")
        again = await talk("compare")
        check(again["now"] == bad["now"], "undo does not lead back to the same numbers")
        await talk("undo", redo=True)
        costs = await talk("sensitivity", by="type")
        written = await talk("quantize", path="mended.onnx")
        await talk("export", path="report.html", format="html")
        resources = {str(r.uri) for r in (await client.list_resources()).resources}
        report = (await client.read_resource(f"quantscope://{opened['session']}/report.json")).contents[0].text
        check(json.loads(report)["outputs"], "the report holds no outputs")
        check(f"quantscope://{opened['session']}/report.html" in resources, resources)
        await hostile(talk, folder)
        kept = await cancelled(talk, opened["float"]["inputs"])
        version = client.protocol_version
    after = hashes(folder)
    check(all(after[n] == h for n, h in before.items()), "an input was changed")
    check((folder / "mended.onnx").stat().st_size == written["bytes"], "the file is not what was said")
    check(good["now"]["output_sqnr_db"] > bad["now"]["output_sqnr_db"] + 6, "nothing was mended")
    for name in ("mended.onnx", "report.html"):
        (folder / name).unlink()
    print(f"{version} ({mode}): {first['rule']} -> {edit['step_text']}: "
          f"{bad['now']['output_sqnr_db']:.2f} -> {good['now']['output_sqnr_db']:.2f} dB, "
          f"accuracy {bad['now']['accuracy']} -> {good['now']['accuracy']}, the float model's {good['accuracy'] and good['accuracy']['float']}; {len(costs['units']['rows'])} types, "
          f"{talk.calls} calls, {talk.progress} progress notifications, long work {kept}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in (FLOAT, QUANTIZED, DATA):
            shutil.copy(file, folder)
        for mode in ("auto", "legacy"):
            asyncio.run(mended(mode, folder))


main()
