# A full heap with free fragments: the search answers with a fragment size
heap 8192
a A 512 16
C
a B 200 16
C
a C 4096 16
C
L
C
a X 512 16
C
L
C
a Y 256 16
C
a Z 100 16
C
