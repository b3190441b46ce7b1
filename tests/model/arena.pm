# the arena: what fits, what does not, marks
arena 32
a one 1 8
a eight 8 8
a three 3 8
a nine 9 8
mark m
a eight2 8 8
a none 0 8
a more 1 8
restore m
a five 5 8
r five 6 8
C
L
mark later
reset
restore later
a all 32 8
arena 1000
a odd 3 1
a sixteen 16 16
