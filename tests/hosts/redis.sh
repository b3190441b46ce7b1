# SPDX-License-Identifier: MIT
# redis-server (Debian's asks for jemalloc by itself) under redis-benchmark, a Lua script, a background save.
packages='redis-server redis-tools' programs='redis-server redis-benchmark redis-cli' reports='report.redis-*.json'
that=('counted.allocs > 10000') busy=--busy
port=17399
ask() { redis-cli -p $port "$@"; }
host_run() {
    under "$(command -v redis-server)" --port $port --bind 127.0.0.1 --dir "$PWD" --save '' --appendonly no >server.log &
    local server=$! try
    for try in $(seq 50); do
        ask ping 2>/dev/null | grep -q PONG && break
        sleep 0.1
    done
    redis-benchmark -p $port -n 20000 -r 50000 -c 10 -P 16 -q -t set,get,lpush,hset,sadd,zadd,mset >benchmark.log || return 1
    ask eval 'local t = {} for i = 1, 100000 do t[i] = {i, tostring(i)} end
              for i = 1, 20000 do redis.call("HSET", "h" .. (i % 100), i, t[i][2]) end return #t' 0
    ask hlen h7
    ask llen mylist
    ask memory usage h1 | grep -c '[0-9]'
    ask memory purge
    ask bgsave
    sleep 1
    ask lastsave | grep -c '[0-9]'
    ask shutdown nosave
    wait $server
    echo "ended with $?"
}
