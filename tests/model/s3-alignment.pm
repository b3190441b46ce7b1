# Alignment is rounding of the size
heap 65536
a A 24 16
C
a B 12 8
C
a C 100 128
C
a D 500 128
C
a E 400 256
C
a F 513 16
C
a G 1 1024
C
a H 36940 16
C
