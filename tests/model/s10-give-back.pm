# Seven free blocks at the top stay in the list, eight go back to the core
heap 65536
a A 1024 16
C
a B 7168 16
C
f B
C
a C 8192 16
C
f C
C
a D 6144 16
C
f D
C
a E 1024 16
C
