package import Attempts

/// The checks of alerting that `pushwatch fsck` runs.
package enum AlertingChecks {
    package static let all: [any FsckCheck] = [AlertsCheck()]
}
