# Checkerboard: much free, nothing large
heap 65536
a A 4096 16
C
a B 4096 16
C
a C 4096 16
C
a D 4096 16
C
a E 4096 16
C
a F 4096 16
C
a G 4096 16
C
a H 4096 16
C
a I 30720 16
C
f A
C
f C
C
f E
C
f G
C
L
C
a X 4097 16
C
f D
C
L
C
a X 4097 16
C
