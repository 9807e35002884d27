"""The cases of run.py. Each takes the lab and the options and returns rows: a dictionary with `name`, `figures`
(medians over the rounds, with their units in the key), `ratios`, and where the project promises one `floor`,
(what, value, at_least or below, bound)."""
import os, resource, select, shutil, subprocess, tempfile, time

from lab import ApacheKafka, BOOK, Failed, OurBroker, ROOT, cpu_seconds, in_turn, median, ratio, rounds, say, status

KAFKA = "4.4.0"


def row(name, kept, dropped, unit, ratios=(), floor=None):
    figures = {k: median(v) for k, v in kept.items() if k != "sync_us"}
    out = {"name": name, "unit": unit, "figures": figures, "rounds": len(kept.get("sync_us", [])), "dropped": dropped,
           "sync_us": median(kept.get("sync_us", []))}
    out["ratios"] = {f"{a}/{b}": ratio(kept, a, b) for a, b in ratios if a in kept and b in kept}
    if floor:
        out["floor"] = floor
    return out


# ---- produce ----

def produced(lab, broker, size, count, partitions=1, config=()):
    topic = broker.topic(partitions, *config)
    rate = lab.figures("rdk_produce", broker.address, topic, partitions, size, count)[0]
    broker.drop(topic)
    return rate


def produce(lab, o):
    """librdkafka's rate into our broker beside its own ceiling, the disk's, and Kafka's"""
    if not lab.has("rdk_produce"):
        return [{"name": "produce", "skipped": "librdkafka is not installed"}]
    ours = OurBroker(lab, "produce")
    kafka = None
    try:
        if not o.no_kafka:
            kafka = ApacheKafka(lab, KAFKA)
    except (Failed, OSError, subprocess.TimeoutExpired) as e:
        say(f"no Apache Kafka to compare with: {e}")
    out = []
    for size, count in ((100, o.scaled(2000000)), (1024, o.scaled(400000))):
        sides = [
            ("R", lambda: lab.figures("rdk_produce", "mock", "mock", 1, size, count)[0]),
            ("D", lambda: lab.sequential(o.scaled(512) << 20) / size),
            ("ours", lambda: produced(lab, ours, size, count)),
        ]
        if kafka:
            sides += [
                ("kafka", lambda: produced(lab, kafka, size, count)),
                ("kafka_synced", lambda: produced(lab, kafka, size, count, config=("flush.messages=1",))),
            ]
        kept, dropped = rounds(lab, o.rounds, lambda forwards: in_turn(forwards, sides))
        r = row(f"produce {size} B, acks=all, 1 partition", kept, dropped, "messages/s",
                [("ours", "R"), ("ours", "D"), ("ours", "kafka"), ("ours", "kafka_synced"), ("kafka", "R")])
        r_part, d_part = r["ratios"].get("ours/R"), r["ratios"].get("ours/D")
        if r_part is not None:
            value = r_part / 0.25 if size == 100 else max(r_part / 0.25, d_part / 0.2)
            bound = "0.25 R" if size == 100 else "min(0.25 R, 0.2 D)"
            r["floor"] = (f"of {bound}", value, "at least", 1.0)
        out.append(r)
    ours.stop()
    if kafka:
        kafka.stop()
    return out


def durability(lab, o):
    """synced against --durability async"""
    if not lab.has("rdk_produce"):
        return [{"name": "durability", "skipped": "librdkafka is not installed"}]
    synced, unsynced = OurBroker(lab, "sync"), OurBroker(lab, "async", "--durability", "async")
    out = []
    for size, count in ((100, o.scaled(2000000)), (1024, o.scaled(400000))):
        sides = [("sync", lambda: produced(lab, synced, size, count)),
                 ("async", lambda: produced(lab, unsynced, size, count))]
        kept, dropped = rounds(lab, o.rounds, lambda forwards: in_turn(forwards, sides))
        out.append(row(f"durability, produce {size} B", kept, dropped, "messages/s", [("sync", "async")]))
    synced.stop()
    unsynced.stop()
    return out


# ---- latency, spread ----

def latency(lab, o):
    """one request in flight against an fdatasync; one partition against 64"""
    broker = OurBroker(lab, "latency")
    one, many = broker.topic(1), broker.topic(64)
    n = o.scaled(1000)

    def measure(forwards):
        out = {}
        for name, topic, partitions, how in (("one", one, 1, "turn"), ("turn", many, 64, "turn"),
                                             ("all", many, 64, "all"))[::1 if forwards else -1]:
            p50, p99, f50, f99 = lab.figures("latency", broker.address, topic, partitions, how, lab.folder, n)
            out.update({name + "_p50": p50, name + "_p99": p99, name + "_F_p50": f50, name + "_F_p99": f99})
        return out
    kept, dropped = rounds(lab, o.rounds, measure)
    broker.stop()
    part = lambda *names: {k: v for k, v in kept.items() if k == "sync_us" or k.startswith(names)}
    return [
        row("one record in flight, 1 partition", part("one"), dropped, "us",
            [("one_p50", "one_F_p50"), ("one_p99", "one_F_p99")]),
        row("... 64 partitions in turn", part("one_p50", "turn"), dropped, "us",
            [("turn_p50", "turn_F_p50"), ("turn_p50", "one_p50")]),
        row("... one record to each of 64 at once", part("one_p50", "all"), dropped, "us",
            [("all_p50", "all_F_p50"), ("all_p50", "one_p50")]),
    ]


def spread(lab, o):
    """throughput into 64 partitions against one"""
    if not lab.has("rdk_produce"):
        return [{"name": "spread", "skipped": "librdkafka is not installed"}]
    broker = OurBroker(lab, "spread")
    count = o.scaled(2000000)
    r = lambda partitions: lab.figures("rdk_produce", "mock", "mock", partitions, 100, count)[0]
    sides = [("one", lambda: produced(lab, broker, 100, count)),
             ("many", lambda: produced(lab, broker, 100, count, partitions=64)),
             ("R_one", lambda: r(1)), ("R_many", lambda: r(64))]
    kept, dropped = rounds(lab, o.rounds, lambda forwards: in_turn(forwards, sides))
    broker.stop()
    return [row("produce 100 B, 64 partitions against 1", kept, dropped, "messages/s",
                [("many", "one"), ("R_many", "R_one"), ("one", "R_one"), ("many", "R_many")])]


def fetch(lab, o):
    """librdkafka reads what was just written"""
    if not lab.has("rdk_consume"):
        return [{"name": "fetch", "skipped": "librdkafka is not installed"}]
    broker = OurBroker(lab, "fetch")
    count, topic = o.scaled(400000), broker.topic(1)
    lab.figures("rdk_produce", broker.address, topic, 1, 1024, count)
    mock = lambda: lab.figures("rdk_produce", "mock", "mock", 1, 1024, count)[0]

    def consume():
        before = cpu_seconds(broker.pid)
        rate = lab.figures("rdk_consume", broker.address, topic, 0, count)[0]
        return rate, (cpu_seconds(broker.pid) - before) / count * 1e6

    def measure(forwards):
        out = in_turn(forwards, [("produce_R", mock), ("fetch", consume)])
        out["fetch"], out["broker_us_a_message"] = out["fetch"]
        return out
    kept, dropped = rounds(lab, o.rounds, measure)
    broker.stop()
    return [row("fetch 1 KiB, read_committed, 1 partition", kept, dropped, "messages/s", [("fetch", "produce_R")])]


# ---- commit ----

def commit(lab, o):
    """a record, an offset and the end of the transaction, back to back"""
    broker = OurBroker(lab, "commit")
    topic = broker.topic(1)

    def measure(forwards):
        p50, p99, end50, end99, f50, f99 = lab.figures("commit", broker.address, topic, lab.folder, o.scaled(400))
        return {"p50": p50, "p99": p99, "end_p50": end50, "end_p99": end99, "F_p50": f50, "F_p99": f99}
    kept, dropped = rounds(lab, o.rounds, measure)
    broker.stop()
    return [row("transaction back to back (record, offset, commit)", kept, dropped, "us",
                [("p50", "F_p50"), ("end_p50", "F_p50"), ("p99", "p50")])]


# ---- worker ----

def worker_cpu(lab, broker, job, records):
    """records a CPU-second of a worker that finds its input there and stops at its end"""
    state = tempfile.mkdtemp(prefix="state-", dir=lab.folder)
    log = open(os.path.join(lab.folder, "worker.log"), "wb")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = lab.start([lab.once, "run", job, "--brokers", broker.address, "--state", state, "--until-end"],
                  stdout=subprocess.DEVNULL, stderr=log)
    code = lab.ended(p, 300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        raise Failed(f"the worker of {job} ended with {code}, see {log.name}")
    shutil.rmtree(state)
    return records / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def fresh_job(lab, name, stem):
    """a copy of the job under a name of its own, so that it reads its input from the start"""
    with open(os.path.join(ROOT, name)) as f:
        text = f.read()
    new = lab.name(stem)
    path = lab.path(new + ".lua")
    with open(path, "w") as f:
        f.write(text.replace(f'name = "{stem}"', f'name = "{new}"', 1))
    return path


def feed_books(lab, broker, topic, books):
    with open(BOOK, "rb") as f:
        text = f.read()
    n = text.count(b"\n") * books
    p = lab.start([lab.once, "produce", topic, "-b", broker.address], stdin=subprocess.PIPE)
    for _ in range(books):
        p.stdin.write(text)
    p.stdin.close()
    if lab.ended(p, 120) != 0:
        raise Failed("feeding the book failed")
    return n


def worker(lab, o):
    """process calls a CPU-second of the worker process against the bare loop in Lua"""
    broker = OurBroker(lab, "worker")
    out = []
    lab.call([lab.once, "topic", "create", "bench-lines", "-b", broker.address])
    books = o.scaled(120)
    n = feed_books(lab, broker, "bench-lines", books)
    bare = lambda: float(lab.call(["lua5.4", os.path.join(ROOT, "tests/bench/bare_words.lua"), BOOK, str(books)]))
    ours = lambda: worker_cpu(lab, broker, fresh_job(lab, "tests/bench/count_words.lua", "bench-words"), n)
    kept, dropped = rounds(lab, o.rounds, lambda f: in_turn(f, [("worker", ours), ("bare_loop", bare)]))
    out.append(row("word count, one step, a line a call", kept, dropped, "lines/CPU-s", [("worker", "bare_loop")]))

    lab.call([lab.once, "topic", "create", "lines", "-b", broker.address])
    n_full = feed_books(lab, broker, "lines", o.scaled(20))
    full = lambda: worker_cpu(lab, broker, fresh_job(lab, "examples/wordcount/wordcount.lua", "wordcount"), n_full)
    kept, dropped = rounds(lab, o.rounds, lambda f: in_turn(f, [("worker", full), ("bare_loop", bare)]))
    out.append(row("the example's word count, with repartition", kept, dropped, "lines/CPU-s"))

    if lab.has("rdk_produce"):
        broker.drop("bench-lines")
        lab.call([lab.once, "topic", "create", "bench-lines", "-b", broker.address])
        m = o.scaled(1000000)
        lab.figures("rdk_produce", broker.address, "bench-lines", 1, 100, m)
        through = lambda: worker_cpu(lab, broker, fresh_job(lab, "tests/bench/pass_through.lua", "bench-pass"), m)
        kept, dropped = rounds(lab, o.rounds, lambda f: in_turn(f, [("worker", through)]))
        out.append(row("pass through, 100 B", kept, dropped, "records/CPU-s"))
    broker.stop()
    return out


# ---- from nothing to output ----

def first_output(lab):
    """ms from `once run` on an empty directory to the first committed output on its stdout"""
    folder = tempfile.mkdtemp(prefix="first-", dir=lab.folder)
    log = open(os.path.join(lab.folder, "first.log"), "wb")
    args = [lab.once, "run", os.path.join(ROOT, "examples/wordcount/wordcount.lua"), "--data",
            os.path.join(folder, "data"), "--in", f"lines={BOOK}", "--out", "word-counts", "--until-end"]
    begin = time.perf_counter()
    p = lab.start(args, stdout=subprocess.PIPE, stderr=log)
    first = os.read(p.stdout.fileno(), 1)
    took = (time.perf_counter() - begin) * 1e3
    p.kill()
    lab.ended(p)
    p.stdout.close()
    shutil.rmtree(folder)
    if not first:
        raise Failed(f"no output came, see {log.name}")
    return took


def start(lab, o):
    ms = [first_output(lab) for _ in range(4 if o.quick else 10)]
    sync = lab.sync_us()
    return [{"name": "from `once run` on an empty directory to the first committed output", "unit": "ms",
             "figures": {"median": median(ms), "least": min(ms), "most": max(ms)}, "ratios": {}, "rounds": len(ms),
             "dropped": 0, "sync_us": sync, "floor": ("ms, median", median(ms), "below", 150.0)}]


def memory(lab, o):
    """RssAnon of broker and worker in one process once the whole book is counted"""
    with open(os.path.join(ROOT, "examples/wordcount/expected.tsv")) as f:
        steps = sum(int(line.split("\t")[1]) for line in f)
    data = lab.path("memory")
    p = lab.start([lab.once, "run", os.path.join(ROOT, "examples/wordcount/wordcount.lua"), "--data", data, "--in",
                   f"lines={BOOK}", "--out", "word-counts"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    got, until = 0, time.monotonic() + 60
    while got < steps and time.monotonic() < until:
        if select.select([p.stdout], [], [], 1)[0]:
            got += os.read(p.stdout.fileno(), 1 << 16).count(b"\n")
    anon, peak = status(p.pid, "RssAnon") / 1024, status(p.pid, "VmHWM") / 1024
    p.terminate()
    code = lab.ended(p)
    p.stdout.close()
    if got < steps or code != 0:
        raise Failed(f"{got} of {steps} steps came out, the run ended with {code}")
    return [{"name": "memory after the book, broker and worker together", "unit": "MiB",
             "figures": {"RssAnon": anon, "VmHWM": peak}, "ratios": {}, "rounds": 1, "dropped": 0, "sync_us": None,
             "floor": ("MiB RssAnon", anon, "below", 40.0)}]


CASES = {"produce": produce, "durability": durability, "latency": latency, "spread": spread, "fetch": fetch,
         "commit": commit, "worker": worker, "start": start, "memory": memory}
