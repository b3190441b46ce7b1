# SPDX-License-Identifier: MIT
# Python on malloc alone, with threads, forked children and a program started by it.
packages=python3 programs=/usr/bin/python3 reports='report.python3*.json'
that=('counted.allocs > 10000' 'process.foreign_frees == 0')
prepare() {
    cat >work.py <<'C'
import json, os, re, subprocess, sys, threading

data = [{"id": i, "name": "x" * (i % 50), "list": list(range(i % 20))} for i in range(30000)]
text = json.dumps(data)
print(len(text), json.loads(text) == data)
totals = [0] * 4

def work(number, count=60000):
    table = {(number, i): str(i) * 3 for i in range(count)}
    totals[number % 4] = sum(map(len, table.values()))

threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(totals)
sys.stdout.flush()
for number in range(6):
    pid = os.fork()
    if pid == 0:
        work(number, 20000)
        os._exit(number)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(len(re.findall(r"\w+", open(sys.argv[1]).read())))
print(subprocess.run(["echo", "from", "a", "child"], capture_output=True, check=True).stdout)
sys.exit(3)
C
}
host_run() { PYTHONMALLOC=malloc PYTHONHASHSEED=0 under /usr/bin/python3 work.py "$data/words.txt"; }
