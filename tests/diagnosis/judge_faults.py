#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is the fault named first, does its remedy mend it, and are good files left alone?

    judge_faults.py FOLDER CLI [--only GLOB] [--jobs N] [--try N] [--json OUT] [--no-healthy] [--no-apply]

FOLDER is what make_faults.py made. GLOB is held against the folder's name (cnn-001-range_too_small). Exit 1 where the
demands are missed."""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import sys
import tempfile

from applying import all_changes, applied, db_in_onnxruntime, worst_db
from running import Refused, command, compare, shown

NEAR_DB, NEAR_SHARE, RESTORED, HARM_DB = 1.0, 0.2, 0.9, 0.02
HARMLESS = ("note",)


def at_place(part, places):
    return "*" in places or part.get("node", "") in places and part["node"] != "" or part.get("tensor", "") in places and part["tensor"] != ""


def remedies_judged(document, cli, folder, before, apply, arithmetic, mended=None):
    """One entry for each remedy offered: the first one, and those whose gain was measured."""
    out = []
    for rank, finding in enumerate(document["findings"]):
        if not finding["change"] or (finding["measured_gain_db"] is None and out):
            continue
        said = finding["measured_gain_db"]
        entry = {"rule": finding["rule"], "rank": rank, "kind": finding["change"]["kind"], "said_db": said,
                 "expected_db": finding["expected_gain_db"], "got_db": None, "accuracy": None}
        if apply:
            if mended and mended.exists() and not any(e["got_db"] is not None for e in out) and not arithmetic:
                after = db_in_onnxruntime(folder, mended)  # the one that is offered first
                entry |= {"got_db": None if after is None or before is None else after - before, "fresh": False,
                          "command": f"{cli} compare ... --save-mended", "after_db": after}
                out.append(entry)
                continue
            try:
                after, entry["command"], entry["fresh"] = applied(cli, folder / "float.onnx", folder / "quantized.onnx", folder / "data.npz",
                                                  all_changes(finding), arithmetic)
                db = worst_db(after)
                entry["got_db"] = None if db is None or before is None else db - before
                entry["after_db"], entry["accuracy"] = db, (after["accuracy"] or {}).get("quantized")
            except Refused as refused:
                entry["refused"] = str(refused)
        out.append(entry)
    return out


def looked_at(folder, cli, asked):
    truth = json.loads((folder / "fault.json").read_text())
    files = [folder / "float.onnx", folder / "quantized.onnx", folder / "data.npz"]
    arithmetic = ["--arithmetic", truth["arithmetic"]] if "arithmetic" in truth else []
    more = [*(["--try-remedies", asked.tried] if asked.tried else []), *arithmetic]
    out = {"id": folder.name, "net": truth["net"], "kind": truth.get("kind", "healthy"), "truth": truth,
           "command": shown(command(cli, "compare", files[0], files[1], "--data", files[2], *more))}
    mended = pathlib.Path(tempfile.mkdtemp()) / "mended.onnx" if asked.tried and asked.apply else None
    try:
        document, out["seconds"] = compare(cli, *files, *more, *(["--save-mended", mended] if mended else []))
    except Refused:
        mended = None  # nothing is offered, or it cannot be written
        try:
            document, out["seconds"] = compare(cli, *files, *more)
        except Refused as refused:
            return out | {"refused": str(refused)}
    out["findings"] = [{k: f[k] for k in ("rule", "severity", "node", "tensor", "title", "measured_gain_db", "expected_gain_db")}
                       | {"offered": bool(f["change"])} for f in document["findings"]]
    out["before_db"] = worst_db(document)
    out["remedies"] = remedies_judged(document, cli, folder, out["before_db"], asked.apply, arithmetic, mended)
    if "rules" in truth:
        judge_first(out, document, truth)
    else:
        accuracy = document["accuracy"] or {}
        out["loud"] = [f for f in out["findings"] if f["severity"] not in HARMLESS]
        out["drop"] = accuracy.get("float", 0) - accuracy.get("quantized", 0)
    return out


def lost_db(truth, before):
    return truth["good_db"] - (truth["db"] if before is None else before)


def judge_first(out, document, truth):
    first = document["findings"][0] if document["findings"] else None
    out["cause"] = bool(first) and first["rule"] in truth["rules"]
    out["place"] = bool(first) and at_place(first, truth["places"])
    out["named"] = out["cause"] and out["place"]
    ranks = [i for i, f in enumerate(document["findings"]) if f["rule"] in truth["rules"]
             and any(at_place(p, truth["places"]) for p in [f, *f.get("places", [])])]
    out["rank"] = ranks[0] if ranks else None
    out["restored"] = None
    if out["remedies"]:
        best = out["remedies"][0]
        lost = lost_db(truth, out["before_db"])
        if best["got_db"] is not None and lost > 0:
            out["restored"] = best["got_db"] / lost


def share(part, whole):
    return f"{100 * part / whole:5.1f} % ({part} of {whole})" if whole else "-"


def number(db):
    return "-" if db is None else f"{db:+.1f} dB"


def first_text(r):
    if not r["findings"]:
        return "no finding"
    f = r["findings"][0]
    return f"{f['rule']} [{f['severity']}] at {f['tensor'] or f['node'] or '-'}"


def print_faults(results):
    bad = [r for r in results if "refused" in r or not r["named"]]
    print("== fault not named first")
    for r in sorted(bad, key=lambda r: (r["kind"], r["id"])):
        t = r["truth"]
        print(f"{r['id']}: {t['what']} ({t['good_db']:.1f} -> {t['db']:.1f} dB); right: {'|'.join(t['rules'])} at {t['places'][0]}")
        print(f"      said: {r['refused'] if 'refused' in r else first_text(r)}"
              + ("" if "refused" in r else f"; right one is {'nowhere' if r['rank'] is None else 'number ' + str(r['rank'] + 1)}"))
        print(f"      {r['command']}")
    print("\n== first remedy does not restore 90 % of what was lost")
    for r in results:
        if "refused" in r or (r["restored"] is not None and r["restored"] >= RESTORED):
            continue
        m = r["remedies"][0] if r["remedies"] else None
        how = "none offered" if m is None else m.get("refused") or \
            f"{m['kind']} ({m['rule']}) said {number(m['said_db'])}, got {number(m['got_db'])}"
        print(f"{r['id']}: lost {lost_db(r['truth'], r['before_db']):.1f} dB; {how}\n      {r['command']}")


def print_kinds(results):
    print(f"\n{'kind':22} files {'named first':>20} {'cause right':>20} {'place right':>20} {'anywhere':>20} {'restored':>20}")
    kinds = collections.defaultdict(list)
    for r in results:
        kinds[r["kind"]].append(r)
        kinds["~ " + r["net"]].append(r)
        kinds["~~ all"].append(r)
    for kind, rs in sorted(kinds.items()):
        done = [r for r in rs if "refused" not in r]
        print(f"{kind:22} {len(rs):5} {share(sum(r['named'] for r in done), len(rs)):>20} {share(sum(r['cause'] for r in done), len(rs)):>20} "
              f"{share(sum(r['place'] for r in done), len(rs)):>20} {share(sum(r['rank'] is not None for r in done), len(rs)):>20} "
              f"{share(sum((r['restored'] or 0) >= RESTORED for r in done), len(rs)):>20}")


def print_promises(results):
    offered = [(r, m) for r in results for m in r.get("remedies", [])]
    said = [(r, m) for r, m in offered if m["said_db"] is not None]
    tried = [(r, m) for r, m in said if m["got_db"] is not None and not m["fresh"]]
    negative = [(r, m) for r, m in said if m["said_db"] < -HARM_DB] + [(r, m) for r, m in tried if m["got_db"] < -HARM_DB <= m["said_db"]]
    apart = [(r, m) for r, m in tried if abs(m["got_db"] - m["said_db"]) > max(NEAR_DB, NEAR_SHARE * abs(m["said_db"]))]
    print(f"\n== remedies offered with a measured gain: {len(said)}; applied independently: {len(tried)}; harm: {len(negative)}; "
          f"further than 20 % and 1 dB from what was said: {len(apart)}")
    for title, cases in (("harm", negative), ("apart", apart)):
        for r, m in sorted(cases, key=lambda c: c[1]["got_db"] if c[1]["got_db"] is not None else c[1]["said_db"]):
            print(f"{title:5} {r['id']}: {m['kind']} ({m['rule']}, number {m['rank'] + 1}) said {number(m['said_db'])}, "
                  f"got {number(m['got_db'])}\n      {r['command']}")
    for r, m in offered:
        if "refused" in m:
            print(f"could not be applied {r['id']}: {m['kind']}: {m['refused']}")
    return len(negative), len(apart)


def print_healthy(results):
    judged = [r for r in results if r["truth"]["healthy"]]
    loud = [r for r in judged if "refused" in r or r["loud"]]
    print(f"\n== healthy files: {len(judged)} ({len(results) - len(judged)} more are not, by their accuracy or SQNR, and are left out); "
          f"with an error or a warning: {len(loud)}")
    for r in loud:
        said = r.get("refused") or "; ".join(f"{f['rule']} [{f['severity']}] at {f['tensor'] or f['node'] or '-'}" for f in r["loud"])
        print(f"{r['id']} ({r['truth']['db']:.1f} dB): {said}\n      {r['command']}")
    return len(loud), len(judged)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("cli", type=pathlib.Path)
    options.add_argument("--only", default="*")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--try", dest="tried", type=int, default=4, help="--try-remedies; 0: only what is named")
    options.add_argument("--json", type=pathlib.Path)
    options.add_argument("--no-healthy", dest="healthy", action="store_false")
    options.add_argument("--no-apply", dest="apply", action="store_false", help="do not apply remedies independently")
    asked = options.parse_args()
    asked.cli = asked.cli.resolve()

    def judged(kind):
        folders = [p for p in sorted((asked.folder / kind).glob("*")) if fnmatch.fnmatch(p.name, asked.only) and (p / "fault.json").exists()]
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            return list(pool.map(lambda p: looked_at(p, asked.cli, asked), folders))

    faults, good = judged("faults"), judged("healthy") if asked.healthy else []
    print_faults(faults)
    loud, healthy = print_healthy(good)
    negative, apart = print_promises(faults + good)
    print_kinds(faults)
    if asked.json:
        asked.json.write_text(json.dumps(faults + good, indent=1))
    named = sum(bool(r.get("named")) for r in faults)
    restored = sum((r.get("restored") or 0) >= RESTORED for r in faults)
    print(f"\nnamed first {share(named, len(faults))} (demand 95 %); restored {share(restored, len(faults))} (demand 90 %); "
          f"healthy with complaints {loud} of {healthy}; remedies that harm {negative}, promise missed {apart}")
    kept = named >= 0.95 * len(faults) and restored >= 0.9 * len(faults) and not loud and not negative and not apart
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
