heap 65536
a A 16 16
q A 3
a B 16 16
