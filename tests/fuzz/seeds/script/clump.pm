# The bump allocator: alignment of the offset, no rounding of the size, no growth past the end
clump 4096
a A 10 1
a B 4 16
a C 100 128
a D 1 8
a E 3000 16
a F 5000 4
C
L
P
r A 20 1     # the original's realloc gives nothing
f A          # frees are not counted ...
count 1
f B
f C
f D
f E          # ... so one allocation is still counted live
C
# counted from the start, the last free empties it
clump 4096
count 1
a A 10 1
a B 20 16
f A
f A
f B
a C 7 1
C
