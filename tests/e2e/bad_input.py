#!/usr/bin/python3
"""Bad input: hostile frames, broken jobs, a full disk under the broker and under the state.

Each gets a clear error; nothing acknowledged is lost; the broker goes on within its memory.
usage: bad_input.py --once BIN [case ...]    (full_disk_* need root, for a small loop-mounted file system)"""
import argparse, os, random, shutil, struct, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import *


class Skipped(Exception):
    pass


# ---- hostile frames ----

def header(key, version, correlation=1, client=b"hostile"):
    return struct.pack(">hhih", key, version, correlation, len(client)) + client


def frame(body):
    return struct.pack(">i", len(body)) + body


def produce_wrong_crc(topic):
    batch = bytearray(bytes.fromhex(
        "0000000000000000000000520000000002de718b010000000000020000018bcfe568000000018bcfe56805ffffffffffffffff"
        "ffffffffffff000000031c000000046b31047631020268027810000a02010476320010000504046b330100"))
    batch[-1] ^= 1
    batch[12:16] = b"\xff\xff\xff\xff"
    t = topic.encode()
    return header(0, 3) + struct.pack(">hhi", -1, -1, 10000) + struct.pack(">i", 1) + struct.pack(">h", len(t)) + t + \
        struct.pack(">iii", 1, 0, len(batch)) + bytes(batch)


def talk(address, data, wait=3.0):
    """what comes back until the peer closes or says nothing more: (bytes, closed)"""
    host, port = address.rsplit(":", 1)
    got, closed = b"", False
    with socket.create_connection((host, int(port))) as s:
        s.settimeout(wait)
        try:
            s.sendall(data)
            while True:
                part = s.recv(65536)
                if not part:
                    closed = True
                    break
                got += part
                if len(got) >= 4 and len(got) >= 4 + struct.unpack(">i", got[:4])[0]:
                    break
        except socket.timeout:
            pass
        except ConnectionError:
            closed = True
    return got, closed


def rss_anon(pid):
    return int(re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) * 1024


def log_lines(folder):
    return open(os.path.join(folder, "broker.log")).read().splitlines()


def still_serves(address, topic):
    p = Producer({"bootstrap.servers": address, "log_level": 2, "message.timeout.ms": 20000})
    p.produce(topic, b"still here")
    if p.flush(20):
        raise Failed("the broker does not serve any more")


def case_frames(once, folder):
    b = OurBroker(once, folder)
    b.start()
    create_topic(b.address, "t", 1)
    before = rss_anon(b.process.pid)
    rng = random.Random(7)
    hostile = {
        "a frame of 2 GiB": struct.pack(">i", 0x7fffffff) + b"x" * 100,
        "a negative length": struct.pack(">i", -5),
        "an empty frame": struct.pack(">i", 0),
        "random bytes": bytes(rng.randrange(256) for _ in range(4096)),
        "an unknown API key": frame(header(9999, 0)),
        "an unknown version": frame(header(3, 99)),
        "a body that ends too early": frame(header(1, 4) + b"\0\0"),
        "an array of 2^31-1 topics": frame(header(3, 1) + struct.pack(">i", 0x7fffffff)),
    }
    for what, data in hostile.items():
        n = len(log_lines(folder))
        got, closed = talk(b.address, data)
        if not closed:
            raise Failed(f"{what}: the connection was not closed, {len(got)} bytes came")
        time.sleep(0.1)
        new = log_lines(folder)[n:]
        if len(new) != 1:
            raise Failed(f"{what}: {len(new)} log lines, not one: {new[:3]}")
    # cut in the middle of a frame: nothing to say, the peer just went
    host, port = b.address.rsplit(":", 1)
    for _ in range(50):
        with socket.create_connection((host, int(port))) as s:
            s.sendall(struct.pack(">i", 100_000_000) + b"x" * 1000)
    # many declare much and send little
    held = []
    for _ in range(50):
        s = socket.create_connection((host, int(port)))
        s.sendall(struct.pack(">i", 100_000_000) + b"x" * 1000)
        held.append(s)
    time.sleep(0.5)
    grown = rss_anon(b.process.pid) - before
    if grown > 32 << 20:
        raise Failed(f"50 connections that declare 100 MB and send 1 kB cost {grown >> 20} MiB")
    for s in held:
        s.close()
    got, closed = talk(b.address, frame(produce_wrong_crc("t")))
    code = struct.unpack(">h", got[4 + 4 + 4 + 2 + 1 + 4 + 4:][:2])[0] if len(got) > 25 else None
    if code != 2:
        raise Failed(f"a wrong CRC: error {code}, not CORRUPT_MESSAGE (2); closed: {closed}")
    still_serves(b.address, "t")
    b.stop()


# ---- broken jobs ----

JOBS = {
    "syntax": ("return once.job {\n  name = 'x'\n  from = 'in'\n}\n", 3, [r"syntax\.lua:3:"]),
    "undeclared": ("local once = require 'once'\n"
                   "return once.job { name = 'x', from = 'in', process = function(ctx, r)\n"
                   "  conter = 1\nend }\n", 3, [r"undeclared\.lua:3:", "conter", "in[", "@0"]),
    "misspelt": ("local once = require 'once'\nreturn once.job { name = 'x', form = 'in', process = function() end }\n",
                 3, ["misspelt", "form", "from"]),
    "endless": ("local once = require 'once'\nreturn once.job { name = 'x', from = 'in', limits = { time = '300ms' },\n"
                "  process = function(ctx, r)\n  while true do end\nend }\n", 3, [r"endless\.lua:4", "in[", "@0"]),
    "error": ("local once = require 'once'\nreturn once.job { name = 'x', from = 'in', process = function(ctx, r)\n"
              "  error('no such ' .. r.value)\nend }\n", 3, [r"error\.lua:3: no such hello", "in[", "@0"]),
    "memory": ("local once = require 'once'\nreturn once.job { name = 'x', from = 'in', process = function(ctx, r)\n"
               "  local t = {}\n  for i = 1, 1e9 do t[i] = i end\nend }\n", 3, [r"memory\.lua:4", "in[", "@0"]),
}


def run_job(once, folder, name, text, *more):
    path = os.path.join(folder, f"{name}.lua")
    open(path, "w").write(text)
    lines = os.path.join(folder, f"{name}.in")
    open(lines, "w").write("hello\nworld\n")
    return subprocess.run([once, "run", path, "--data", os.path.join(folder, f"data-{name}"), "--in", f"in={lines}",
                           "--until-end", *more], capture_output=True, timeout=60, text=True)


def case_jobs(once, folder):
    for name, (text, code, wanted) in JOBS.items():
        r = run_job(once, folder, name, text)
        if r.returncode != code:
            raise Failed(f"{name}: exit code {r.returncode}, not {code}: {r.stderr[-500:]}")
        for w in wanted:
            if not (re.search(w, r.stderr) if "\\" in w else w in r.stderr):
                raise Failed(f"{name}: '{w}' is not in the message: {r.stderr[-700:]}")
    # the policies: skipped, and dead-lettered with position and message
    skip = JOBS["error"][0].replace("name = 'x',", "name = 'x', on_error = 'skip',")
    r = run_job(once, folder, "skip", skip)
    if r.returncode != 0:
        raise Failed(f"on_error = skip: exit code {r.returncode}: {r.stderr[-500:]}")
    dead = JOBS["error"][0].replace("name = 'x',", "name = 'x', on_error = { dead_letter = 'dead' },")
    r = run_job(once, folder, "dead", dead, "--out", "dead")
    if r.returncode != 0 or r.stdout != "\thello\n\tworld\n":
        raise Failed(f"dead letters: exit code {r.returncode}, {r.stdout!r}: {r.stderr[-500:]}")


# ---- a full disk ----

class SmallDisk:
    def __init__(self, folder, megabytes):
        self.image, self.at = os.path.join(folder, "disk.img"), os.path.join(folder, "disk")
        os.mkdir(self.at)
        with open(self.image, "wb") as f:
            f.truncate(megabytes << 20)
        for cmd in (["mkfs.ext4", "-q", self.image], ["mount", "-o", "loop", self.image, self.at]):
            r = subprocess.run(cmd, capture_output=True, text=True)
            if r.returncode:
                raise Skipped(f"{' '.join(cmd[:2])}: {r.stderr.strip()}")

    def fill(self):
        self.ballast = os.path.join(self.at, "ballast")
        with open(self.ballast, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"\0" * 65536)
            except OSError:
                pass

    def free(self):
        os.unlink(self.ballast)

    def close(self):
        subprocess.run(["umount", "-l", self.at])


def produce_until(address, topic, payload, seconds, records=10**9):
    """records whose delivery was acknowledged, and the errors of the others"""
    acked, errors = [], []
    p = Producer({"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 1, "log_level": 2,
                  "message.timeout.ms": 4000})
    end, i = time.time() + seconds, 0
    while time.time() < end and not errors and i < records:
        try:
            p.produce(topic, b"%d " % i + payload, on_delivery=lambda e, m: errors.append(e) if e else
                      acked.append(int(m.value().split()[0])))
            i += 1
        except BufferError:
            p.poll(0.1)
        except Exception as e:  # fatal: the producer gave up
            errors.append(e)
        p.poll(0)
    p.flush(10)
    return acked, errors


def case_full_disk_broker(once, folder):
    disk = SmallDisk(folder, 128)
    try:
        b = OurBroker(once, disk.at)
        b.folder = disk.at
        b.start()
        create_topic(b.address, "t", 1)
        acked, errors = produce_until(b.address, "t", os.urandom(50_000), 10, 300)
        if errors:
            raise Failed(f"errors before the disk is full: {errors[:1]}")
        disk.fill()
        more, errors = produce_until(b.address, "t", os.urandom(50_000), 60)
        if not errors:
            raise Failed("a full disk gave no error")
        if b.process.poll() is not None:
            raise Failed(f"the broker ended with {b.process.poll()} when the disk was full")
        disk.free()
        time.sleep(3)
        last, errors = produce_until(b.address, "t", b"small", 10, 300)
        if errors:
            raise Failed(f"it did not go on when space was back: {errors[:1]}")
        b.kill()
        b.start()
        have = [v for _, _, v in read_committed(b.address, "t")]
        ids = [int(v.split()[0]) for v in have]
        want = acked + more + last
        at = 0
        for i in want:  # what was acknowledged is there, in order; a refused record may be there too
            while at < len(ids) and ids[at] != i:
                at += 1
            if at == len(ids):
                raise Failed(f"acknowledged record {i} of {len(want)} is not in the topic")
            at += 1
        say(f"{len(want)} acknowledged records, {len(ids)} in the topic")
        b.stop()
    finally:
        disk.close()


def case_full_disk_state(once, folder):
    disk = SmallDisk(folder, 24)
    b = OurBroker(once, folder)
    w = None
    try:
        b.start()
        create_topic(b.address, "lines", 1)
        create_topic(b.address, "word-counts", 1)
        job = os.path.join(ROOT, "examples/wordcount/wordcount.lua")
        w = Worker(once, job, b.address, disk.at, "worker")
        w.log = os.path.join(folder, "worker.log")
        w.start()
        book = open(os.path.join(ROOT, "examples/wordcount/alice.txt"), "rb").read().split(b"\n")[:-1]
        feed = Feed(b.address, "lines", book, 1, 1)
        feed.start()
        feed.join(60)
        wait_drained(b.address, "wordcount", ["lines", "wordcount-words-repartition"], 1, 60, w.check)
        disk.fill()
        feed = Feed(b.address, "lines", book, 1, 1)
        feed.start()
        feed.join(60)
        time.sleep(4)
        w.check()
        text = open(w.log).read()
        if "bytes are free" not in text and "No space" not in text and "no space" not in text:
            raise Failed(f"the full disk is not told: {text[-500:]}")
        disk.free()
        wait_drained(b.address, "wordcount", ["lines", "wordcount-words-repartition"], 1, 60, w.check)
        w.stop()
        expected = count_words(book * 2)
        lost, duplicated, reordered = judge_counts(read_committed(b.address, "word-counts"), expected)
        if lost or duplicated or reordered:
            raise Failed(f"{lost} lost, {duplicated} duplicated, {reordered} reordered")
        stores = {k: int(v) for k, v in state_dump(once, disk.at, "wordcount", "counts").items()}
        if stores != expected:
            raise Failed("the stores are not the answer")
        b.stop()
    finally:
        for p in (w, b):
            if p and p.process and p.process.poll() is None:
                p.process.kill()
        disk.close()


CASES = {k[5:]: v for k, v in list(globals().items()) if k.startswith("case_")}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--once", required=True)
    a.add_argument("cases", nargs="*")
    o = a.parse_args()
    bad = skipped = 0
    names = o.cases or list(CASES)
    for name in names:
        folder = tempfile.mkdtemp(prefix=f"once-{name}-")
        try:
            CASES[name](o.once, folder)
            print(f"ok {name}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
        except Skipped as e:
            skipped += 1
            print(f"skip {name}: {e}", flush=True)
        except (Failed, subprocess.TimeoutExpired, OSError) as e:
            bad += 1
            print(f"not ok {name}: {e} (kept: {folder})", flush=True)
    print(f"{len(names) - bad - skipped} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0


sys.exit(main())
