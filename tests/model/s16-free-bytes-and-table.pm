# FreeBytes counts the table as free; a fresh heap
heap 1048576
L
C
a A 1034240 16
C
a B 1033216 16
C
a C 1 1
C
L
C
