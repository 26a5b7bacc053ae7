import PushContract

/// What our sessions are set to, in each of the forms in which the server gets it.
///
/// A session of our own is set when it begins. Behind a pooler it is another client's after each transaction, so the settings go with every
/// transaction, in the same message as its first statement, and end with it.
struct SessionSettings {
    private let values: [(name: String, value: String)]

    init(_ configuration: PostgresConfiguration) {
        var values = [
            ("statement_timeout", "\(configuration.statementTimeout.microseconds / 1000)"), ("timezone", "UTC"),
            ("client_min_messages", "warning"),
            ("idle_in_transaction_session_timeout", "\(configuration.idleTransactionTimeout.microseconds / 1000)"),
        ]
        // Without sequential scans, costs where no index serves would be enough to compile the statement.
        if configuration.looksUpByIndex { values += [("enable_seqscan", "off"), ("jit", "off")] }
        self.values = values
    }

    /// For the request to connect.
    var startupOptions: String { values.map { "-c \($0.name)=\($0.value) " }.joined() }

    /// To go before BEGIN in the same text: the statements of one text are a transaction, which BEGIN continues.
    var script: String { values.map { "SET LOCAL \($0.name) = '\($0.value)'; " }.joined() }

    /// To go before statements of a pipeline. A SET there would warn that it is in no transaction.
    var query: Query { Query(text: "SELECT " + values.map { "set_config('\($0.name)', '\($0.value)', true)" }.joined(separator: ", ")) }
}
