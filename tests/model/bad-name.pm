heap 4096
f X
