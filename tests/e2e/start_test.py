#!/usr/bin/python3
"""From `once run` on an empty directory to its first committed output, and what it holds in memory after a book.

usage: start_test.py --once BIN [--rounds N]

Prints results as the parts of tests/run.sh do. The time is the best of all rounds, since the machine may have
other work; the median is told. Memory is RssAnon: of the one process with its embedded broker, and of a broker
and a worker apart."""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOB = os.path.join(ROOT, "examples/wordcount/wordcount.lua")
BOOK = os.path.join(ROOT, "examples/wordcount/alice.txt")
STEPS = sum(int(line.split("\t")[1]) for line in open(os.path.join(ROOT, "examples/wordcount/expected.tsv")))
START_MS, MEMORY_KIB = 150, 40 * 1024


def result(holds, name, figures):
    print(f"ok {name}: {figures}" if holds else f"not ok {name}: {figures}", flush=True)
    return holds


def run_job(once, data, *more):
    return subprocess.Popen([once, "run", JOB, "--data", data, "--in", f"lines={BOOK}", "--out", "word-counts", *more],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def first_output_ms(once, folder, n):
    begin = time.monotonic()
    p = run_job(once, os.path.join(folder, f"start{n}"))
    line = p.stdout.readline()
    took = (time.monotonic() - begin) * 1000
    p.kill()
    p.wait()
    assert line, "no output came"
    return took


def rss_anon_kib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("RssAnon:"):
            return int(line.split()[1])


def read_steps(p):
    for _ in range(STEPS):
        assert p.stdout.readline(), "the job ended before all its output"


def stop(p):
    p.terminate()
    assert p.wait(30) == 0, "the orderly stop failed"


def memory_together(once, folder):
    p = run_job(once, os.path.join(folder, "together"))
    read_steps(p)
    kib = rss_anon_kib(p.pid)
    stop(p)
    return kib


def memory_apart(once, folder):
    data = os.path.join(folder, "apart")
    b = subprocess.Popen([once, "broker", "--data", data, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    address = b.stdout.readline().decode().split()[1]
    w = run_job(once, data, "--brokers", address, "--state", os.path.join(folder, "state"))
    read_steps(w)
    kib = rss_anon_kib(b.pid), rss_anon_kib(w.pid)
    stop(w)
    stop(b)
    return kib


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--once", required=True)
    a.add_argument("--rounds", type=int, default=5)
    o = a.parse_args()
    folder = tempfile.mkdtemp(prefix="once-start-")
    try:
        times = [first_output_ms(o.once, folder, n) for n in range(o.rounds)]
        good = result(min(times) < START_MS, f"first committed output within {START_MS} ms of the start",
                      f"best {min(times):.0f} ms, median {statistics.median(times):.0f} ms of {len(times)}, "
                      f"load {os.getloadavg()[0]:.1f}")
        kib = memory_together(o.once, folder)
        good &= result(kib < MEMORY_KIB, "memory after the book, one process, under 40 MiB", f"{kib / 1024:.1f} MiB")
        b, w = memory_apart(o.once, folder)
        good &= result(b + w < MEMORY_KIB, "memory after the book, broker and worker, under 40 MiB",
                       f"{b / 1024:.1f} + {w / 1024:.1f} MiB")
    finally:
        shutil.rmtree(folder)
    return 0 if good else 1


sys.exit(main())
