import PushContract

/// The checks on one `/3/device` request, in Apple's order. Pure: same request, trust and time, same verdict.
struct APNsRequestChecks: Sendable {
    let authorization: APNsAuthorization

    /// - Parameter remembered: the provider of an authorization seen before, so that its signature is not checked again.
    func check(_ request: SimulatedRequest, remembered: APNsProvider? = nil, now: Timestamp) throws(APNsRefusal) -> APNsNotification {
        let token = try deviceToken(request)
        try checkDuplicates(request)
        let provider = try provider(request, remembered: remembered)
        try APNsAuthorization.checkAge(of: provider, now: now)
        try checkMessageId(request)
        let (topic, pushType) = try topicAndType(request)
        let bundle = String(topic.dropLast(pushType.topicSuffix.count))
        if let bundles = provider.bundles, !bundles.contains(bundle) {
            throw APNsRefusal(.topicDisallowed, "team \(provider.teamId) does not own \(bundle)")
        }
        try checkPriority(request, of: pushType)
        try checkExpiration(request)
        try checkCollapseId(request)
        try APNsPayloadChecks.check(request.body, as: pushType)
        return APNsNotification(
            token: try wellFormed(token),
            topic: topic,
            bundle: bundle,
            pushType: pushType,
            provider: provider
        )
    }

    private func deviceToken(_ request: SimulatedRequest) throws(APNsRefusal) -> String {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard parts.prefix(2).elementsEqual(["3", "device"]), parts.count <= 3 else {
            throw APNsRefusal(.badPath, "the path must be /3/device/<token>")
        }
        guard request.method == "POST" else {
            throw APNsRefusal(.methodNotAllowed, "the method must be POST")
        }
        guard parts.count == 3, let token = parts.last, !token.isEmpty else {
            throw APNsRefusal(.missingDeviceToken, "the path must end in a device token")
        }
        return String(token)
    }

    private func checkDuplicates(_ request: SimulatedRequest) throws(APNsRefusal) {
        var seen: Set<String> = []
        for header in request.headers where header.name.hasPrefix("apns-") || header.name == "authorization" {
            guard seen.insert(header.name).inserted else {
                throw APNsRefusal(.duplicateHeaders, "\(header.name) is there twice")
            }
        }
    }

    /// Who sends, by the provider token.
    func provider(_ request: SimulatedRequest, remembered: APNsProvider?) throws(APNsRefusal) -> APNsProvider {
        if let remembered { return remembered }
        guard request.header("authorization") != nil else {
            throw APNsRefusal(.missingProviderToken, "the authorization header is missing")
        }
        guard let compact = request.bearer else {
            throw APNsRefusal(.invalidProviderToken, "the authorization header must be: bearer <provider token>")
        }
        return try authorization.provider(of: compact)
    }

    private func checkMessageId(_ request: SimulatedRequest) throws(APNsRefusal) {
        if let id = request.header("apns-id"), !Self.isUUID(id) {
            throw APNsRefusal(.badMessageId, "apns-id must be a UUID")
        }
    }

    private func topicAndType(_ request: SimulatedRequest) throws(APNsRefusal) -> (String, APNsPushType) {
        guard let topic = request.header("apns-topic"), !topic.isEmpty else {
            throw APNsRefusal(.missingTopic, "apns-topic is missing; a provider token does not name an app")
        }
        let named = request.header("apns-push-type")
        guard let pushType = named.map(APNsPushType.init(rawValue:)) ?? APNsPushType.named(bySuffixOf: topic) else {
            throw APNsRefusal(
                .invalidPushType,
                "apns-push-type must be one of \(APNsPushType.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        guard topic.utf8.count <= 255, topic.utf8.allSatisfy(Self.isTopicByte) else {
            throw APNsRefusal(.badTopic, "apns-topic may hold letters, digits, dots, hyphens and underscores")
        }
        guard topic.hasSuffix(pushType.topicSuffix), topic.utf8.count > pushType.topicSuffix.utf8.count else {
            throw APNsRefusal(.badTopic, "the topic of a \(pushType) push must be the bundle identifier and \(pushType.topicSuffix)")
        }
        let suffixed = APNsPushType.named(bySuffixOf: topic)
        guard pushType == suffixed || (pushType.topicSuffix.isEmpty && suffixed == .alert) else {
            throw APNsRefusal(.badTopic, "the topic is for \(suffixed) pushes, apns-push-type is \(pushType)")
        }
        return (topic, pushType)
    }

    private func checkPriority(_ request: SimulatedRequest, of pushType: APNsPushType) throws(APNsRefusal) {
        // Without the header Apple takes 10, which a background push may not have.
        guard let priority = Int(request.header("apns-priority") ?? "10"), pushType.priorities.contains(priority) else {
            let allowed = pushType.priorities.sorted().map(String.init).joined(separator: ", ")
            throw APNsRefusal(.badPriority, "apns-priority of a \(pushType) push must be one of \(allowed)")
        }
    }

    private func checkExpiration(_ request: SimulatedRequest) throws(APNsRefusal) {
        guard let text = request.header("apns-expiration") else { return }
        guard let seconds = Int64(text), seconds >= 0 else {
            throw APNsRefusal(.badExpirationDate, "apns-expiration must be whole seconds since 1970, or 0")
        }
    }

    private func checkCollapseId(_ request: SimulatedRequest) throws(APNsRefusal) {
        guard let id = request.header("apns-collapse-id") else { return }
        guard id.utf8.count <= 64 else {
            throw APNsRefusal(.badCollapseId, "apns-collapse-id has \(id.utf8.count) bytes; at most 64 are allowed")
        }
    }

    /// Apple fixes no length; a device token has 64 digits today, a Live Activity's more.
    private func wellFormed(_ token: String) throws(APNsRefusal) -> String {
        let digits = token.utf8
        guard (64...400).contains(digits.count), digits.count.isMultiple(of: 2), token.allSatisfy(\.isHexDigit), token.allSatisfy(\.isASCII)
        else { throw APNsRefusal(.badDeviceToken, "a device token has 64 or more hexadecimal digits, an even number") }
        return token.lowercased()
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
