#!/usr/bin/python3
"""Nothing on the hot paths allocates per record or request: counted, not claimed.

usage: allocations.py --build DIR [--show N] [CASE ...]

Broker and worker run with alloc_count.c loaded. Each case warms up, lets a known number of records (or requests of one
record each) through and asks how many allocations that took, by call site. Lua's own allocator is left out: a
job's strings are the job's. Failure: more than LIMIT a record or a request (blocks that many small requests share
are allocated as they fill; a transaction owns copies of what it enrolled and of its offsets); then, or with --show,
the sites that allocated most are printed."""
import argparse, bisect, os, struct, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lab import BOOK, Failed, Lab, OurBroker, ROOT, cpu_seconds

LIMIT = {"record": 0.01, "request": 0.05, "transaction": 10}
SITE = struct.Struct("<5Q")
LUA = "limits_alloc"


class Counted:
    """a process's counters, mapped by alloc_count.c"""

    def __init__(self, lab, pid):
        self.lab, self.pid = lab, pid
        self.path = lab.path(f"allocations.{pid}")
        self.maps = self.symbols = None

    def read(self):
        with open(self.path, "rb") as f:
            data = f.read()
        return {(place, caller): calls for key, place, caller, calls, _ in SITE.iter_unpack(data) if key}

    def load_names(self):
        self.maps, starts = [], []
        with open(f"/proc/{self.pid}/maps") as f:
            for line in f:
                p = line.split()
                if len(p) > 5 and p[5].startswith("/"):
                    start, end = (int(x, 16) for x in p[0].split("-"))
                    self.maps.append((start, end, p[5], start - int(p[2], 16)))
        out = subprocess.run(["nm", "-n", "--defined-only", self.lab.once], stdout=subprocess.PIPE).stdout.decode()
        for line in out.splitlines():
            p = line.split()
            if len(p) == 3 and p[1] in "tTwW":
                starts.append((int(p[0], 16), p[2]))
        self.symbols = starts

    def name(self, address):
        """the function's name within the program, else the library's"""
        for start, end, path, base in self.maps:
            if start <= address < end:
                if os.path.realpath(path) != os.path.realpath(self.lab.once):
                    return os.path.basename(path)
                i = bisect.bisect_right(self.symbols, (address - base, "\x7f")) - 1
                return self.symbols[i][1] if i >= 0 else "?"
        return "?"

    def between(self, before, after):
        """[(calls, function, its caller)], most first, without Lua's own"""
        self.load_names()
        out = []
        for site, calls in after.items():
            n = calls - before.get(site, 0)
            place = self.name(site[0]) if n else ""
            if n and place != LUA:
                out.append((n, place, self.name(site[1]) if site[1] else ""))
        return sorted(out, reverse=True)


class Judge:
    def __init__(self, show):
        self.show, self.bad = show, 0

    def verdict(self, what, counted, before, after, n, unit="record"):
        sites = counted.between(before, after)
        total = sum(s[0] for s in sites)
        ok = total / n < LIMIT[unit]
        print(f"{'ok' if ok else 'FAILED'}: {what}: {total} allocations for {n} {unit}s, {total / n:.5f} a {unit}")
        for calls, place, caller in sites[: self.show or (0 if ok else 12)]:
            print(f"    {calls:8d}  {place}{' < ' + caller if caller else ''}")
        sys.stdout.flush()
        self.bad += not ok


def preload(lab):
    return {"LD_PRELOAD": os.path.join(lab.build, "libbench_alloc_count.so"),
            "ALLOC_COUNT_FILE": lab.path("allocations")}


def settle(counted, seconds=30):
    """the counters once the process is idle: its CPU time and they stand still"""
    last, until = None, time.monotonic() + seconds
    while time.monotonic() < until:
        now = (cpu_seconds(counted.pid), counted.read())
        if last and now[0] - last[0] <= 0.02 and sum(now[1].values()) - sum(last[1].values()) < 20:
            return now[1]
        last = now
        time.sleep(0.6)
    raise Failed("the process does not come to rest")


def broker(lab, judge):
    b = OurBroker(lab, "broker", preload=preload(lab))
    c = Counted(lab, b.pid)
    topic, many = b.topic(1), b.topic(8)

    def case(what, n, unit, run):
        run(n // 4)
        before = settle(c)
        run(n)
        judge.verdict(what, c, before, settle(c), n, unit)

    case("broker, produce in large batches", 200000, "record",
         lambda n: lab.figures("rdk_produce", b.address, topic, 1, 100, n))
    case("broker, fetch in large batches", 200000, "record",
         lambda n: lab.figures("rdk_consume", b.address, topic, 0, n))
    case("broker, produce one record a request", 5000, "request",
         lambda n: lab.figures("latency", b.address, many, 8, "turn", lab.folder, n))
    tail = b.topic(1)

    def follow(n):
        """a consumer at the end: a request or two for each record"""
        reader = lab.start([os.path.join(lab.build, "bench_rdk_consume"), b.address, tail, "0", str(follow.read + n)],
                           stdout=subprocess.DEVNULL)
        lab.figures("latency", b.address, tail, 1, "turn", lab.folder, n)
        follow.read += n
        if lab.ended(reader, 60) != 0:
            raise Failed("the reader at the end did not get its records")
    follow.read = 0
    case("broker, a consumer that follows record by record", 3000, "request", follow)
    b.stop()


def commits(lab, judge):
    b = OurBroker(lab, "commits", preload=preload(lab))
    c, topic = Counted(lab, b.pid), b.topic(1)
    n = 500
    lab.figures("commit", b.address, topic, lab.folder, n)
    before = settle(c)
    lab.figures("commit", b.address, topic, lab.folder, n)
    judge.verdict("broker, back to back, each one record and one offset", c, before, settle(c), n, "transaction")
    b.stop()


def worker(lab, judge):
    b = OurBroker(lab, "worker")
    for t in ("bench-lines", "lines"):
        lab.call([lab.once, "topic", "create", t, "-b", b.address])
    with open(BOOK, "rb") as f:
        book = f.read()
    lines = book.count(b"\n")

    def case(what, job, source, books, per_line):
        state = tempfile.mkdtemp(prefix="state-", dir=lab.folder)
        p = lab.start([lab.once, "run", os.path.join(ROOT, job), "--brokers", b.address, "--state", state],
                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, **preload(lab)))
        p.stdout.readline()
        c = Counted(lab, p.pid)

        def feed(n):
            cpu, until = cpu_seconds(p.pid), time.monotonic() + 20
            lab.call([lab.once, "produce", source, "-b", b.address], input=book * n)
            while cpu_seconds(p.pid) - cpu < 0.02:
                if time.monotonic() > until:
                    raise Failed(f"{job} did not work")
                time.sleep(0.1)
            return settle(c)
        before = feed(books // 4)
        after = feed(books)
        judge.verdict(what, c, before, after, books * lines * per_line)
        p.terminate()
        lab.ended(p)
    case("worker, word count in one step", "tests/bench/count_words.lua", "bench-lines", 16, 1)
    case("worker, pass through", "tests/bench/pass_through.lua", "bench-lines", 128, 1)
    case("worker, word count with repartition", "examples/wordcount/wordcount.lua", "lines", 8, 9)
    b.stop()


CASES = {"broker": broker, "commits": commits, "worker": worker}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--build", required=True)
    a.add_argument("--show", type=int, default=0)
    a.add_argument("cases", nargs="*")
    o = a.parse_args()
    lab, judge = Lab(o.build), Judge(o.show)
    try:
        for name in o.cases or CASES:
            CASES[name](lab, judge)
    except (Failed, KeyError, OSError, subprocess.TimeoutExpired) as e:
        print(f"FAILED: {e!r}")
        return 1
    finally:
        lab.close()
    return 1 if judge.bad else 0


if __name__ == "__main__":
    sys.exit(main())
