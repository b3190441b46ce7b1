# Failure leaves everything as it was; size 0 gives null
heap 16384
a A 5000 16
C
a B 0 16
C
a C 20000 16
C
a D 4294967295 1
C
a E 9216 16
C
L
C
