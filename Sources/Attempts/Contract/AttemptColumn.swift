import PushContract

/// The columns of `notificationDeliveryAttempts`. Everything that names them derives from this list: the parser's keys, the packed records,
/// COPY, INSERT, UPDATE and SELECT.
///
/// A new optional column is a case with its definition here, a property of `Attempt`, and a migration, which also opens it to analysts.
enum AttemptColumn: Int, CaseIterable {
    // Fields of the contract, in the order in which clients write them: the parser tries the next key first.
    case attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode, attemptedAt, requestId
    case app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId
    // Columns that the service adds.
    case receivedAt, attemptKey, foldedLabels

    var definition: Definition {
        switch self {
        case .attemptId: Definition("attemptId", .text(.visibleASCII, \.attemptId))
        case .uid: Definition("uid", .text(.characters(1...256), \.uid), [.identity])
        case .platform: Definition("platform", .word("pushPlatform"), [.identity, .rollup])
        case .provider: Definition("provider", .word("pushProvider"), [.identity, .rollup])
        case .tokenHash: Definition("tokenHash", .text(.tokenHash, \.tokenHash.rawValue), [.identity])
        case .eventType: Definition("eventType", .word("pushEventType"), [.identity, .rollup])
        case .status: Definition("status", .word("pushStatus"), [.rollup, .latest])
        case .reasonCode: Definition("reasonCode", .word("pushReason"), [.rollup, .latest])
        case .providerErrorCode:
            Definition(
                "providerErrorCode",
                .optionalText(.characters(0...200), Field({ $0.providerErrorCode }, { $0.providerErrorCode = $1 })),
                [.latest, .noToken]
            )
        case .attemptedAt: Definition("attemptedAt", .moment)
        case .requestId: Definition("requestId", .text(.visibleASCII, \.requestId), [.identity])
        case .app:
            Definition("app", .optionalText(.characters(1...200), Field({ $0.app }, { $0.app = $1 })), [.rollup, .latest, .noToken])
        case .environment: Definition("environment", .word("pushEnvironment"), [.rollup, .latest])
        case .pushType:
            Definition(
                "pushType",
                .optionalText(.characters(1...200), Field({ $0.pushType }, { $0.pushType = $1 })),
                [.rollup, .latest, .noToken]
            )
        case .appVersion:
            Definition(
                "appVersion",
                .optionalText(.characters(1...200), Field({ $0.appVersion }, { $0.appVersion = $1 })),
                [.latest, .noToken]
            )
        case .providerMessageId:
            Definition(
                "providerMessageId",
                .optionalText(.characters(1...200), Field({ $0.providerMessageId }, { $0.providerMessageId = $1 })),
                [.latest, .noToken]
            )
        case .latencyMs: Definition("latencyMs", .optionalInteger(Field({ $0.latencyMs }, { $0.latencyMs = $1 })), [.latest])
        case .sendId: Definition("sendId", .optionalText(.visibleASCII, Field({ $0.sendId }, { $0.sendId = $1 })), [.latest])
        case .receivedAt: Definition("receivedAt", .moment)
        case .attemptKey: Definition("attemptKey", .key)
        case .foldedLabels: Definition("foldedLabels", .labels, [.latest])
        }
    }

    struct Definition: Sendable {
        /// The JSON key, and the column.
        var name: StaticString
        var kind: Kind
        var uses: Uses

        init(_ name: StaticString, _ kind: Kind, _ uses: Uses = []) {
            self.name = name
            self.kind = kind
            self.uses = uses
        }
    }

    enum Kind: Sendable {
        case text(TextRule, @Sendable (Attempt) -> String)
        case optionalText(TextRule, Field<String>)
        /// From 0.
        case optionalInteger(Field<Int32>)
        /// A member of a closed set: a property of the record; the value is PostgreSQL's type.
        case word(StaticString)
        case moment
        case key
        /// `FoldedLabels`.
        case labels
    }

    /// Of an attempt. No key path: each attempt that is stored reads seven of these, and a key path copies the attempt to read from it.
    struct Field<Value>: Sendable {
        let get: @Sendable (Attempt) -> Value?
        let set: @Sendable (inout Attempt, Value?) -> Void

        init(_ get: @escaping @Sendable (Attempt) -> Value?, _ set: @escaping @Sendable (inout Attempt, Value?) -> Void) {
            self.get = get
            self.set = set
        }
    }

    struct Uses: OptionSet, Sendable {
        let rawValue: UInt8
        /// Part of the fingerprint: may not differ between reports of one attemptId.
        static let identity = Uses(rawValue: 1)
        /// Attempts are counted by it.
        static let rollup = Uses(rawValue: 2)
        /// A report that advances the status replaces it. Other columns keep the value of the first report.
        static let latest = Uses(rawValue: 4)
        /// A report is refused when a part of it has the shape of a token.
        static let noToken = Uses(rawValue: 8)
    }
}

extension AttemptColumn {
    var name: StaticString { definition.name }

    /// PostgreSQL's type.
    var type: StaticString {
        switch definition.kind {
        case .text, .optionalText: "text"
        case .optionalInteger: "integer"
        case .word(let type): type
        case .moment: "timestamptz"
        case .key: "uuid"
        case .labels: "smallint"
        }
    }

    /// The fields of the contract.
    static let contract = allCases.filter { $0.rawValue < AttemptColumn.receivedAt.rawValue }
    /// With what they are: a definition is made anew each time.
    static let contractKinds = contract.map { (column: $0, kind: $0.definition.kind) }
    static let latest = allCases.filter { $0.definition.uses.contains(.latest) }
    /// For SELECT: the contract's, in the order of `contract`.
    static let contractNames = names(contract)
    /// For INSERT and COPY.
    static let allNames = names(allCases)

    private static func names(_ columns: [AttemptColumn]) -> String { columns.map { "\($0.name)" }.joined(separator: ", ") }
}

extension AttemptColumn {
    /// How a value is written to the wire.
    enum Encoding: Sendable {
        case text(slot: Int)
        case integer(slot: Int)
        case word
        case moment
        case key
        case labels
    }

    /// A column with its encoding: trivial values for the loops that run with every attempt.
    struct Layout: Sendable {
        var column: AttemptColumn
        var encoding: Encoding
    }

    static let layout: [Layout] = {
        var slots = 0
        func next() -> Int {
            defer { slots += 1 }
            return slots
        }
        let layout = allCases.map { column in
            switch column.definition.kind {
            case .text, .optionalText: Layout(column: column, encoding: .text(slot: next()))
            case .optionalInteger: Layout(column: column, encoding: .integer(slot: next()))
            case .word: Layout(column: column, encoding: .word)
            case .moment: Layout(column: column, encoding: .moment)
            case .key: Layout(column: column, encoding: .key)
            case .labels: Layout(column: column, encoding: .labels)
            }
        }
        precondition(slots <= AttemptSlots.capacity, "more columns than slots: raise AttemptSlots.capacity")
        return layout
    }()

    private static let slots = layout.map { entry in
        switch entry.encoding {
        case .text(let slot), .integer(let slot): slot
        case .word, .moment, .key, .labels: -1
        }
    }

    /// The place of a text or an integer in a record's slots.
    var slot: Int { AttemptColumn.slots[rawValue] }

    static let textSlots: [Int] = layout.compactMap { entry in
        if case .text(let slot) = entry.encoding { slot } else { nil }
    }

    private static let rules: [TextRule?] = allCases.map { column in
        switch column.definition.kind {
        case .text(let rule, _), .optionalText(let rule, _): rule
        case .optionalInteger, .word, .moment, .key, .labels: nil
        }
    }

    /// Of texts.
    var rule: TextRule? { AttemptColumn.rules[rawValue] }

    private static let tokenShapes = allCases.map { $0.definition.uses.contains(.noToken) }

    var refusesTokenShape: Bool { AttemptColumn.tokenShapes[rawValue] }

    /// Optional texts and integers, in the order of the list.
    static let optionals = allCases.filter { column in
        switch column.definition.kind {
        case .optionalText, .optionalInteger: true
        case .text, .word, .moment, .key, .labels: false
        }
    }
}
