# Sizes too small to be a heap
heap 1024
a A 8 8
C
L
C
heap 2048
a A 8 8
C
L
C
heap 3072
a A 8 8
C
a B 512 16
C
L
C
