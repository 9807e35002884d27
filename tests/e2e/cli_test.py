#!/usr/bin/python3
"""The command line's contract, line by line, on the real binary.

usage: cli_test.py --once BIN [case ...]        prints `ok NAME` or `not ok NAME: why` for each case"""
import argparse, base64, glob, json, os, random, re, shutil, signal, subprocess, sys, tempfile, time, traceback

ONCE = None
COUNT_JOB = """local once = require 'once'
return once.job { name = 'count', from = 'in', to = 'out', stores = { counts = {} },
  process = function(ctx, r)
    local k = r.key or r.value
    local n = (ctx.counts:get(k) or 0) + 1
    ctx.counts:put(k, n)
    ctx:emit('out', { key = k, value = n })
  end }
"""
COPY_JOB = """local once = require 'once'
return once.job { name = 'copy', from = 'in', to = 'out', process = function(ctx, r) ctx:emit('out', r) end }
"""


class Failed(Exception):
    pass


def check(cond, why):
    if not cond:
        raise Failed(why)


def equal(got, want, what=""):
    if got != want:
        g, w = repr(got), repr(want)
        raise Failed(f"{what}: {g[:500]} instead of {w[:500]}")


class Done:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds


def once(*args, stdin=b"", code=0, timeout=60, cwd=None, env=None):
    """runs it to its end; the exit code must be the one given (None: any)"""
    began = time.time()
    p = subprocess.run([ONCE, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                       cwd=cwd, env={**os.environ, **(env or {})})
    d = Done(p.returncode, p.stdout, p.stderr, time.time() - began)
    if code is not None and d.code != code:
        raise Failed(f"once {' '.join(args)}: exit code {d.code} instead of {code}; {d.err.decode()[-600:]}")
    return d


class Running:
    """a process that goes on; its lines on stdout can be waited for"""
    all = []

    def __init__(self, *args, cwd=None, stdin=subprocess.DEVNULL, stderr=None):
        self.err_path = tempfile.mktemp()
        self.err_file = open(self.err_path, "wb")
        self.p = subprocess.Popen([ONCE, *args], stdout=subprocess.PIPE, stderr=self.err_file, stdin=stdin, cwd=cwd)
        os.set_blocking(self.p.stdout.fileno(), False)
        self.text = b""
        Running.all.append(self)

    def out(self):
        try:
            more = self.p.stdout.read()
        except BlockingIOError:
            more = None
        self.text += more or b""
        return self.text

    def err(self):
        return open(self.err_path, "rb").read().decode("utf-8", "replace")

    def line(self, begin, seconds=20, where="out"):
        """waits for the line that begins so, and returns it"""
        end = time.time() + seconds
        while time.time() < end:
            text = self.out().decode("utf-8", "replace") if where == "out" else self.err()
            for l in text.split("\n")[:-1]:
                if l.startswith(begin):
                    return l
            if self.p.poll() is not None and where == "out" and not self.out():
                break
            time.sleep(0.01)
        raise Failed(f"no line {begin!r} within {seconds} s; stdout {self.out()[-300:]!r} stderr {self.err()[-600:]}")

    def signal(self, sig, code, seconds=30):
        self.p.send_signal(sig)
        got = self.p.wait(seconds)
        equal(got, code, f"exit code after {sig.name} ({self.err()[-400:]})")

    def end(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.err_file.close()
        if os.path.exists(self.err_path):
            os.unlink(self.err_path)


class Place:
    """a directory of a case, with a broker if it asks for one"""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="once-cli-")

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def broker(self, *args, data="data"):
        r = Running("broker", "--data", self.path(data), "--listen", "127.0.0.1:0", *args)
        r.address = r.line("ready ").split()[1]
        return r


CASES = []


def case(f):
    CASES.append(f)
    return f


def records(text):
    return [json.loads(l) for l in text.splitlines()]


# ---- words and options ----

@case
def wrong_words_get_a_hint(d):
    r = once("topc", "ls", code=2)
    check(b"did you mean" in r.err, r.err)
    r = once("topic", "creat", code=2)
    check(b"did you mean 'once topic create'" in r.err, r.err)
    r = once("broker", "--lisen", "x", code=2)
    check(b"did you mean --listen?" in r.err, r.err)
    r = once("broker", "--lisen=127.0.0.1:0", code=2)
    check(b"did you mean --listen?" in r.err, r.err)
    r = once("consume", "t", "-o", code=2)
    check(b"needs a value" in r.err, r.err)
    r = once("consume", "t", "-n", "many", code=2)
    check(b"whole number" in r.err, r.err)
    once("consume", code=2)
    once("consume", "a", "b", code=2)
    once("consume", "t", "-o", "nowhere", code=2)
    once("broker", "--durability", "perhaps", code=2)
    once("broker", "extra", code=2)
    once("run", code=2)
    once("topic", "create", "t", "--partitions", "0", code=2)
    once("topic", "create", "t", "--config", "nonsense", code=2)
    once("topic", "ls", "--format", "xml", code=2)
    once("topic", "ls", "--quiet=yes", code=2)
    once("topic", "ls", "-b", "no-port", code=2)
    once("nothing", code=2)
    once(code=2)


@case
def every_command_has_help(d):
    r = once("--help")
    names = [l.split("  ")[0].strip()[5:] if l.startswith("once ") else l for l in r.out.decode().splitlines()]
    known = ["broker", "run", "topic create", "topic ls", "topic show", "topic rm", "produce", "consume", "state ls",
             "state dump", "log dump", "version"]
    for n in known:
        check(n in r.out.decode(), f"{n} is not in the list of commands")
        h = once(*n.split(), "--help")
        check(f"usage: once {n}".encode() in h.out and b"--brokers" in h.out, f"{n} --help: {h.out[:200]}")
    once("topic", "--help")
    check(re.match(rb"(once )?\d+\.\d+", once("version").out), "version")


@case
def words_behind_dashes_are_no_options(d):
    b = d.broker()
    once("topic", "create", "-b", b.address, "--", "-odd-name")
    check(b"-odd-name" in once("topic", "ls", "-b", b.address).out, "the topic is not listed")
    once("topic", "rm", "-b", b.address, "--", "-odd-name")


# ---- broker ----

@case
def a_broker_says_ready_and_stops_in_order(d):
    b = d.broker()
    check(re.fullmatch(r"127\.0\.0\.1:[1-9]\d+", b.address), b.address)
    b.signal(signal.SIGTERM, 0)
    equal(b.out().decode(), f"ready {b.address}\n", "stdout")


@case
def a_second_broker_on_the_same_directory_is_refused(d):
    b = d.broker()
    r = once("broker", "--data", d.path("data"), "--listen", "127.0.0.1:0", code=3)
    check(d.path("data").encode() in r.err, r.err)
    b.signal(signal.SIGTERM, 0)
    d.broker().signal(signal.SIGTERM, 0)


@case
def an_address_in_use_is_told(d):
    b = d.broker()
    r = once("broker", "--data", d.path("other"), "--listen", b.address, code=3)
    check(b.address.encode() in r.err, r.err)


@case
def broker_settings_have_effect(d):
    b = d.broker("-X", "num.partitions=4")
    once("produce", "made", "-b", b.address, stdin=b"x\n")
    equal(records(once("topic", "ls", "-b", b.address).out)[0]["partitions"], 4, "num.partitions")
    b.signal(signal.SIGTERM, 0)
    b = d.broker("-X", "auto.create.topics.enable=false", data="other")
    r = once("produce", "absent", "-b", b.address, stdin=b"x\n", code=5)
    check(b"absent" in r.err, r.err)


@case
def a_broker_that_is_gone_is_unreachable(d):
    job = d.file("job.lua", COUNT_JOB)
    for args in (["topic", "ls"], ["consume", "t"], ["produce", "t"], ["topic", "create", "t"]):
        r = once(*args, "-b", "127.0.0.1:1", stdin=b"x\n", code=4, timeout=40)
        check(b"127.0.0.1:1" in r.err, f"{args}: {r.err}")
        check(r.seconds < 20, f"{args}: {r.seconds:.1f} s")
    r = once("run", job, "-b", "127.0.0.1:1", "--state", d.path("state"), code=4, timeout=90)
    check(b"127.0.0.1:1" in r.err, r.err)
    check(r.seconds < 45, f"run: {r.seconds:.1f} s")
    r = Running("run", job, "-b", "127.0.0.1:1", "--state", d.path("state"))
    time.sleep(0.3)
    r.signal(signal.SIGTERM, 0, 5)  # a stop does not wait for it
    r = once("topic", "ls", "-b", "127.0.0.1:1", "--timeout", "1", code=4)
    check(r.seconds < 4, f"--timeout 1 took {r.seconds:.1f} s")
    r = once("topic", "ls", "-b", "no-such-host.invalid:9092", code=4, timeout=40)


# ---- topics ----

@case
def topics_are_made_shown_and_removed(d):
    b = d.broker()
    a = ("-b", b.address)
    once("topic", "create", "t", "--partitions", "3", "--config", "cleanup.policy=compact", *a)
    r = once("topic", "create", "t", *a, code=5)
    check(b"t" in r.err and b"exist" in r.err, r.err)
    listed = records(once("topic", "ls", *a).out)
    equal([(t["topic"], t["partitions"]) for t in listed], [("t", 3)], "topic ls")
    shown = once("topic", "show", "t", *a).out.decode()
    check("cleanup.policy" in shown and "compact" in shown, shown)
    equal(len([r for r in records(shown) if "partition" in r]), 3, "topic show")
    once("topic", "create", "u", *a, env={"ONCE_BROKERS": "127.0.0.1:1"})
    once("topic", "rm", "t", *a)
    equal(once("topic", "ls", "--format", "plain", *a).out, b"u\n", "after rm")
    once("topic", "rm", "t", *a, code=5)
    once("topic", "show", "t", *a, code=5)
    once("topic", "create", "bad/name", *a, code=5)
    once("topic", "create", "v", "--config", "no.such.config=1", *a, code=5)
    once("topic", "ls", env={"ONCE_BROKERS": b.address})


# ---- produce and consume ----

def text_of(b):
    if b is None:
        return None
    try:
        return b.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(b).decode()}


def random_bytes(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return b""
    if kind == 2:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 60)))
    if kind == 3:
        odd = [9, 10, 13, 34, 92, 0, 31, 127, 233, 0x4e2d, 0x1f600]
        return "".join(chr(rng.choice(odd)) for _ in range(8)).encode()
    return f"text {rng.randrange(1000)}".encode()


@case
def consume_to_produce_copies_a_topic(d):
    b = d.broker()
    a = ("-b", b.address)
    rng = random.Random(7)
    lines = []
    for i in range(500):
        headers = [{"key": f"h{k}", "value": text_of(random_bytes(rng))} for k in range(rng.randrange(4))]
        lines.append(json.dumps({"partition": rng.randrange(3), "time": 1700000000000 + i,
                                 "key": text_of(random_bytes(rng)), "value": text_of(random_bytes(rng)),
                                 "headers": headers}))
    for t in ("one", "two"):
        once("topic", "create", t, "--partitions", "3", *a)
    once("produce", "one", "--format", "jsonl", *a, stdin="\n".join(lines).encode() + b"\n")
    first = once("consume", "one", *a).out
    got = sorted(records(first), key=lambda r: r["time"])
    for g, l in zip(got, lines):
        want = json.loads(l)
        equal({k: g[k] for k in want}, want, "consumed")
    equal(len(got), 500, "records")
    once("produce", "two", "--format", "jsonl", *a, stdin=first)
    by_place = lambda text: sorted((r["partition"], r["offset"], json.dumps({**r, "topic": ""}, sort_keys=True))
                                   for r in records(text))
    equal(by_place(once("consume", "two", *a).out), by_place(first), "the copy")


@case
def produce_takes_lines_keys_and_headers(d):
    b = d.broker()
    a = ("-b", b.address)
    once("produce", "t", *a, stdin=b"one\n\ntwo\r\nlast without end")
    equal(once("consume", "t", *a, "-f", "%s|%k|%K;").out, b"one||-1;||-1;two||-1;last without end||-1;", "lines")
    once("produce", "k", "-K", ":", *a, stdin=b"a:1\nb:2:3\nnone\n:empty\n")
    equal(once("consume", "k", *a, "-f", "%k=%s(%K)\\n").out, b"a=1(1)\nb=2:3(1)\n=none(-1)\n=empty(0)\n", "-K")
    once("produce", "h", "-k", "key", "-H", "x=1", "-H", "y=a=b", *a, stdin=b"v\n")
    equal(records(once("consume", "h", *a).out)[0]["headers"],
          [{"key": "x", "value": "1"}, {"key": "y", "value": "a=b"}], "-H")
    equal(once("consume", "h", *a, "-f", "%t %p %o %k %s %h\\n").out, b"h 0 0 key v x=1,y=a=b\n", "-f")
    once("produce", "t", "-p", "7", *a, stdin=b"x\n", code=2)
    once("produce", "t", "-H", "nonsense", *a, stdin=b"x\n", code=2)
    r = once("produce", "t", "--format", "jsonl", *a, stdin=b'{"value":"x"}\n{"value":}\n', code=2)
    check(b"line 2" in r.err and b"column" in r.err, r.err)
    once("produce", "t", "--format", "jsonl", *a, stdin=b'{"value":"x","partition":4294967296}\n', code=2)
    once("produce", "t", *a, stdin=b"")


@case
def produce_takes_much_at_once(d):
    b = d.broker()
    data = b"".join(b"%d %s\n" % (i, b"x" * (i % 300)) for i in range(200000))
    once("produce", "t", "-b", b.address, stdin=data)
    equal(once("consume", "t", "-b", b.address, "--format", "plain").out, data, "30 MB")


@case
def consume_begins_and_ends_where_it_is_told(d):
    b = d.broker()
    a = ("-b", b.address)
    once("produce", "t", "--format", "jsonl", *a, stdin="".join(
        json.dumps({"value": str(i), "time": 1000 + i * 10}) + "\n" for i in range(10)).encode())
    f = lambda *x: once("consume", "t", "-f", "%s ", *a, *x).out.decode().split()
    every = [str(i) for i in range(10)]
    equal(f(), every, "all")
    equal(f("-o", "earliest"), every, "earliest")
    equal(f("-o", "latest"), [], "latest")
    equal(f("-o", "4"), every[4:], "4")
    equal(f("-o", "-3"), every[7:], "-3")
    equal(f("-o", "-30"), every, "-30")
    equal(f("-o", "2:5"), every[2:5], "2:5")
    equal(f("-o", "2:50"), every[2:], "2:50")
    equal(f("-o", "5:5"), [], "5:5")
    equal(f("-o", "100"), [], "100")
    equal(f("-o", "@1041"), every[5:], "@1041")
    equal(f("-o", "@99999"), [], "@99999")
    equal(f("-n", "3"), every[:3], "-n 3")
    equal(f("-o", "4", "-n", "2"), every[4:6], "-o 4 -n 2")
    equal(f("-p", "0"), every, "-p 0")
    once("consume", "t", "-p", "1", *a, code=2)
    r = once("consume", "absent", *a, code=5)
    check(b"absent" in r.err, r.err)


@case
def consume_follows(d):
    b = d.broker()
    a = ("-b", b.address)
    once("produce", "t", *a, stdin=b"1\n")
    r = Running("consume", "t", "--follow", "-f", "got %s\\n", *a)
    r.line("got 1")
    once("produce", "t", *a, stdin=b"2\n")
    r.line("got 2", 5)
    r.signal(signal.SIGINT, 130)
    r = once("consume", "t", "--follow", "-f", "%s\\n", "--timeout", "2", *a, code=4)
    check(1.5 < r.seconds < 5, f"--timeout 2 took {r.seconds:.1f} s")
    equal(r.out, b"1\n2\n", "before the timeout")
    equal(once("consume", "t", "--follow", "-n", "2", "-f", "%s ", *a).out, b"1 2 ", "--follow -n 2")


@case
def all_shows_aborted_control_and_open_records(d):
    b = d.broker()
    a = ("-b", b.address)
    once("produce", "t", "--txn", "id", *a, stdin=b"committed\n")
    p = Running("produce", "t", "--txn", "id", *a, stdin=subprocess.PIPE)
    p.p.stdin.write(b"aborted\n")
    p.p.stdin.flush()
    for _ in range(200):  # sent, and no end in sight
        rows = records(once("consume", "t", "--all", *a).out)
        if any(r.get("value") == "aborted" for r in rows):
            break
        time.sleep(0.05)
    equal([r for r in rows if r["value"] == "aborted"][0].get("open"), True, "undecided")
    equal([r["value"] for r in records(once("consume", "t", *a).out)], ["committed"], "without --all")
    p.p.kill()
    p.p.wait()
    once("produce", "t", "--txn", "id", *a, stdin=b"last\n")
    rows = records(once("consume", "t", "--all", *a).out)
    what = [r.get("control") and "control " + r["control"] or (r.get("aborted") and "aborted " or "") + r["value"]
            for r in rows]
    equal(what, ["committed", "control commit", "aborted aborted", "control abort", "last", "control commit"], "--all")
    check(not any(r.get("open") for r in rows), rows)
    equal([r["offset"] for r in rows], list(range(6)), "offsets")
    equal([r["value"] for r in records(once("consume", "t", *a).out)], ["committed", "last"], "committed view")
    r = once("produce", "u", "--format", "jsonl", *a, stdin=once("consume", "t", "--all", *a).out, code=2)
    check(b"--all" in r.err, r.err)


@case
def a_closed_pipe_ends_consume(d):
    b = d.broker()
    once("produce", "t", "-b", b.address, stdin=b"x" * 1000 + b"\n" + b"y\n" * 100000)
    p = subprocess.Popen([ONCE, "consume", "t", "-b", b.address], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.read(10)
    p.stdout.close()
    check(p.wait(20) != 0, "exit code 0 although its reader went away")


# ---- run ----

def run(d, job, *args, **kw):
    return once("run", job, "--data", d.path("data"), *args, **kw)


def lasts(out):
    return dict(l.split("\t") for l in out.decode().splitlines())


@case
def a_file_is_fed_once_in_the_life_of_a_directory(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\nb\na\n")
    args = ("--in", f"in={path}", "--out", "out", "--until-end")
    first = run(d, job, *args)
    equal(first.out, b"a\t1\nb\t1\na\t2\n", "first")
    check(b"ready count\n" in first.err, "ready goes to stderr beside --out")
    equal(run(d, job, *args).out, first.out, "again the same")
    with open(path, "ab") as f:
        f.write(b"b\nc")  # without a last end of line
    equal(run(d, job, *args).out, first.out + b"b\t2\nc\t1\n", "only what is new is fed")
    equal(run(d, job, *args, "--again").out, first.out + b"b\t2\nc\t1\n" + b"a\t3\nb\t3\na\t4\nb\t4\nc\t2\n", "--again")
    equal(run(d, job, *args).out.count(b"\n"), 10, "after --again the position counts again")
    link = d.path("link")
    os.symlink(path, link)
    equal(run(d, job, "--in", f"in={link}", *args[2:]).out.count(b"\n"), 10, "by its absolute path")
    d.file("lines", "a\n")
    r = run(d, job, *args, code=3)
    check(b"--again" in r.err, r.err)


@case
def stdin_is_fed_anew_each_time(d):
    job = d.file("job.lua", COUNT_JOB)
    args = ("--in", "in=-", "--out", "out", "--until-end")
    equal(run(d, job, *args, stdin=b"a\nb\n").out, b"a\t1\nb\t1\n", "first")
    equal(run(d, job, *args, stdin=b"a\n").out, b"a\t1\nb\t1\na\t2\n", "second")
    equal(run(d, job, *args, stdin=b"").out, b"a\t1\nb\t1\na\t2\n", "nothing")


@case
def a_slow_stdin_is_processed_as_it_comes(d):
    job = d.file("job.lua", COUNT_JOB)
    r = Running("run", job, "--data", d.path("data"), "--in", "in=-", "--out", "out", stdin=subprocess.PIPE)
    for i in (1, 2, 3):
        r.p.stdin.write(b"a\n")
        r.p.stdin.flush()
        r.line(f"a\t{i}", 5)
    r.signal(signal.SIGTERM, 0, 5)  # although stdin is still open


@case
def lines_are_values_without_their_ends(d):
    job = d.file("job.lua", COPY_JOB)
    path = d.file("lines", b"one\r\n\ntwo\n\r\n  spaces \nmore\rinside\nlast")
    out = run(d, job, "--in", f"in={path}", "--out", "out", "--until-end").out
    equal(out, b"\tone\n\t\n\ttwo\n\t\n\t  spaces \n\tmore\\rinside\n\tlast\n", "values")


@case
def keys_and_headers_of_files(d):
    job = d.file("job.lua", COPY_JOB)
    path = d.file("lines", "the header\na,1\nb,2,3\nnone\n,empty\n")
    out = run(d, job, "--in", f"in={path}", "--in-key", ",", "--in-header", "--out", "out", "--until-end").out
    equal(out, b"a\t1\nb\t2,3\n\tnone\n\tempty\n", "keys")
    with open(path, "a") as f:
        f.write("c,4\n")
    out = run(d, job, "--in", f"in={path}", "--in-key", ",", "--in-header", "--out", "out", "--until-end").out
    equal(out, b"a\t1\nb\t2,3\n\tnone\n\tempty\nc\t4\n", "the header is none of the lines fed")


@case
def lines_without_key_go_round_the_partitions(d):
    job = d.file("job.lua", COPY_JOB)
    path = d.file("lines", "".join(f"{i}\n" for i in range(12)))
    run(d, job, "--in", f"in={path}", "--partitions", "3", "--until-end")
    b = d.broker()
    rows = records(once("consume", "in", "-b", b.address).out)
    equal(sorted((r["partition"], int(r["value"])) for r in rows), sorted((i % 3, i) for i in range(12)), "n mod N")


@case
def the_position_is_a_groups_offset(d):
    try:
        from confluent_kafka import Consumer, TopicPartition
    except ImportError:
        raise Failed("python3-confluent-kafka is missing")
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\nb\na\n")
    run(d, job, "--in", f"in={path}", "--until-end")
    b = d.broker()
    c = Consumer({"bootstrap.servers": b.address, "group.id": "count-in"})
    got = c.committed([TopicPartition("in", 0)], 10)[0]
    c.close()
    equal(got.offset, 3, "lines fed")
    if hasattr(got, "metadata") and got.metadata is not None:
        equal(got.metadata, os.path.realpath(path), "metadata")


@case
def out_escapes_what_would_break_lines(d):
    job = d.file("job.lua", """local once = require 'once'
return once.job { name = 'esc', from = 'in', to = { 'out', 'other' }, process = function(ctx, r)
  ctx:emit('out', { key = 'a\\tb\\nc\\rd\\\\e', value = 'caf\\u{e9} \\xff\\xfe\\x00' })
  ctx:emit('out', { key = 'gone' })
  ctx:emit('out', { value = 'no key' })
  ctx:emit('other', { key = 'k', value = '' })
end }
""")
    path = d.file("lines", "x\n")
    out = run(d, job, "--in", f"in={path}", "--out", "out", "--until-end").out
    equal(out, b"a\\tb\\nc\\rd\\\\e\tcaf\xc3\xa9 \\xff\\xfe\x00\ngone\t\\N\n\tno key\n", "one topic")
    out = run(d, job, "--out", "out", "--out", "other", "--until-end").out
    equal(sorted(out.split(b"\n"))[1:], sorted(
        [b"out\ta\\tb\\nc\\rd\\\\e\tcaf\xc3\xa9 \\xff\\xfe\x00", b"out\tgone\t\\N", b"out\t\tno key", b"other\tk\t"]),
        "two topics")


@case
def a_job_runs_until_it_is_told_to_stop(d):
    job = d.file("job.lua", COUNT_JOB)
    r = Running("run", job, "--data", d.path("data"))
    r.line("ready count")
    address = r.line("broker ", where="err").split()[1]
    check(address.startswith("127.0.0.1:"), address)
    once("produce", "in", "-k", "a", "-b", address, stdin=b"1\n2\n3\n")
    end = time.time() + 10
    while time.time() < end and b"a\t3\n" not in once("consume", "out", "-b", address, "-f", "%k\\t%s\\n").out:
        time.sleep(0.05)
    equal(once("state", "dump", "count", "counts", "--state", d.path("data/state")).out, b"a\t3\n",
          "state dump of a running worker")
    r.signal(signal.SIGTERM, 0)
    equal(once("state", "dump", "count", "counts", "--state", d.path("data/state")).out, b"a\t3\n",
          "state dump of a stopped worker")
    r = Running("run", job, "--data", d.path("data"))
    r.line("ready count")
    r.signal(signal.SIGINT, 130)


@case
def sigkill_loses_nothing(d):
    job = d.file("job.lua", COUNT_JOB)
    path = d.file("lines", "".join(f"{'abcdefg'[i % 7]}\n" for i in range(30000)))
    args = ("run", job, "--data", d.path("data"), "--in", f"in={path}", "--out", "out", "--until-end")
    for i in range(6):
        r = Running(*args)
        time.sleep(0.05 + 0.09 * i)
        r.p.kill()
        r.p.wait()
    out = once(*args).out.decode().splitlines()
    equal(len(out), 30000, "lines")
    seen = {}
    for l in out:
        k, v = l.split("\t")
        equal(int(v), seen.get(k, 0) + 1, f"count of {k}")
        seen[k] = int(v)


def children_of(pid):
    found = []
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                if open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1] == str(pid):
                    found.append(int(p))
            except OSError:
                pass
    return found


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@case
def several_workers_share_the_work(d):
    job = d.file("job.lua", COUNT_JOB)
    path = d.file("lines", "".join(f"{'abcdefg'[i % 7]}\n" for i in range(7000)))
    args = ("run", job, "--data", d.path("data"), "--workers", "3", "--partitions", "4", "--in", f"in={path}",
            "--in-key", "\t")
    r = Running(*args)
    r.line("ready count")
    equal(len(children_of(r.p.pid)), 3, "children")
    for i in range(3):  # a child that dies comes back, as it was
        os.kill(children_of(r.p.pid)[i], signal.SIGKILL)
        time.sleep(0.2)
    time.sleep(1)
    equal(len(children_of(r.p.pid)), 3, "children after three kills")
    r.signal(signal.SIGTERM, 0)
    total = sum(int(l.split(b"\t")[1]) for l in once("state", "dump", "count", "counts", "--state",
                                                     d.path("data/state")).out.splitlines())
    out = once(*args, "--out", "out", "--until-end").out
    equal(len(out.splitlines()), 7000, "outputs")
    check(total <= 7000, total)


@case
def workers_die_with_their_parent(d):
    job = d.file("job.lua", COUNT_JOB)
    args = ("run", job, "--data", d.path("data"), "--workers", "3", "--partitions", "3")
    for i in range(8):
        r = Running(*args)
        r.line("ready count", 30)
        kids = children_of(r.p.pid)
        equal(len(kids), 3, "children")
        r.p.kill()
        r.p.wait()
    r = Running(*args)
    r.line("ready count", 30)
    slots = sorted(os.path.basename(p) for p in glob.glob(d.path("data/state/count/*")))
    equal(slots, ["0", "1", "2"], "slots")
    r.signal(signal.SIGTERM, 0)
    for k in kids:
        check(not alive(k), f"worker {k} outlived its parent")


@case
def a_worker_on_a_cluster_says_ready(d):
    b = d.broker()
    job = d.file("job.lua", COUNT_JOB)
    r = Running("run", job, "-b", b.address, "--state", d.path("state"))
    r.line("ready count")
    second = Running("run", job, "-b", b.address, "--state", d.path("state"))
    second.line("ready count")  # with an empty assignment, too
    second.signal(signal.SIGTERM, 0)
    r.signal(signal.SIGTERM, 0)
    path = d.file("lines", "a\n")
    args = ("run", job, "-b", b.address, "--state", d.path("state"), "--in", f"in={path}", "--out", "out",
            "--until-end")
    equal(once(*args).out, b"a\t1\n", "--in on a cluster")
    equal(once(*args).out, b"a\t1\n", "a rerun")
    other = d.file("other.lua", COUNT_JOB.replace("'count'", "'another'"))
    r = once("run", other, "-b", b.address, "--state", d.path("state"), "--in", f"in={path}", "--until-end", code=3)
    check(b"--again" in r.err, r.err)


@case
def a_second_feeder_fences_the_first(d):
    b = d.broker()
    job = d.file("job.lua", COUNT_JOB)
    first = Running("run", job, "-b", b.address, "--state", d.path("s1"), "--in", "in=-", stdin=subprocess.PIPE)
    first.line("ready count")
    first.p.stdin.write(b"a\n")
    first.p.stdin.flush()
    time.sleep(0.5)
    once("run", job, "-b", b.address, "--state", d.path("s2"), "--in", "in=-", "--until-end", "--out", "out",
         stdin=b"b\n")
    try:
        first.p.stdin.write(b"c\n" * 100000)
        first.p.stdin.close()
    except BrokenPipeError:
        pass  # it knows already
    equal(first.p.wait(30), 5, f"the first feeder's exit code; {first.err()[-300:]}")
    check("another feeder" in first.err(), first.err()[-300:])


@case
def broken_jobs_are_told_with_their_line(d):
    bad = {"syntax.lua": ("return {", "syntax.lua:"),
           "global.lua": ("local once = require 'once'\nreturn once.job { name = nme, from = 'a' }", "global.lua:2: "),
           "key.lua": ("local once = require 'once'\nreturn once.job { name = 'j', form = 'a' }", "key.lua:2: ")}
    for name, (text, want) in bad.items():
        r = run(d, d.file(name, text), code=3)
        check(want.encode() in r.err, f"{name}: {r.err}")
    run(d, d.path("absent.lua"), code=3)
    job = d.file("job.lua", COUNT_JOB.replace("local k", "if r.value == 'bad' then error('oops') end local k"))
    path = d.file("lines", "a\nbad\nb\n")
    r = run(d, job, "--in", f"in={path}", "--out", "out", "--until-end", code=3)
    check(b"job.lua:4: oops" in r.err and b"in[0]@1" in r.err, r.err)
    fixed = d.file("job.lua", COUNT_JOB)
    equal(run(d, fixed, "--in", f"in={path}", "--out", "out", "--until-end").out, b"a\t1\nbad\t1\nb\t1\n", "mended")


@case
def wrong_run_options_are_usage(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\n")
    run(d, job, "--in", f"in={path}", "--in", f"in={job}", code=2)
    run(d, job, "--in", "in", code=2)
    run(d, job, "--guarantee", "maybe", code=2)
    run(d, job, "--workers", "0", code=2)
    run(d, job, "--partitions", "-1", code=2)
    r = run(d, job, "--in", "in=" + d.path("absent"), "--until-end", code=3)
    check(b"absent" in r.err, r.err)
    run(d, job, "--in", f"in={d.dir}", "--until-end", code=3)


@case
def a_run_gives_up_at_its_timeout(d):
    job = d.file("job.lua", COUNT_JOB)
    r = run(d, job, "--timeout", "2", code=4)
    check(1.5 < r.seconds < 8, f"--timeout 2 took {r.seconds:.1f} s")


@case
def guarantees_run(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\nb\na\n")
    for g in ("exactly_once", "at_least_once", "at_most_once"):
        out = once("run", job, "--data", d.path(g), "--guarantee", g, "--in", f"in={path}", "--out", "out",
                   "--until-end").out
        equal(lasts(out), {"a": "2", "b": "1"}, g)


# ---- looking in ----

@case
def state_of_several_groups_and_slots(d):
    job = d.file("job.lua", """local once = require 'once'
local job = once.job { name = 'two' }
job:node { name = 'a', from = 'in', to = '#words', stores = { lines = {} }, process = function(ctx, r)
  ctx.lines:put(ctx.lines:count() + 1, r.value)
  for w in r.value:gmatch '%a+' do ctx:emit('#words', { key = w }) end
end }
job:node { name = 'b', from = '#words', stores = { counts = {} }, process = function(ctx, r)
  ctx.counts:put(r.key, (ctx.counts:get(r.key) or 0) + 1)
end }
return job
""")
    path = d.file("lines", "a b\nb\\\ttab\n\xe9\n".encode("latin-1"))
    run(d, job, "--in", f"in={path}", "--until-end")
    dump = lambda s: once("state", "dump", "two", s, "--state", d.path("data/state")).out
    equal(dump("counts"), b"a\t1\nb\t2\ntab\t1\n", "counts")
    equal(dump("lines"), b"1\ta b\n2\tb\\\\\\ttab\n3\t\\xe9\n", "lines")
    rows = records(once("state", "ls", "two", "--state", d.path("data/state")).out)
    equal(sorted(r["store"] for r in rows), ["counts", "lines"], "state ls")
    r = once("state", "dump", "two", "absent", "--state", d.path("data/state"), code=3)
    check(b"absent" in r.err, r.err)
    once("state", "dump", "nobody", "counts", "--state", d.path("data/state"), code=3)
    once("state", "dump", "two", code=2)
    once("state", "dump", "two", "counts", code=3, cwd=d.dir)  # ./once-data/state is not there


@case
def a_task_in_several_slots_counts_once(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\nb\na\n")
    b = d.broker()
    args = ("run", job, "-b", b.address, "--until-end", "--out", "out", "--in", f"in={path}")
    once(*args, "--state", d.path("s1"))
    with open(path, "a") as f:
        f.write("a\n")
    once(*args, "--state", d.path("s2"))
    dump = lambda *s: once("state", "dump", "count", "counts", *sum((["--state", d.path(x)] for x in s), [])).out
    equal(dump("s1"), b"a\t2\nb\t1\n", "the older")
    equal(dump("s2"), b"a\t3\nb\t1\n", "the newer")
    equal(dump("s1", "s2"), b"a\t3\nb\t1\n", "both")
    equal(dump("s2", "s1"), b"a\t3\nb\t1\n", "both, the other way")


@case
def log_dump_reads_segments(d):
    b = d.broker()
    once("produce", "t", "-b", b.address, "-k", "key", stdin=b"one\ntwo\n")
    b.signal(signal.SIGTERM, 0)
    files = glob.glob(d.path("data/**/*.log"), recursive=True)
    check(files, "no segments")
    found = False
    for f in files:
        r = once("log", "dump", f, "--deep")
        found |= b"one" in r.out and b"key" in r.out
    check(found, "the records are not shown")
    once("log", "dump", d.path("absent"), code=3)
    once("log", "dump", code=2)


@case
def dry_run_changes_nothing(d):
    job = d.file("job.lua", COUNT_JOB)
    r = run(d, job, "--dry-run")
    check(b"count" in r.out, r.out)
    check(not os.path.exists(d.path("data")), "the data directory was made")


# ---- what a person types wrong ----

@case
def help_comes_in_every_form(d):
    full = once("run", "--help").out
    equal(once("help", "run").out, full, "once help run")
    equal(once("help", "topic", "create").out, once("topic", "create", "-h").out, "once help topic create")
    check(b"--child" not in full, "an option of the program's own is shown")
    columns = {l.decode().rindex("  ") for l in full.splitlines()
               if l.startswith(b"      --in-") or b"HOST:PORT" in l[:30]}
    equal(len(columns), 1, f"texts of options stand at {columns}")


@case
def misspelt_topics_are_told(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\n")
    r = run(d, job, "--in", f"inn={path}", "--until-end", code=2)
    check(b"does not read topic inn; did you mean in?" in r.err, r.err)
    r = run(d, job, "--in", f"in={path}", "--out", "outt", "--until-end")
    check(b"does not write topic outt; did you mean out?" in r.err, r.err)
    r = run(d, job, "--in", f"in={path}", "--out", "out", "--out", "in", "--until-end")
    check(b"does not" not in r.err, r.err)


@case
def an_error_ends_in_one_line_end(d):
    job, path = d.file("job.lua", COUNT_JOB.replace("local k", "error('oops') local k")), d.file("lines", "a\n")
    r = run(d, job, "--in", f"in={path}", "--until-end", code=3)
    check(r.err.endswith(b"in function <line 3>\n"), r.err)
    r = run(d, job, "--workers", "2", "--in", f"in={path}", "--until-end", code=3)
    check(b"\n\n" not in r.err, r.err)


@case
def a_dry_run_of_a_topic_command_changes_nothing(d):
    b = d.broker()
    at = ("-b", b.address)
    once("topic", "create", "t", "--partitions", "2", *at)
    equal(once("topic", "rm", "t", "--dry-run", *at).out, b"would delete t (2 partitions)\n")
    equal(once("topic", "create", "u", "--dry-run", *at).out, b"would create u\n")
    once("topic", "create", "t", "--dry-run", *at, code=5)
    once("topic", "create", "u", "--config", "segment.bytes=5", "--dry-run", *at, code=5)
    once("topic", "rm", "u", "--dry-run", *at, code=5)
    once("produce", "t", "--dry-run", *at, stdin=b"a\n", code=2)
    equal([r["topic"] for r in records(once("topic", "ls", *at).out)], ["t"], "topics")
    equal(once("consume", "t", *at).out, b"", "records")


@case
def a_broker_that_cannot_start_says_why(d):
    path = d.file("a-file", "")
    for args, why in {("--listen", "foo"): b"listen on foo: the form is HOST:PORT",
                      ("--listen", "192.0.2.1:0"): b"listen on 192.0.2.1:0: no address of this machine",
                      ("--listen", "127.0.0.1:0", "--data", path): b"a-file is not a directory"}.items():
        r = once("broker", "--data", d.path("data"), *args, code=3)
        check(why in r.err, r.err)


@case
def what_a_job_prints_is_shown(d):
    job = d.file("job.lua", COUNT_JOB.replace("local k", "print('seen', r.value) ctx.log.warn('w\\n') local k"))
    path = d.file("lines", "a\n")
    r = run(d, job, "--in", f"in={path}", "--until-end")
    check(b"\ncount: seen\ta\n" in r.err and b"\ncount: w?\n" in r.err, r.err)
    r = once("run", job, "--data", d.path("more"), "--workers", "2", "--in", f"in={path}", "--until-end", "-q")
    check(b"seen" not in r.err, r.err)


@case
def settings_that_are_not_known_are_told(d):
    b = d.broker("-X", "num.partitons=4", "-X", "log.segment.bytes=2000000", "-X", "transaction.max.timeout.ms=60000")
    check("num.partitons is not known here" in b.err(), b.err())
    equal(b.err().count("has no effect"), 1, b.err())
    r = once("topic", "create", "t", "--config", "segment.bytes=5", "-b", b.address, code=5)
    check(b"it takes a number of at least 1048576" in r.err, r.err)
    r = once("topic", "create", "t", "--config", "cleanup.policy=delte", "-b", b.address, code=5)
    check(b"it takes one of delete, compact" in r.err, r.err)
    r = once("log", "dump", d.path("data"), code=2)
    check(b"is a directory" in r.err, r.err)


@case
def a_job_may_fail_while_its_file_is_read(d):
    job = d.file("job.lua", COUNT_JOB.replace("local k", "error('oops') local k"))
    path = d.file("lines", "a\n" * 2_000_000)
    for _ in range(8):
        r = run(d, job, "--in", f"in={path}", "--until-end", code=3)
        check(b"job.lua:4: oops" in r.err, r.err)


@case
def a_silent_stdin_does_not_hold_up_the_end(d):
    job = d.file("job.lua", COUNT_JOB)
    r = Running("run", job, "--data", d.path("data"), "--in", "in=-", stdin=subprocess.PIPE)
    r.line("ready ")
    time.sleep(0.5)
    r.signal(signal.SIGTERM, 0, seconds=5)


@case
def closed_standard_streams_do_no_harm(d):
    job, path = d.file("job.lua", COUNT_JOB), d.file("lines", "a\n")
    once_quoted = f"'{ONCE}' run '{job}' --data '{d.path('data')}' --in"
    got = subprocess.run(["sh", "-c", f"{once_quoted} in='{path}' --out out --until-end <&- 2>&-"], capture_output=True)
    equal((got.returncode, got.stdout), (0, b"a\t1\n"), "stdin and stderr closed")
    got = subprocess.run(["sh", "-c", f"{once_quoted} in=- --out out --until-end <&-"], capture_output=True)
    equal((got.returncode, got.stdout), (0, b"a\t1\n"), "--in in=- without stdin")


def main():
    global ONCE
    ap = argparse.ArgumentParser()
    ap.add_argument("--once", required=True)
    ap.add_argument("case", nargs="*")
    args = ap.parse_args()
    ONCE = os.path.abspath(args.once)
    for c in args.case:
        if c not in [f.__name__ for f in CASES]:
            sys.exit(f"no case {c}")
    failed = 0
    for f in CASES:
        if args.case and f.__name__ not in args.case:
            continue
        d = Place()
        began = time.time()
        try:
            f(d)
            print(f"ok {f.__name__} ({time.time() - began:.1f} s)", flush=True)
        except Exception as e:
            failed += 1
            why = str(e) if isinstance(e, Failed) else traceback.format_exc()
            print(f"not ok {f.__name__}: " + why.replace("\n", " "), flush=True)
        for r in Running.all:
            r.end()
        Running.all.clear()
        shutil.rmtree(d.dir, ignore_errors=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
