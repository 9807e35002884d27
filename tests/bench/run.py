#!/usr/bin/python3
"""The project's benchmarks: rates and latencies as ratios to a floor taken in the same run.

usage: run.py [--build DIR] [--quick] [--rounds N] [--no-kafka] [--json FILE] [CASE ...]

Builds the release preset unless --build names a build that is there. Prints a table and writes the same as JSON
(BUILD/bench.json). Cases: produce durability latency spread fetch commit worker start memory; all by default.
Exit code 1 only if a floor that the project promises is not reached; which one, the table says."""
import argparse, json, os, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import CASES
from lab import Failed, Lab, ROOT, say


class Options(argparse.Namespace):
    def scaled(self, n):
        return max(1, n // 8) if self.quick else n


def arguments():
    a = argparse.ArgumentParser()
    a.add_argument("--build")
    a.add_argument("--quick", action="store_true", help="an eighth of the work, three rounds, no Apache Kafka")
    a.add_argument("--rounds", type=int)
    a.add_argument("--no-kafka", action="store_true")
    a.add_argument("--json")
    a.add_argument("cases", nargs="*", metavar="CASE")
    o = a.parse_args(namespace=Options())
    for c in o.cases:
        if c not in CASES:
            a.error(f"no case '{c}'; there are: {' '.join(CASES)}")
    o.rounds = o.rounds or (3 if o.quick else 5)
    o.no_kafka = o.no_kafka or o.quick
    o.cases = o.cases or list(CASES)
    return o


def build(o):
    if o.build:
        return o.build
    folder = os.path.join(ROOT, "build/release")
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", folder, "--target", "once", "bench"]):
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT)
        if r.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{r.stdout.decode(errors='replace')[-2000:]}")
    return folder


def number(x):
    if x is None:
        return "-"
    if x >= 1e6:
        return f"{x / 1e6:.2f} M"
    if x >= 1e4:
        return f"{x / 1e3:.0f} k"
    return f"{x:.0f}" if x >= 100 else f"{x:.2f}"


def reached(floor):
    what, value, how, bound = floor
    return value >= bound if how == "at least" else value < bound


def show(r):
    print(r["name"])
    if "skipped" in r:
        print(f"    skipped: {r['skipped']}")
        return
    if "failed" in r:
        print(f"    FAILED: {r['failed']}")
        return
    print("    " + ", ".join(f"{k} {number(v)}" for k, v in r["figures"].items()) + f"  ({r['unit']})")
    if r["ratios"]:
        print("    " + ", ".join(f"{k} = {number(v)}" for k, v in r["ratios"].items()))
    sync = f", fdatasync p50 {number(r['sync_us'])} us" if r["sync_us"] else ""
    print(f"    {r['rounds']} rounds, {r['dropped']} dropped{sync}")
    if "floor" in r:
        what, value, how, bound = r["floor"]
        verdict = "ok" if reached(r["floor"]) else "NOT REACHED"
        print(f"    floor: {number(value)} {what}, {how} {number(bound)}: {verdict}")


def main():
    o = arguments()
    lab = Lab(build(o))
    rows = []
    say(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {lab.folder}")
    try:
        for name in o.cases:
            say(name)
            try:
                got = CASES[name](lab, o)
            except (Failed, OSError, subprocess.TimeoutExpired) as e:
                got = [{"name": name, "failed": str(e)}]
            for r in got:
                r["case"] = name
                show(r)
                sys.stdout.flush()
            rows += got
    finally:
        lab.close()
    with open(o.json or os.path.join(lab.build, "bench.json"), "w") as f:
        json.dump({"load": os.getloadavg(), "cpus": os.cpu_count(), "quick": o.quick, "rows": rows}, f, indent=1)
    bad = [r["name"] for r in rows if "failed" in r or ("floor" in r and not reached(r["floor"]))]
    if bad:
        print("not reached: " + "; ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
