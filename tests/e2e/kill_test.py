#!/usr/bin/python3
"""Word count on real processes that are killed: a broker, three workers, four input partitions.

While the book is fed several times over, workers are SIGKILLed and started again, stopped (SIGSTOP) past
their session and woken, and the broker is SIGKILLed. Then the committed view, read by librdkafka, and the
stores must equal the answer: each count of each word once. With --guarantee at_least_once the same faults
must show duplicates, else the test proves nothing.

usage: kill_test.py --once BIN [--kafka VERSION] [--books N] [--kills N] [--stops N] [--broker-kills N]
                    [--seconds S] [--seed S] [--guarantee G] [--keep]"""
import argparse, os, random, shutil, signal, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import *

PARTITIONS, WORKERS, STOP_SECONDS = 4, 3, 19


def arguments():
    a = argparse.ArgumentParser()
    a.add_argument("--once", required=True)
    a.add_argument("--kafka")
    a.add_argument("--books", type=int, default=20)
    a.add_argument("--kills", type=int, default=30)
    a.add_argument("--stops", type=int, default=5)
    a.add_argument("--broker-kills", type=int, default=5)
    a.add_argument("--seconds", type=float, default=90)
    a.add_argument("--seed", type=int, default=None)
    a.add_argument("--guarantee", default="exactly_once")
    a.add_argument("--keep", action="store_true")
    return a.parse_args()


def plan(o, rng):
    """(second, kind), drawn; the first seconds are left for the start"""
    events = [(rng.uniform(2, o.seconds), "kill") for _ in range(o.kills)]
    events += [(rng.uniform(2, max(3, o.seconds - STOP_SECONDS)), "stop") for _ in range(o.stops)]
    events += [(rng.uniform(3, o.seconds), "broker") for _ in range(o.broker_kills)]
    return sorted(events)


def wake(workers, now):
    for w in workers:
        if w.stopped_until and now >= w.stopped_until:
            w.process.send_signal(signal.SIGCONT)
            w.stopped_until = None


def inject(kind, broker, workers, rng, done):
    awake = [w for w in workers if not w.stopped_until]
    if kind == "broker":
        broker.kill()
        time.sleep(rng.uniform(0, 0.5))
        broker.start()
    elif kind == "kill" and awake:
        w = rng.choice(awake)
        w.kill()
        time.sleep(rng.choice([0, 0, rng.uniform(0, 0.3)]))
        w.start()
    elif kind == "stop" and len(awake) > 1:
        w = rng.choice(awake)
        w.process.send_signal(signal.SIGSTOP)
        w.stopped_until = time.time() + STOP_SECONDS
    else:
        return False
    done[kind] = done.get(kind, 0) + 1
    return True


def faults(o, rng, broker, workers, feed):
    begin, done, events = time.time(), {}, plan(o, rng)
    while events:
        at, kind = events.pop(0)
        while time.time() - begin < at:
            wake(workers, time.time())
            time.sleep(0.02)
        for w in workers:
            if not w.stopped_until:
                w.check()
        if not inject(kind, broker, workers, rng, done):  # all are stopped: later
            events = sorted(events + [(at + 2, kind)])
    while any(w.stopped_until for w in workers):
        wake(workers, time.time())
        time.sleep(0.05)
    feed.join(600)
    if feed.is_alive() or feed.failed:
        raise Failed(f"the feed: {feed.failed or 'did not end'}")
    return done


def restart_time(o, address, broker, workers, rng):
    """seconds from a worker's start, right after its SIGKILL, to its next record's committed output"""
    times = []
    for i in range(3):
        word = b"restart" + b"abcdefgh"[i:i + 1] + str(rng.randrange(10**9)).translate(
            str.maketrans("0123456789", "abcdefghij")).encode()
        w = workers[i % len(workers)]
        w.kill()
        w.start()
        p = Producer({"bootstrap.servers": address, "enable.idempotence": True, "log_level": 2})
        for part in range(PARTITIONS):
            p.produce("lines", word, partition=part)
        p.flush(30)
        want = {b"%d" % n for n in range(1, PARTITIONS + 1)}
        c = Consumer({"bootstrap.servers": address, "group.id": f"restart-{i}", "log_level": 2,
                      "isolation.level": "read_committed", "enable.auto.commit": False})
        parts = range(len(c.list_topics("word-counts", 30).topics["word-counts"].partitions))
        c.assign([TopicPartition("word-counts", x, max(0, c.get_watermark_offsets(
            TopicPartition("word-counts", x), 30)[1] - 50)) for x in parts])
        until = time.time() + 30
        while want and time.time() < until:
            m = c.poll(0.05)
            if m and not m.error() and m.key() == word:
                want.discard(m.value())
        c.close()
        if want:
            raise Failed(f"after a restart the counts {want} of {word} did not come in 30 s")
        times.append((time.time() - w.started, word))
    return times


def run(o, folder):
    seed = o.seed if o.seed is not None else random.SystemRandom().randrange(2**31)
    rng = random.Random(seed)
    say(f"seed {seed}, in {folder}")
    broker = ApacheKafka(o.kafka, folder) if o.kafka else OurBroker(o.once, folder)
    book = open(os.path.join(ROOT, "examples/wordcount/alice.txt"), "rb").read().split(b"\n")[:-1]
    lines = book * o.books
    workers = []
    try:
        broker.start()
        create_topic(broker.address, "lines", PARTITIONS)
        create_topic(broker.address, "word-counts", PARTITIONS)
        job = os.path.join(ROOT, "examples/wordcount/wordcount.lua")
        workers += [Worker(o.once, job, broker.address, folder, f"worker{i}", ["--guarantee", o.guarantee, "-v"])
                    for i in range(WORKERS)]
        for w in workers:
            w.start()
        feed = Feed(broker.address, "lines", lines, PARTITIONS, o.seconds)
        feed.start()
        done = faults(o, rng, broker, workers, feed)
        say(f"faults: {done}")
        group_topics = ["lines", "wordcount-words-repartition"]
        wait_drained(broker.address, "wordcount", group_topics, PARTITIONS, 180,
                     lambda: [w.check() for w in workers])
        extra = []
        if o.guarantee == "exactly_once":
            extra = restart_time(o, broker.address, broker, workers, rng)
            say("restart to next committed record: " + ", ".join(f"{t:.2f} s" for t, _ in extra))
            wait_drained(broker.address, "wordcount", group_topics, PARTITIONS, 60)
        expected = count_words(lines)
        for _, word in extra:
            expected[word] = PARTITIONS
        out = read_committed(broker.address, "word-counts")
        lost, duplicated, reordered = judge_counts(out, expected)
        say(f"{len(out)} committed counts of {len(expected)} words: {lost} lost, {duplicated} duplicated, "
            f"{reordered} reordered")
        if o.guarantee == "at_least_once":
            if lost:
                raise Failed(f"at_least_once lost {lost}")
            if not duplicated:
                raise Failed("at_least_once shows no duplicates: the faults prove nothing")
            return
        if lost or duplicated or reordered:
            raise Failed("the committed view is not the answer")
        for w in workers:
            w.stop()
        stores = {k: int(v) for k, v in state_dump(o.once, folder, "wordcount", "counts").items()}
        if stores != expected:
            wrong = [k for k in set(stores) | set(expected) if stores.get(k) != expected.get(k)]
            raise Failed(f"{len(wrong)} words differ in the stores, for instance "
                         f"{wrong[0]}: {stores.get(wrong[0])}, not {expected.get(wrong[0])}")
        if any(t > 2 for t, _ in extra) and not o.kafka:
            raise Failed("a restarted worker took longer than 2 s to its next record")
        broker.stop()
    finally:
        for w in workers:
            if w.process and w.process.poll() is None:
                w.process.send_signal(signal.SIGCONT)
                w.process.kill()
        try:
            broker.kill()
        except Exception:
            pass


def main():
    o = arguments()
    folder = tempfile.mkdtemp(prefix="once-kill-")
    ok = False
    try:
        run(o, folder)
        ok = True
    except Failed as e:
        print(f"not ok kill_test {o.guarantee}: {e} (kept: {folder})", flush=True)
    if ok:
        print(f"ok kill_test {o.guarantee}{' kafka ' + o.kafka if o.kafka else ''}", flush=True)
    if ok and not o.keep:
        shutil.rmtree(folder)
    return 0 if ok else 1


sys.exit(main())
