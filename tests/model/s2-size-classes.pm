# Size classes at their edges (align 1)
heap 65536
a A 1 1
C
a B 8 1
C
a C 9 1
C
a D 16 1
C
a E 17 1
C
a F 32 1
C
a G 33 1
C
a H 255 1
C
a I 256 1
C
a J 257 1
C
a K 512 1
C
a L 513 1
C
a M 1024 1
C
a N 1025 1
C
