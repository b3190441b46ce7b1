# A freed fragment goes second, behind the block's first free one
heap 65536
a A 64 16
C
a B 64 16
C
a C 64 16
C
a D 64 16
C
a E 64 16
C
f B
C
f C
C
a X 64 16
C
a Y 64 16
C
a Z 64 16
C
a W 64 16
C
