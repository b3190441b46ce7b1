# Next fit: the search starts at the rover, not at the lowest run
heap 65536
a A 4096 16
C
a B 1024 16
C
a C 4096 16
C
a D 1024 16
C
a E 4096 16
C
a F 1024 16
C
f A
C
f C
C
f E
C
a X 1024 16
C
a Y 1024 16
C
f B
C
a Z 1024 16
C
