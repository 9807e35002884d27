#!/usr/bin/python3
"""What librdkafka, by python3-confluent-kafka, relies on: codecs, idempotence, transactions, groups, shapes.

usage: confluent_py.py HOST:PORT [CASE ...]     without a CASE all of them; --list names them

Prints `ok CASE` or `not ok CASE: why` a line, exit 0 if all passed. Topics, groups and transactional ids have
names of this run, so a broker that keeps its data can be asked again. Each case passes on Apache Kafka."""
import os, sys, time, uuid

from confluent_kafka import (Consumer, KafkaError, KafkaException, OFFSET_BEGINNING, OFFSET_END, Producer,
                             TIMESTAMP_CREATE_TIME, TopicPartition)
from confluent_kafka.admin import AdminClient, NewTopic

RUN = "py-" + uuid.uuid4().hex[:8]
PATIENCE = 40  # seconds a case may wait for one thing
BROKER = None


class Failed(Exception):
    pass


def need(holds, why):
    if not holds:
        raise Failed(why)


def equal(what, got, want):
    need(got == want, f"{what}: {str(got)[:200]}, wanted {str(want)[:200]}")


def named(what):
    return f"{RUN}-{what}"


def topic(what, partitions):
    admin = AdminClient({"bootstrap.servers": BROKER})
    admin.create_topics([NewTopic(named(what), partitions, 1)], operation_timeout=10)[named(what)].result(15)
    return named(what)


def settings(common, given):
    return {"bootstrap.servers": BROKER, "log_level": 2, **common,
            **{k.replace("_", "."): v for k, v in given.items()}}


def producer(**given):
    return Producer(settings({"message.timeout.ms": 20000, "linger.ms": 5}, given))


def transactional(what, **given):
    p = producer(transactional_id=named(what), **{"transaction_timeout_ms": 20000, **given})
    p.init_transactions(20)
    return p


def consumer(group=None, **given):
    return Consumer(settings({"group.id": group or named(uuid.uuid4().hex[:6]), "auto.offset.reset": "earliest",
                              "enable.auto.commit": False, "session.timeout.ms": 6000,
                              "heartbeat.interval.ms": 500}, given))


def send(p, records):
    """all acknowledged, or the case fails"""
    errors = []
    for r in records:
        while True:
            try:
                p.produce(on_delivery=lambda e, m: e and errors.append(e), **r)
                break
            except BufferError:
                p.poll(0.1)
    equal("records not delivered in 30 s", p.flush(30), 0)
    need(not errors, f"delivery: {errors[:1]}")


def read(t, partitions, isolation="read_uncommitted", **given):
    """each partition from its beginning to its end, which is the stable one under read_committed"""
    c = consumer(isolation_level=isolation, enable_partition_eof=True, **given)
    c.assign([TopicPartition(t, p, OFFSET_BEGINNING) for p in range(partitions)])
    ended, out, until = set(), [], time.time() + PATIENCE
    try:
        while len(ended) < partitions:
            need(time.time() < until, f"{t} not read to its end, {len(out)} records came")
            m = c.poll(0.2)
            if m is None:
                continue
            if not m.error():
                out.append(m)
            elif m.error().code() == KafkaError._PARTITION_EOF:
                ended.add(m.partition())
            else:
                raise Failed(f"consume: {m.error()}")
    finally:
        c.close()
    return out


def values(t, partitions, isolation):
    return [m.value() for m in read(t, partitions, isolation)]


def settle(t, partitions):
    """a client may be told of a commit before its markers are written: wait for stable end = end"""
    stable, all_of = consumer(isolation_level="read_committed"), consumer(isolation_level="read_uncommitted")
    for p in range(partitions):
        tp = TopicPartition(t, p)
        wait(f"the stable end of {t}-{p}", lambda: stable.get_watermark_offsets(tp, 10) ==
             all_of.get_watermark_offsets(tp, 10))
    stable.close()
    all_of.close()


def wait(what, holds, *members):
    until = time.time() + PATIENCE
    while not holds():
        need(time.time() < until, f"{what}: not within {PATIENCE} s")
        if not members:
            time.sleep(0.1)
        for c in members:
            m = c.poll(0.1)
            need(m is None or not m.error(), f"{what}: {m and m.error()}")


def case_codecs():
    """each codec gives back what went in, at offsets 0 to 499"""
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        t = topic("codec-" + codec, 1)
        sent = [f"{codec} {i} ".encode() * (1 + i % 50) + os.urandom(i % 7) for i in range(500)]
        send(producer(compression_type=codec, linger_ms=50),
             [{"topic": t, "partition": 0, "key": b"%d" % i, "value": v} for i, v in enumerate(sent)])
        got = read(t, 1, check_crcs=True)
        equal(f"{codec}: offsets", [m.offset() for m in got], list(range(500)))
        need([m.value() for m in got] == sent, f"{codec}: values differ")


def case_idempotent():
    """an idempotent producer's records are there once, in order"""
    t = topic("idempotent", 4)
    send(producer(enable_idempotence=True), [{"topic": t, "partition": i % 4, "value": b"%d" % i}
                                             for i in range(2000)])
    got = read(t, 4)
    for p in range(4):
        equal(f"partition {p}", [int(m.value()) for m in got if m.partition() == p], list(range(p, 2000, 4)))


def case_txn():
    """read_committed sees what committed and nothing of what aborted or is open"""
    t, p, want = topic("txn", 2), transactional("txn"), []
    for n in range(5):
        p.begin_transaction()
        sent = [b"%d-%d" % (n, i) for i in range(20)]
        for i, v in enumerate(sent):
            p.produce(t, v, partition=i % 2)
        if n % 2 == 0:
            p.commit_transaction(20)
            want += sent
        else:
            p.flush(20)  # else the client drops them before they are in the log
            p.abort_transaction(20)
    settle(t, 2)
    equal("read_committed", sorted(values(t, 2, "read_committed")), sorted(want))
    equal("records with the aborted ones", len(values(t, 2, "read_uncommitted")), 100)
    p.begin_transaction()
    p.produce(t, b"open", partition=0)
    p.flush(20)
    send(producer(), [{"topic": t, "partition": 0, "value": b"behind it"}])
    seen = values(t, 2, "read_committed")
    need(b"open" not in seen and b"behind it" not in seen, "read past the stable offset")
    p.commit_transaction(20)
    settle(t, 2)
    equal("after the commit", sorted(values(t, 2, "read_committed")), sorted(want + [b"open", b"behind it"]))


def case_ctp():
    """consume, transform, produce; the first round is aborted and its worker replaced"""
    source, sink, group = topic("ctp-in", 2), topic("ctp-out", 2), named("ctp")
    send(producer(), [{"topic": source, "partition": i % 2, "value": b"%d" % i} for i in range(100)])
    p = c = None
    aborted, done, until = False, 0, time.time() + PATIENCE
    while done < 100:
        need(time.time() < until, f"{done} of 100 records in {PATIENCE} s")
        if p is None:
            p, c = transactional("ctp"), consumer(group, isolation_level="read_committed")
            c.subscribe([source])
        batch = [m for m in c.consume(30, 1.0) if not m.error()]
        if not batch:
            continue
        p.begin_transaction()
        next_at = {}
        for m in batch:
            p.produce(sink, b"x" + m.value(), partition=m.partition())
            next_at[m.partition()] = m.offset() + 1
        p.send_offsets_to_transaction([TopicPartition(source, k, o) for k, o in next_at.items()],
                                      c.consumer_group_metadata(), 20)
        if aborted:
            p.commit_transaction(20)
            done += len(batch)
        else:
            p.abort_transaction(20)
            c.close()
            p, aborted = None, True
    equal("committed offsets", [o.offset for o in c.committed([TopicPartition(source, 0),
                                                               TopicPartition(source, 1)], 10)], [50, 50])
    c.close()
    settle(sink, 2)
    equal("output", sorted(int(v[1:]) for v in values(sink, 2, "read_committed")), list(range(100)))


def case_txn_offsets():
    """offsets in a transaction count once it commits; who asks for stable ones waits"""
    t, group, p = topic("txo", 1), named("txo"), transactional("txo")
    outsider = consumer(group)

    def offset(isolation, seconds):
        c = consumer(group, isolation_level=isolation)
        try:
            return c.committed([TopicPartition(t, 0)], seconds)[0].offset
        except KafkaException as e:
            return e.args[0].name()
        finally:
            c.close()
    have = -1001  # none
    for off, commit in ((5, False), (6, True), (7, False), (8, True)):
        p.begin_transaction()
        p.send_offsets_to_transaction([TopicPartition(t, 0, off)], outsider.consumer_group_metadata(), 20)
        equal(f"committed while {off} is pending", offset("read_uncommitted", 10), have)
        equal(f"stable while {off} is pending", offset("read_committed", 1.5), "_TIMED_OUT")
        if commit:
            p.commit_transaction(20)
            have = off
        else:
            p.abort_transaction(20)
        equal(f"stable after {off}", offset("read_committed", 10), have)
    outsider.close()


def case_txn_zombie():
    """a member of a past generation cannot commit offsets in a transaction"""
    t, group, p = topic("zombie", 1), named("zombie"), transactional("zombie")

    def attempt(member, off):
        p.begin_transaction()
        p.produce(t, b"%d" % off, partition=0)
        try:
            p.send_offsets_to_transaction([TopicPartition(t, 0, off)], member, 20)
            p.commit_transaction(20)
            return "committed"
        except KafkaException as e:
            need(e.args[0].txn_requires_abort(), f"{e.args[0]} does not ask for an abort")
            p.abort_transaction(20)
            return e.args[0].name()
    a, b = consumer(group), consumer(group)
    a.subscribe([t])
    wait("the first member's partition", a.assignment, a)
    old = a.consumer_group_metadata()
    equal("the live member", attempt(old, 1), "committed")
    b.subscribe([t])
    joined = time.time() + 4
    wait("a second member", lambda: time.time() > joined and (a.assignment() or b.assignment()), a, b)
    fenced = ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID")
    need(attempt(old, 2) in fenced, "a member of the last generation committed")
    a.close()
    wait("the survivor's partition", b.assignment, b)
    need(attempt(old, 3) in fenced, "a member that left committed")
    equal("the new member", attempt(b.consumer_group_metadata(), 4), "committed")
    b.close()
    settle(t, 1)
    equal("read_committed", values(t, 1, "read_committed"), [b"1", b"4"])


def case_txn_timeout():
    """a transaction left open is aborted by the broker, its producer fenced"""
    t = topic("late", 1)
    p = transactional("late", transaction_timeout_ms=2000, message_timeout_ms=2000)
    p.begin_transaction()
    p.produce(t, b"left open", partition=0)
    p.flush(20)
    send(producer(), [{"topic": t, "partition": 0, "value": b"plain"}])
    equal("behind the open one", values(t, 1, "read_committed"), [])
    settle(t, 1)
    equal("after the timeout", values(t, 1, "read_committed"), [b"plain"])
    try:
        p.commit_transaction(20)
        raise Failed("a transaction that timed out could be committed")
    except KafkaException as e:
        need(e.args[0].fatal(), f"the late commit: {e.args[0]}")


def case_fencing():
    """a second producer of the same transactional id aborts the first one's transaction and fences it"""
    t, old = topic("fence", 1), transactional("fence")
    old.begin_transaction()
    old.produce(t, b"old", partition=0)
    old.flush(20)
    new = transactional("fence")
    new.begin_transaction()
    new.produce(t, b"new", partition=0)
    new.commit_transaction(20)
    settle(t, 1)
    try:
        old.commit_transaction(20)
        raise Failed("the fenced producer could commit")
    except KafkaException as e:
        need(e.args[0].fatal(), f"fencing is not fatal: {e.args[0]}")
    equal("read_committed", values(t, 1, "read_committed"), [b"new"])


def rebalance(strategy):
    """two members share four partitions, nothing is read twice, the survivor takes over"""
    t, group, own = topic(f"g-{strategy}", 4), named(f"g-{strategy}"), {}
    steps = strategy == "cooperative-sticky"

    def member(name):
        c = consumer(group, client_id=name, partition_assignment_strategy=strategy)
        own[name] = set()

        def assigned(c, parts):
            own[name] |= {p.partition for p in parts}
            (c.incremental_assign if steps else c.assign)(parts)

        def revoked(c, parts):
            own[name] -= {p.partition for p in parts}
            c.incremental_unassign(parts) if steps else c.unassign()
        c.subscribe([t], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
        return c
    every = {0, 1, 2, 3}
    a = member("a")
    wait("one member with all partitions", lambda: own["a"] == every, a)
    b = member("b")
    wait("two members with two each", lambda: len(own["a"]) == len(own["b"]) == 2 and
         own["a"] | own["b"] == every, a, b)
    send(producer(), [{"topic": t, "partition": i % 4, "value": b"%d" % i} for i in range(40)])
    got, until = set(), time.time() + PATIENCE
    while len(got) < 40:
        need(time.time() < until, f"the group read {len(got)} of 40")
        for name, c in (("a", a), ("b", b)):
            m = c.poll(0.1)
            if m and not m.error():
                need(m.value() not in got, f"{m.value()} was read twice")
                need(m.partition() in own[name], f"{name} read partition {m.partition()}, which it has not")
                got.add(m.value())
                c.commit(m, asynchronous=False)
    a.close()
    wait("the survivor with all partitions", lambda: own["b"] == every, b)
    equal("committed offsets", [o.offset for o in b.committed([TopicPartition(t, p) for p in range(4)], 10)],
          [10] * 4)
    b.close()


def case_group_range():
    rebalance("range")


def case_group_roundrobin():
    rebalance("roundrobin")


def case_group_cooperative():
    rebalance("cooperative-sticky")


def case_offsets_by_time():
    """the offset of a time is that of the first record not before it"""
    t, base = topic("time", 1), 1_600_000_000_000
    send(producer(), [{"topic": t, "partition": 0, "value": b"%d" % i, "timestamp": base + 1000 * i}
                      for i in range(100)])
    c = consumer()
    for ms, want in ((-5, 0), (0, 0), (1, 1), (50_000, 50), (98_500, 99), (10_000_000, OFFSET_END)):
        equal(f"offset at {ms} ms", c.offsets_for_times([TopicPartition(t, 0, base + ms)], 10)[0].offset, want)
    equal("watermarks", c.get_watermark_offsets(TopicPartition(t, 0), 10), (0, 100))
    c.close()


def case_shapes():
    """headers, null and empty keys and values, a given time, a record above every fetch limit"""
    t = topic("shapes", 1)
    headers = [("a", b"1"), ("a", b"2"), ("empty", b""), ("null", None), ("bytes", bytes(range(256)))]
    rows = [{"key": None, "value": None}, {"key": b"", "value": b""}, {"key": None, "value": b"v"},
            {"key": b"k", "value": None}, {"key": b"h", "value": b"h", "headers": headers},
            {"key": b"large", "value": os.urandom(900_000)},
            {"key": b"time", "value": b"t", "timestamp": 1234567890123},
            {"key": b"utf-8", "value": "\u00e9\u20ac\U0001f600".encode()}]
    send(producer(message_max_bytes=2_000_000), [dict(r, topic=t, partition=0) for r in rows])
    got = read(t, 1, fetch_message_max_bytes=2_000_000)
    equal("records", len(got), len(rows))
    for r, m in zip(rows, got):
        equal("key", m.key(), r["key"])
        need(m.value() == r["value"], f"the value of key {r['key']} differs")
        equal(f"headers of key {r['key']}", m.headers() or None, r.get("headers"))
    equal("time", got[6].timestamp(), (TIMESTAMP_CREATE_TIME, 1234567890123))
    equal("records under small limits", len(read(t, 1, fetch_message_max_bytes=1000, fetch_max_bytes=10000,
                                                 message_max_bytes=1000)), len(rows))


def case_empty():
    """a topic and transactions without records"""
    t, p = topic("empty", 1), transactional("empty")
    equal("records", read(t, 1), [])
    for _ in range(3):
        p.begin_transaction()
        p.commit_transaction(20)
        p.begin_transaction()
        p.abort_transaction(20)
    equal("records", values(t, 1, "read_committed"), [])


CASES = {k[5:]: v for k, v in list(globals().items()) if k.startswith("case_")}


def run(name):
    begin = time.time()
    try:
        CASES[name]()
    except KeyError:
        why = "there is no such case"
    except Failed as e:
        why = str(e)
    except Exception as e:
        why = f"{type(e).__name__}: {e}"
    else:
        print(f"ok {name} ({time.time() - begin:.1f} s)", flush=True)
        return True
    print(f"not ok {name}: {why}", flush=True)
    return False


def main():
    global BROKER
    if "--list" in sys.argv:
        print("\n".join(CASES))
        return 0
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    BROKER = sys.argv[1]
    results = [run(name) for name in sys.argv[2:] or CASES]
    return 0 if all(results) else 1


sys.exit(main())
