# A block whose fragments are all free is a free block again
heap 65536
a A 256 16
C
a G 2000 16
C
a B 256 16
C
a C 256 16
C
f A
C
f B
C
f C
C
a X 1000 16
C
a Y 256 16
C
