# SPDX-License-Identifier: MIT
# Traffic for make verify-tags: containers, json, threads, regular expressions, a fork.
import json, os, re, threading
data = [{"id": i, "name": "x" * (i % 50), "list": list(range(i % 20))} for i in range(3000)]
text = json.dumps(data)
threads = [threading.Thread(target=lambda: json.loads(text)) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(re.findall(r"\w+", text)))
child = os.fork()
if child == 0:
    json.loads(text)
    os._exit(0)
print(os.waitpid(child, 0)[1])
