// HTTPEdge
