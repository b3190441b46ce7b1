# Realloc of a run: shrink in place, the tail is freed
heap 65536
a A 10240 16
C
a B 1024 16
C
r A 9217 16
C
r A 3000 16
C
a C 2048 16
C
r A 1024 16
C
r A 512 16
C
