/// Sends mails to SMTP servers, each on its own connection and thread: mails are rare, and a server may take seconds.
///
/// Thread-safe. Cancelling the task does not abort the transfer; it ends after at most `OutboundMail.timeout`.
package enum SMTPClient {
    /// Sends a mail and returns the server's last reply.
    ///
    /// - Throws: `OutboundFailure` if there is no reply: the server is not reachable, offers no TLS although it is required, or the
    ///   connection was lost.
    package static func send(_ mail: OutboundMail) async throws(OutboundFailure) -> MailReply {
        precondition(CurlLibrary.isReady, "libcurl could not be initialised")
        return try await withCheckedContinuation { waiter in Submission(mail, waiter).start() }.get()
    }

    /// A mail in transfer, and the task that waits for it.
    private final class Submission: Sendable {
        typealias Outcome = Result<MailReply, OutboundFailure>

        private let mail: OutboundMail
        private let waiter: CheckedContinuation<Outcome, Never>

        init(_ mail: OutboundMail, _ waiter: CheckedContinuation<Outcome, Never>) {
            self.mail = mail
            self.waiter = waiter
        }

        func start() {
            if !startThread({ self.run() }) {
                waiter.resume(returning: .failure(OutboundFailure(.notWritten, .other, detail: "no thread for the mail")))
            }
        }

        private func run() {
            guard let transfer = SMTPTransfer(mail) else {
                return waiter.resume(returning: .failure(OutboundFailure(.notWritten, .other, detail: "libcurl gave no handle")))
            }
            waiter.resume(returning: transfer.perform())
        }
    }
}
