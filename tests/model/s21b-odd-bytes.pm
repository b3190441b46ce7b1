# A heap whose usable size is not whole blocks: the odd bytes are never used
heap 3000
a A 8 8
C
L
C
