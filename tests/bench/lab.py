"""What the benchmarks stand on: processes in a folder of their own, floors of the disk, and rounds.

Absolute figures do not carry to another machine or hour. So every case is a function that measures all its
sides once, one right after the other; `rounds` calls it several times, in turn forwards and backwards, and
drops a round in which the time of an fdatasync changed more than twofold. What counts is the median of the
ratios of the rounds."""
import os, shutil, socket, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOK = os.path.join(ROOT, "examples/wordcount/alice.txt")


class Failed(Exception):
    pass


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def median(values):
    return statistics.median(values) if values else None


def status(pid, field):
    """a line of /proc/PID/status in KiB"""
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Lab:
    """the programs of one build and a folder on its file system; everything started here ends here"""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.once = os.path.join(self.build, "once")
        self.folder = tempfile.mkdtemp(prefix="bench-", dir=self.build)
        self.running, self.closers, self.names = [], [], 0

    def has(self, program):
        return os.path.exists(os.path.join(self.build, "bench_" + program))

    def path(self, name):
        return os.path.join(self.folder, name)

    def name(self, stem):
        self.names += 1
        return f"{stem}-{self.names}"

    def start(self, args, **more):
        p = subprocess.Popen(args, **more)
        self.running.append(p)
        return p

    def ended(self, p, seconds=60):
        code = p.wait(seconds)
        self.running.remove(p)
        return code

    def call(self, args, seconds=300, **more):
        r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, **more)
        if r.returncode != 0:
            raise Failed(f"{' '.join(args)} ended with {r.returncode}: {r.stderr.decode(errors='replace')[-400:]}")
        return r.stdout.decode()

    def figures(self, program, *args):
        """the numbers that a bench program prints"""
        return [float(x) for x in self.call([os.path.join(self.build, "bench_" + program), *map(str, args)]).split()]

    def close(self):
        for stop in self.closers:
            stop()
        for p in self.running:
            p.kill()
            p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- floors ----

    def sync_us(self, samples=60):
        """p50 of 4 KiB written and fdatasynced in a zero-filled file"""
        path, took = self.path("floor-sync"), []
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if os.fstat(fd).st_size == 0:
            os.pwrite(fd, bytes(1 << 20), 0)
            os.fsync(fd)
        block = b"x" * 4096
        for i in range(samples):
            begin = time.perf_counter()
            os.pwrite(fd, block, i % 256 * 4096)
            os.fdatasync(fd)
            took.append(time.perf_counter() - begin)
        os.close(fd)
        return median(took) * 1e6

    def sequential(self, total=256 << 20):
        """bytes a second of a file written from its start, synced each 16 MiB"""
        path, block = self.path("floor-sequential"), os.urandom(1 << 20)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        begin = time.perf_counter()
        for i in range(total >> 20):
            os.write(fd, block)
            if i % 16 == 15:
                os.fdatasync(fd)
        took = time.perf_counter() - begin
        os.close(fd)
        os.unlink(path)
        return total / took


class OurBroker:
    def __init__(self, lab, name, *options, preload=None):
        self.lab, self.folder = lab, lab.path(name)
        os.mkdir(self.folder)
        env = dict(os.environ, **(preload or {}))
        log = open(os.path.join(self.folder, "log"), "wb")
        self.process = lab.start([lab.once, "broker", "--data", os.path.join(self.folder, "data"), "--listen",
                                  "127.0.0.1:0", *options], stdout=subprocess.PIPE, stderr=log, env=env)
        line = self.process.stdout.readline().decode().split()
        if len(line) != 2 or line[0] != "ready":
            raise Failed(f"the broker did not get ready, see {log.name}")
        self.address = line[1]

    @property
    def pid(self):
        return self.process.pid

    def topic(self, partitions=1, *config):
        name = self.lab.name("bench")
        args = [self.lab.once, "topic", "create", name, "-b", self.address, "--partitions", str(partitions)]
        for c in config:
            args += ["--config", c]
        self.lab.call(args)
        return name

    def drop(self, topic):
        self.lab.call([self.lab.once, "topic", "rm", topic, "-y", "-b", self.address])

    def stop(self):
        self.process.terminate()
        code = self.lab.ended(self.process)
        if code != 0:
            raise Failed(f"the broker's stop ended with {code}")
        shutil.rmtree(self.folder, ignore_errors=True)


class ApacheKafka(OurBroker):
    def __init__(self, lab, version):
        self.lab, self.folder, self.port = lab, lab.path("kafka"), free_port()
        self.script = os.path.join(ROOT, "tests/compat/apache_kafka.sh")
        self.lab.closers.append(self.stop)
        self.lab.call(["sh", self.script, "start", version, self.folder, str(self.port)], seconds=600)
        self.address = f"127.0.0.1:{self.port}"

    @property
    def pid(self):
        with open(os.path.join(self.folder, "pid")) as f:
            return int(f.read())

    def stop(self):
        subprocess.run(["sh", self.script, "stop", self.folder], stdout=subprocess.DEVNULL, timeout=60)


def rounds(lab, wanted, measure):
    """`measure(forwards)` returns {name: figure}; the kept rounds' figures as {name: [...]} and how many
    were dropped"""
    kept, dropped = {}, 0
    for i in range(3 * wanted):
        before = lab.sync_us()
        figures = measure(i % 2 == 0)
        after = lab.sync_us()
        if max(before, after) > 2 * min(before, after):
            dropped += 1
            continue
        figures["sync_us"] = (before + after) / 2
        for k, v in figures.items():
            kept.setdefault(k, []).append(v)
        if len(kept["sync_us"]) == wanted:
            break
    return kept, dropped


def in_turn(forwards, sides):
    """runs the sides, [(name, function)], in order or against it"""
    out = {}
    for name, side in sides if forwards else reversed(sides):
        out[name] = side()
    return out


def ratio(kept, a, b):
    """median over the rounds of a/b"""
    return median([x / y for x, y in zip(kept.get(a, []), kept.get(b, []))])
