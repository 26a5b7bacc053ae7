import CLibPQ

/// Owner of one libpq result, cleared when the last row that looks into it is gone.
///
/// `@unchecked Sendable`: a `PGresult` is never changed after libpq has handed it over, so any thread may read it.
final class ResultSet: @unchecked Sendable {
    let pointer: OpaquePointer
    let columns: Int32

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
        columns = PQnfields(pointer)
    }

    deinit { PQclear(pointer) }

    var rows: [Row] { (0..<PQntuples(pointer)).map { Row(result: self, index: $0) } }

    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }
}
