heap 4096
a A 16
