# Fragments take a block from the rover's run, not from the core
heap 65536
a A 4096 16
C
a B 1024 16
C
f A
C
a C 40 16
C
a D 4096 16
C
a E 2048 16
C
