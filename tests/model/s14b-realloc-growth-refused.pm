# Growth that cannot succeed leaves the run alone (the original loses it: see Pitfalls)
heap 8192
a A 1024 16
C
a B 2048 16
C
a C 3072 16
C
f A
C
r B 5000 16
C
f C
C
r B 5000 16
C
