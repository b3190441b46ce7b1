heap 65536
a A sixteen 16
