# SPDX-License-Identifier: MIT
"""Client of the redis workload: SOCKET DATA CONNECTIONS.

Sends each prepared file over a connection of its own, all at once, then a script that works inside the server,
prints the digest of the whole data set, and ends the server.
"""

import socket
import sys
import threading
import time

SCRIPT = """local t = {} for i = 1, 60000 do t[i] = {i, tostring(i)} end
for i = 1, 8000 do redis.call('HSET', 's' .. (i % 100), i, t[i][2]) end return #t"""


def connect(path):
    for _ in range(500):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            return s
        except OSError:
            s.close()
            time.sleep(0.01)
    sys.exit(f"{path}: no server")


def word(*words):
    return "".join([f"*{len(words)}\r\n"] + [f"${len(w)}\r\n{w}\r\n" for w in words]).encode()


def read_until(s, mark):
    """Reads replies up to the mark; the mark is that of an ECHO sent last."""
    tail = b""
    while not tail.endswith(mark):
        got = s.recv(1 << 18)
        if not got:
            sys.exit("the server hung up")
        tail = (tail + got)[-64:] if len(tail) + len(got) > 1 << 16 else tail + got
    return tail


def feed(path, file):
    s = connect(path)
    reader = threading.Thread(target=read_until, args=(s, b"the end\r\n"))
    reader.start()
    with open(file, "rb") as f:
        s.sendall(f.read())
    s.sendall(word("ECHO", "the end"))
    reader.join()
    s.close()


def main():
    path, data, connections = sys.argv[1], sys.argv[2], int(sys.argv[3])
    threads = [threading.Thread(target=feed, args=(path, f"{data}/redis.{n}")) for n in range(connections)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    s = connect(path)
    s.sendall(word("EVAL", SCRIPT, "0") + word("DBSIZE") + word("DEBUG", "DIGEST") + word("ECHO", "the end"))
    print(read_until(s, b"the end\r\n").decode())
    s.sendall(word("SHUTDOWN", "NOSAVE"))
    s.recv(100)


main()
