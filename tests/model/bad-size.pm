clump 0
