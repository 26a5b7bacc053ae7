package import Attempts

/// What `pushwatch fsck` looks at of alerting.
package enum AlertingChecks {
    package static let all: [any FsckCheck] = [AlertsCheck()]
}
