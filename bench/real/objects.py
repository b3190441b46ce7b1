# SPDX-License-Identifier: MIT
# Objects, dictionaries, text and JSON: what a tool script written in Python does all day.
import json
import re


class Part:
    def __init__(self, number):
        self.number, self.name = number, f"part {number}"
        self.links = [number * k for k in range(number % 7)]


parts = {n: Part(n) for n in range(60000)}
by_name = {p.name: p for p in parts.values()}
for n in range(0, 60000, 3):
    del by_name[parts.pop(n).name]
documents = [{"id": p.number, "name": p.name, "links": p.links, "note": "x" * (p.number % 40)} for p in parts.values()]
text = json.dumps(documents)
back = json.loads(text)
words = {}
for word in re.findall(r"\w+", text[:2000000]):
    words[word] = words.get(word, 0) + 1
total = sum(len(d["links"]) for d in back)
print(len(text), len(back), len(words), total, sum(sorted(words.values())[-50:]))
