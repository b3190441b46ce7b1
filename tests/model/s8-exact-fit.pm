# An exact fit leaves the rover at the next run (round to the lowest)
heap 65536
a A 2048 16
C
a B 1024 16
C
a C 3072 16
C
a D 1024 16
C
a E 2048 16
C
a F 1024 16
C
f E
C
f C
C
f A
C
a X 3072 16
C
a Y 1024 16
C
a Z 2048 16
C
