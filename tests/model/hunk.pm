# the hunk: commit in steps, marks of both ends, the temporary block
hunk 1073741824
low a 1
low b 16
mark m
low c 65456
low d 1
freelow m
low e 0
temp 1000
high v 33554416
high w 1
freehigh m
C
