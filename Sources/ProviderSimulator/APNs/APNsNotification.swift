/// A request that passed every check on its form.
struct APNsNotification: Sendable, Hashable {
    /// Lower-case hexadecimal.
    var token: String
    var topic: String
    var bundle: String
    var pushType: APNsPushType
    var provider: APNsProvider
}

/// Who sends: what a valid provider token proves.
struct APNsProvider: Sendable, Hashable {
    let keyId: String
    let teamId: String
    /// When the provider token was made, in seconds since 1970.
    let issuedAt: Int64
    /// The bundle identifiers it may push to; nil: any.
    let bundles: Set<String>?
}
