# Realloc to 0 and of null
heap 65536
a A 100 16
C
r A 0 16
C
r B 100 16
C
