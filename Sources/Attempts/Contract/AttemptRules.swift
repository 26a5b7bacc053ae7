import PushContract

/// The contract's rules that are about more than one text.
enum AttemptRules {
    static func check(_ provider: Provider, serves platform: Platform) throws(AttemptFault) {
        guard provider.serves(platform) else {
            throw AttemptFault(
                "invalid_combination",
                .provider,
                "provider `apns` implies platform `ios`, and platform `web` implies provider `fcm`; got `\(provider)` with `\(platform)`"
            )
        }
    }

    static func check(hasReason: Bool, for status: AttemptStatus) throws(AttemptFault) {
        guard hasReason != status.carriesReason else { return }
        if status.carriesReason {
            throw AttemptFault("missing_field", .reasonCode, "`reasonCode` is required when `status` is `\(status)`")
        }
        throw AttemptFault(
            "invalid_combination",
            .reasonCode,
            "`reasonCode` belongs to `failed` and `deactivated`; leave it out (or null) when `status` is `\(status)`"
        )
    }

    static func integer(_ number: Int64, _ column: AttemptColumn) throws(AttemptFault) -> Int32 {
        guard let narrow = Int32(exactly: number), narrow >= 0 else {
            throw AttemptFault("invalid_value", column, "`\(column.name)` must be between 0 and 2147483647")
        }
        return narrow
    }
}

extension AttemptKey {
    /// The fingerprint: digest of the columns that may not differ for one attemptId, each followed by a separator none of them can contain.
    init(
        uid: UnsafeBufferPointer<UInt8>,
        _ platform: Platform,
        _ provider: Provider,
        tokenHash: UnsafeBufferPointer<UInt8>,
        _ eventType: EventType,
        requestId: UnsafeBufferPointer<UInt8>
    ) {
        // One update of one block: each call into the digest costs more than the bytes.
        self = withUnsafeTemporaryAllocation(byteCount: uid.count + tokenHash.count + requestId.count + 64, alignment: 1) { block in
            var count = 0
            func add(_ part: UnsafeBufferPointer<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: block[count...]).copyMemory(from: UnsafeRawBufferPointer(part))
                block[count + part.count] = 0
                count += part.count + 1
            }
            add(uid)
            add(UnsafeBufferPointer(platform))
            add(UnsafeBufferPointer(provider))
            add(tokenHash)
            add(UnsafeBufferPointer(eventType))
            add(requestId)
            return AttemptKey(hashing: UnsafeRawBufferPointer(rebasing: block[..<count]))
        }
    }

    /// The fingerprint of an attempt that was read back.
    init(contentOf attempt: Attempt) {
        var (uid, tokenHash, requestId) = (attempt.uid, attempt.tokenHash.rawValue, attempt.requestId)
        self = uid.withUTF8 { uid in
            tokenHash.withUTF8 { tokenHash in
                requestId.withUTF8 { requestId in
                    AttemptKey(
                        uid: uid,
                        attempt.platform,
                        attempt.provider,
                        tokenHash: tokenHash,
                        attempt.eventType,
                        requestId: requestId
                    )
                }
            }
        }
    }
}
