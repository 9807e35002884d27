#!/bin/sh
# One node of Apache Kafka (KRaft), from the jars that Maven fetches; the referee of the compatibility tests.
#
#   apache_kafka.sh fetch VERSION
#   apache_kafka.sh start VERSION DIR PORT [key=value ...]   broker on 127.0.0.1:PORT, controller on PORT + 1
#   apache_kafka.sh stop DIR                                 orderly; DIR/data stays for the next start
#   apache_kafka.sh tool VERSION CLASS [ARG ...]             one of Kafka's own tools
#
# Jars are kept in build/kafka/jars-VERSION (ONCE_KAFKA_JARS names another folder than build/kafka). DIR holds
# pid, server.properties, broker.log (warnings and worse) and data. start returns when a request is answered.
# KAFKA_HEAP and TOOL_HEAP are the memory flags of broker and tools.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
jars=${ONCE_KAFKA_JARS:-$here/build/kafka}
heap=${KAFKA_HEAP:--Xms256m -Xmx512m}
tool_heap=${TOOL_HEAP:--Xmx256m}

fail() {
    echo "apache_kafka.sh: $*" >&2
    exit 1
}

# the pid of DIR's broker, if the process of that number really is it
broker_pid() {
    pid=$(cat "$1/pid" 2>/dev/null) || return 1
    [ -r "/proc/$pid/cmdline" ] && tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF "$1/server.properties" &&
        echo "$pid"
}

answers() { # PORT: somebody accepts connections there
    bash -c "exec 3<>/dev/tcp/127.0.0.1/$1" 2>/dev/null
}

pom() {
    cat <<END
<project><modelVersion>4.0.0</modelVersion><groupId>once</groupId><artifactId>kafka</artifactId>
<version>1</version><dependencies>
END
    for d in org.apache.kafka:kafka_2.13:"$1" org.apache.kafka:kafka-tools:"$1" \
        org.apache.kafka:kafka-streams:"$1" org.slf4j:slf4j-simple:1.7.36; do
        IFS=: read -r group artifact v <<END
$d
END
        echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>"
        echo "<version>$v</version></dependency>"
    done
    echo '</dependencies></project>'
}

fetch() {
    [ ! -d "$jars/jars-$1" ] || return 0
    command -v mvn >/dev/null || fail "mvn is missing (Debian: maven)"
    tmp=$jars/.fetch-$1-$$
    mkdir -p "$tmp/jars"
    pom "$1" >"$tmp/pom.xml"
    if ! mvn -q -B -Dstyle.color=never -f "$tmp/pom.xml" dependency:copy-dependencies \
        -DoutputDirectory="$tmp/jars" >"$tmp/log" 2>&1 </dev/null; then
        why=$(grep -m1 ERROR "$tmp/log" | cut -c1-200 || :)
        rm -rf "$tmp"
        fail "Maven could not fetch Kafka $1: $why"
    fi
    mv "$tmp/jars" "$jars/jars-$1" 2>/dev/null || [ -d "$jars/jars-$1" ] # another fetch may have won
    rm -rf "$tmp"
}

properties() { # DIR PORT [key=value ...]; a later line wins
    cat <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$(($2 + 1))
listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$(($2 + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$2
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$1/data
num.partitions=4
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.num.partitions=4
share.coordinator.state.topic.min.isr=1
END
    shift 2
    [ $# = 0 ] || printf '%s\n' "$@"
}

start() {
    version=$1 port=$3
    mkdir -p "$2"
    dir=$(cd "$2" && pwd)
    shift 3
    ! broker_pid "$dir" >/dev/null || fail "the broker of $dir runs already"
    for p in "$port" $((port + 1)); do
        ! answers "$p" || fail "port $p is in use"
    done
    fetch "$version"
    classes="$jars/jars-$version/*"
    properties "$dir" "$port" "$@" >"$dir/server.properties"
    if [ ! -f "$dir/data/meta.properties" ]; then
        java -Xmx256m -cp "$classes" kafka.tools.StorageTool format -t AAAAAAAAQACAAAAAAAAAAA \
            -c "$dir/server.properties" >"$dir/broker.log" 2>&1 || fail "format failed, see $dir/broker.log"
    fi
    # shellcheck disable=SC2086
    nohup java $heap -XX:+UseG1GC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$classes" \
        kafka.Kafka "$dir/server.properties" >"$dir/broker.log" 2>&1 </dev/null &
    pid=$!
    echo $pid >"$dir/pid"
    # the admin client keeps trying until a request is answered
    timeout 60 java -Xmx128m -Dorg.slf4j.simpleLogger.defaultLogLevel=off -cp "$classes" \
        org.apache.kafka.tools.TopicCommand --bootstrap-server "127.0.0.1:$port" --list >/dev/null 2>&1 &
    probe=$!
    while kill -0 $probe 2>/dev/null && kill -0 $pid 2>/dev/null; do sleep 0.3; done
    if ! kill -0 $pid 2>/dev/null; then
        kill $probe 2>/dev/null || :
        fail "the broker ended while starting: $(grep -m2 -E 'ERROR|FATAL|Exception' "$dir/broker.log" || :)"
    fi
    if ! wait $probe; then
        kill -9 $pid 2>/dev/null || :
        fail "port $port did not answer in 60 s, see $dir/broker.log"
    fi
    echo "Apache Kafka $version answers on 127.0.0.1:$port, pid $pid"
}

stop() {
    dir=$(cd "$1" && pwd)
    pid=$(broker_pid "$dir") || {
        rm -f "$dir/pid"
        return 0
    }
    kill "$pid"
    tries=0
    while broker_pid "$dir" >/dev/null && [ $tries -lt 150 ]; do
        sleep 0.2
        tries=$((tries + 1))
    done
    if broker_pid "$dir" >/dev/null; then
        kill -9 "$pid"
        echo "pid $pid did not stop in 30 s and was killed" >&2
    fi
    rm -f "$dir/pid"
}

tool() {
    fetch "$1"
    classes="$jars/jars-$1/*"
    shift
    # shellcheck disable=SC2086
    exec java $tool_heap -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$classes" "$@"
}

case ${1:-}.$# in
fetch.2) fetch "$2" ;;
stop.2) stop "$2" ;;
start.[4-9] | start.[1-9][0-9] | tool.[3-9] | tool.[1-9][0-9]) "$@" ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
