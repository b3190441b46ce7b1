# Realloc of a fragment: the class must match exactly
heap 65536
a A 100 16
C
r A 65 1
C
r A 128 1
C
r A 64 1
C
r A 129 1
C
r A 600 1
C
r A 200 1
C
