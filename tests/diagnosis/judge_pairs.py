#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Are values paired rightly? judge_pairs.py FOLDER CLI [--only GLOB] [--jobs N] [--json OUT] [--all-wrong]

FOLDER is what make_pairs.py made. GLOB is held against NET/PLAN. Exit 1 where the demands are missed."""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import sys

from running import Refused, command, compare, shown

BINS = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
SURE = 0.9
WEIGHT_ENDS = ("_quantized", "_DequantizeLinear_Output", "_DequantizeLinear", "_scale", "_Q4", "_Q4G16")


def stem(name):
    for end in WEIGHT_ENDS:
        name = name.removesuffix(end)
    return name


def judged(path, cli):
    """What one pair of files gives."""
    truth = json.loads(path.read_text())
    folder = path.parent
    files = [folder / truth["float"], folder / truth["quantized"], folder / truth["data"]]
    out = {"id": f"{truth['net']}/{truth['plan']}", "net": truth["net"], "doubtful": len(truth["doubtful"]),
           "command": shown(command(cli, "compare", files[0], files[1], "--data", files[2]))}
    try:
        document, out["seconds"] = compare(cli, *files)
    except Refused as refused:
        return out | {"refused": str(refused)}
    rows = {r["name"]: r for r in document["activations"]}
    values = truth["values"]
    is_right = lambda row: row["quantized_name"] in (*values[row["name"]]["accept"], *values[row["name"]]["also"])
    required = [n for n, v in values.items() if v["accept"]]
    right = [n for n in required if n in rows and is_right(rows[n])]
    heavy = [n for n in required if values[n]["heavy"]]
    judgeable = [r for n, r in rows.items() if n in values and r["quantized_name"] not in truth["unjudged"]]
    wrong = [r for r in judgeable if not is_right(r)]
    out |= {"values": len(required), "right": len(right), "heavy": len(heavy),
            "heavy_right": len(set(heavy) & set(right)), "missing": [n for n in required if n not in rows],
            "heavy_missed": [n for n in heavy if n not in right],
            "judged": [(r["match"]["confidence"], r["match"]["method"], is_right(r)) for r in judgeable],
            "wrong": [{"float": r["name"], "op": values[r["name"]]["op"], "paired": r["quantized_name"],
                       "truth": values[r["name"]]["accept"][:3], "permuted": r["quantized_name"] in values[r["name"]]["permuted"],
                       "method": r["match"]["method"], "confidence": r["match"]["confidence"], "sqnr_db": r["sqnr_db"]}
                      for r in wrong]}
    listed = {n for w in document["weights"] for n in (w["quantized_name"], w["name"])}
    stems = {stem(n) for n in listed}
    out["weights"] = len(truth["weights"])
    out["weights_missing"] = [w for w in truth["weights"] if not (set(w["names"]) & listed or {stem(n) for n in w["names"]} & stems)]
    out["models_differ"] = any(f["rule"] == "models_differ" for f in document["findings"])
    out["network"] = document.get("network")
    return out


def share(part, whole):
    return f"{100 * part / whole:6.2f} % ({part} of {whole})" if whole else "   -"


def totals(results):
    done = [r for r in results if "refused" not in r]
    add = lambda key: sum(r[key] if isinstance(r[key], int) else len(r[key]) for r in done)
    sure = sum(w["confidence"] > SURE for r in done for w in r["wrong"])
    return {"files": len(results), "refused": len(results) - len(done), "heavy": add("heavy"), "heavy_right": add("heavy_right"),
            "values": add("values"), "right": add("right"), "wrong": add("wrong"), "sure_wrong": sure,
            "weights": add("weights"), "weights_missing": add("weights_missing"),
            "differ": sum(r["models_differ"] for r in done), "no_proof": sum(not r["network"] for r in done),
            "seconds": sum(r["seconds"] for r in done)}


def print_wrong(results, everything):
    print("\n== wrong pairs, most confident first")
    by_kind = collections.defaultdict(list)
    for r in results:
        for w in r.get("wrong", []):
            if everything or w["confidence"] > SURE:
                by_kind[w["method"], w["op"], r["id"].split("/")[1]].append((r, w))
    kinds = sorted(by_kind.items(), key=lambda k: (-max(w["confidence"] for _, w in k[1]), -len(k[1])))
    for (method, op, plan), cases in kinds:
        r, w = max(cases, key=lambda c: c[1]["confidence"])
        db = "exact" if w["sqnr_db"] is None else f"{w['sqnr_db']:.1f} dB"
        print(f"{w['confidence']:.3f} {method:9} {op:20} {len(cases):4} times in {plan}; in {r['net']}: {w['float']} -> {w['paired']}"
              f" ({db}), right: {', '.join(w['truth']) or 'no counterpart'}{' [permuted]' if w['permuted'] else ''}\n      {r['command']}")


def print_missed(results):
    worst = sorted((r for r in results if r.get("heavy_missed")), key=lambda r: r["heavy_right"] / r["heavy"])
    print(f"\n== heavy outputs not paired rightly, in {len(worst)} files")
    for r in worst:
        print(f"{share(r['heavy_right'], r['heavy'])} {r['id']}: {', '.join(r['heavy_missed'][:4])}\n      {r['command']}")
    short = sorted((r for r in results if r.get("values") and r["right"] / r["values"] < 0.95), key=lambda r: r["right"] / r["values"])
    print(f"\n== less than 95 % of values paired rightly, in {len(short)} files")
    for r in short:
        print(f"{share(r['right'], r['values'])} {r['id']}: without a partner {', '.join(r['missing'][:4])}\n      {r['command']}")
    lacking = [r for r in results if r.get("weights_missing")]
    print(f"\n== quantized weights that are in no list, in {len(lacking)} files")
    for r in lacking:
        print(f"{len(r['weights_missing'])} of {r['weights']} {r['id']}: {r['weights_missing'][0]['node']}"
              f" ({r['weights_missing'][0]['names'][-1]})\n      {r['command']}")


def print_confidence(results):
    counts = collections.defaultdict(lambda: [0, 0])
    methods = collections.defaultdict(lambda: [0, 0])
    for r in results:
        for confidence, method, right in r.get("judged", []):
            low = max(b for b in BINS if b <= confidence)
            counts[low][0] += right
            counts[low][1] += 1
            methods[method][0] += right
            methods[method][1] += 1
    print("\n== confidence said -> share of right pairs measured")
    for low in sorted(counts):
        print(f"from {low:4.2f}: {share(*counts[low])}")
    for method, count in sorted(methods.items()):
        print(f"{method:9}: {share(*count)}")


def print_totals(results):
    print(f"\n{'network':10} files refused {'heavy outputs right':>26} {'all values right':>28} wrong  >0.9 weights lacking "
          "differ no-proof seconds")
    names = sorted({r["net"] for r in results})
    for name in [*names, "all"]:
        t = totals([r for r in results if name in ("all", r["net"])])
        print(f"{name:10} {t['files']:5} {t['refused']:7} {share(t['heavy_right'], t['heavy']):>26} "
              f"{share(t['right'], t['values']):>28} {t['wrong']:5} {t['sure_wrong']:5} {t['weights']:7} {t['weights_missing']:7} "
              f"{t['differ']:6} {t['no_proof']:8} {t['seconds']:7.1f}")
    return t


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("cli", type=pathlib.Path)
    options.add_argument("--only", default="*", help="NET/PLAN, a glob")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--json", type=pathlib.Path, help="write all that was found")
    options.add_argument("--all-wrong", action="store_true", help="list wrong pairs of any confidence")
    asked = options.parse_args()
    paths = [p for p in sorted((asked.folder / "pairs").glob("*/*.json"))
             if fnmatch.fnmatch(f"{p.parent.name}/{p.stem}", asked.only)]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda p: judged(p, asked.cli.resolve()), paths))
    for r in results:
        if "refused" in r:
            print(f"refused {r['id']}: {r['refused']}")
    print_wrong(results, asked.all_wrong)
    print_missed(results)
    print_confidence(results)
    t = print_totals(results)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1))
    good = t["heavy_right"] >= 0.99 * t["heavy"] and t["right"] >= 0.95 * t["values"] and not t["sure_wrong"] and not t["refused"]
    print("\ndemands (heavy 99 %, all 95 %, none wrong above 0.9):", "kept" if good else "missed")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
