import Testing

/// Everything that starts the whole service. One after the other: each has processes, a database and providers of its own.
@Suite("The whole service", .serialized)
struct WholeService {}
