# A fresh block's fragments: the first, then from the top down
heap 65536
a A 16 16
C
a B 16 16
C
a C 9 8
C
a D 16 16
C
a E 8 8
C
a F 1 1
C
