# What the original would overrun is refused: alignments above a block, or no power of two
heap 65536
a A 16 2048
a B 16 3
a C 16 0
a D 5000 1024
r D 100 2048
r D 6000 16
f D
C
