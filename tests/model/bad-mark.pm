hunk 65536
mark m
freelow n
