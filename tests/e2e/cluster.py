"""Real processes for the end-to-end tests: a broker of ours or an Apache Kafka, workers, a paced feed, and
the committed view as librdkafka reads it. Everything runs in a directory of its own on loopback."""
import os, random, re, signal, socket, subprocess, sys, threading, time

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition, OFFSET_BEGINNING
from confluent_kafka.admin import AdminClient, NewTopic

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def free_port():
    """a port, and the one behind it, below those that the system gives to outgoing connections: a broker that
    was killed must find it free again"""
    while True:
        port = random.randrange(15000, 30000)
        try:
            for p in (port, port + 1):
                with socket.socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    s.bind(("127.0.0.1", p))
            return port
        except OSError:
            pass


def say(text):
    print(f"# {text}", flush=True)


class Failed(Exception):
    pass


class OurBroker:
    """`once broker` on a fixed port, so that clients find it again after a kill"""

    def __init__(self, once, folder, settings=()):
        self.once, self.folder, self.settings = once, folder, settings
        self.address = f"127.0.0.1:{free_port()}"
        self.process, self.kills = None, 0

    def start(self):
        log = open(os.path.join(self.folder, "broker.log"), "ab")
        args = [self.once, "broker", "--data", os.path.join(self.folder, "data"), "--listen", self.address]
        for s in self.settings:
            args += ["-X", s]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode()
        if line != f"ready {self.address}\n":
            raise Failed(f"the broker did not get ready: {line!r}, see {log.name}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def stop(self):
        self.process.terminate()
        code = self.process.wait(30)
        if code != 0:
            raise Failed(f"the broker's orderly stop ended with {code}")


class ApacheKafka:
    """started by tests/compat/apache_kafka.sh; a kill is a SIGKILL of the JVM"""

    def __init__(self, version, folder):
        self.version, self.folder = version, os.path.join(folder, "kafka")
        self.port, self.kills = free_port(), 0
        self.address = f"127.0.0.1:{self.port}"
        self.script = os.path.join(ROOT, "tests/compat/apache_kafka.sh")

    def start(self):
        subprocess.run(["sh", self.script, "start", self.version, self.folder, str(self.port)],
                       check=True, stdout=subprocess.DEVNULL)

    def kill(self):
        pid = int(open(os.path.join(self.folder, "pid")).read())
        os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split()[2] != "Z":
            time.sleep(0.05)
        self.kills += 1

    def stop(self):
        subprocess.run(["sh", self.script, "stop", self.folder], check=True, stdout=subprocess.DEVNULL)


class Worker:
    """one `once run --brokers`, killed, stopped and started again at will"""

    def __init__(self, once, job, address, folder, name, extra=()):
        self.args = [once, "run", job, "--brokers", address, "--state", os.path.join(folder, "state"), *extra]
        self.log = os.path.join(folder, f"{name}.log")
        self.process, self.name = None, name
        self.started, self.stopped_until = 0.0, None

    def start(self):
        self.started = time.time()
        self.process = subprocess.Popen(self.args, stdout=open(self.log + ".out", "ab"), stderr=open(self.log, "ab"))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def check(self):
        """a worker never ends by itself"""
        code = self.process.poll()
        if code is not None:
            raise Failed(f"{self.name} ended by itself with {code}, see {self.log}")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(60)
        if code != 0:
            raise Failed(f"{self.name}: the orderly stop ended with {code}, see {self.log}")


class Feed(threading.Thread):
    """the book's lines, times over, into partitions in turn, spread over some seconds; idempotent, so that the
    input itself has each line once whatever happens to the broker"""

    def __init__(self, address, topic, lines, partitions, seconds):
        super().__init__(daemon=True)
        self.topic, self.lines, self.partitions, self.seconds = topic, lines, partitions, seconds
        self.producer = Producer({"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 5,
                                  "message.timeout.ms": 600000, "log_level": 2})
        self.failed, self.sent = None, 0

    def delivered(self, err, _):
        if err:
            self.failed = str(err)

    def run(self):
        begin = time.time()
        for i, line in enumerate(self.lines):
            while True:
                try:
                    self.producer.produce(self.topic, line, partition=i % self.partitions,
                                          on_delivery=self.delivered)
                    break
                except BufferError:
                    self.producer.poll(0.1)
            self.sent += 1
            if i % 200 == 0:
                self.producer.poll(0)
                ahead = begin + self.seconds * i / len(self.lines) - time.time()
                if ahead > 0:
                    time.sleep(ahead)
        if self.producer.flush(600):
            self.failed = "not all lines were acknowledged in 600 s"


def create_topic(address, name, partitions):
    admin = AdminClient({"bootstrap.servers": address})
    for _ in range(20):
        try:
            admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
            return
        except Exception as e:
            if "already exists" in str(e):
                return
            time.sleep(0.5)
    raise Failed(f"topic {name} could not be created")


def read_committed(address, topic, seconds=120, isolation="read_committed"):
    """(partition, key, value) in order, from the beginning to the stable end"""
    c = Consumer({"bootstrap.servers": address, "group.id": f"check-{random.random()}", "log_level": 2,
                  "isolation.level": isolation, "enable.auto.commit": False, "enable.partition.eof": True,
                  "auto.offset.reset": "earliest"})
    parts = sorted(c.list_topics(topic, 30).topics[topic].partitions)
    c.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in parts])
    out, ended, until = [], set(), time.time() + seconds
    while len(ended) < len(parts):
        if time.time() > until:
            raise Failed(f"{topic} was not read to its end in {seconds} s")
        for m in c.consume(10000, 0.5):
            if m.error():
                if m.error().code() == KafkaError._PARTITION_EOF:
                    ended.add(m.partition())
                    continue
                raise Failed(f"{topic}: {m.error()}")
            ended.discard(m.partition())
            out.append((m.partition(), m.key(), m.value()))
    c.close()
    return out


def committed(address, group, topic, partitions):
    c = Consumer({"bootstrap.servers": address, "group.id": group, "log_level": 2})
    got = c.committed([TopicPartition(topic, p) for p in range(partitions)], 30)
    c.close()
    return [t.offset for t in got]


def ends(address, topic, partitions):
    c = Consumer({"bootstrap.servers": address, "group.id": "ends", "log_level": 2,
                  "isolation.level": "read_committed"})
    got = [c.get_watermark_offsets(TopicPartition(topic, p), 30)[1] for p in range(partitions)]
    c.close()
    return got


def wait_drained(address, group, topics, partitions, seconds, check=lambda: None):
    """until the group has committed each topic to its stable end; topics in the order of the flow"""
    until = time.time() + seconds
    while True:
        check()
        try:
            state = [(t, committed(address, group, t, partitions), ends(address, t, partitions)) for t in topics]
            if all(c >= e or e == 0 for _, cs, es in state for c, e in zip(cs, es)):
                return
        except Exception as e:  # the broker may be starting
            state = e
        if time.time() > until:
            raise Failed(f"not drained in {seconds} s: {state}")
        time.sleep(0.3)


def count_words(lines):
    counts = {}
    for line in lines:
        for token in re.findall(rb"[a-z']+", line.lower()):
            word = token.strip(b"'")
            if word:
                counts[word] = counts.get(word, 0) + 1
    return counts


def state_dump(once, folder, job, store):
    r = subprocess.run([once, "state", "dump", job, store, "--state", os.path.join(folder, "state")],
                       capture_output=True)
    if r.returncode != 0:
        raise Failed(f"once state dump ended with {r.returncode}: {r.stderr.decode()}")
    return dict(line.split(b"\t") for line in r.stdout.splitlines())


def judge_counts(out, expected):
    """what is wrong with a list of (partition, word, count): lost, duplicated, reordered"""
    seen = {}
    lost = duplicated = reordered = 0
    for _, word, value in out:
        n, have = int(value), seen.setdefault(word, [])
        if have and n < have[-1]:
            reordered += 1
        have.append(n)
    for word, n in expected.items():
        have = seen.get(word, [])
        duplicated += len(have) - len(set(have)) + len([x for x in set(have) if x > n])
        lost += len(set(range(1, n + 1)) - set(have))
    duplicated += sum(len(v) for w, v in seen.items() if w not in expected)
    return lost, duplicated, reordered
