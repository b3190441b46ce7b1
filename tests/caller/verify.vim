" SPDX-License-Identifier: MIT
" Traffic for make verify-tags: several languages in one process.
lua local t = {} for i = 1, 5000 do t[i] = {i, tostring(i)} end
python3 import json; json.loads(json.dumps([{"a": list(range(20))} for i in range(500)]))
perl my %h; $h{$_} = "x" x ($_ % 50) for 1..5000;
ruby a = (1..5000).map { |i| i.to_s * 3 }
