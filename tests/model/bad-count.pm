heap 4096
count 1
