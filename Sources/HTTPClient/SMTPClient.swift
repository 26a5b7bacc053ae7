import CCurl
import Glibc

/// Hands mails to SMTP servers, each over a connection and on a thread of its own: mails are rare, and a server may take seconds.
///
/// Thread-safe. A task that is cancelled meanwhile waits for the end all the same, at most `OutboundMail.timeout`.
package enum SMTPClient {
    /// The server's verdict on the mail. Throws when there is none: not reached, no TLS where it is required, or lost on the way.
    package static func send(_ mail: OutboundMail) async throws(OutboundFailure) -> MailReply {
        precondition(CurlLibrary.isReady, "libcurl could not be initialised")
        return try await withCheckedContinuation { waiter in Submission(mail, waiter).start() }.get()
    }

    /// A mail on its way, and the task that waits for it.
    private final class Submission: Sendable {
        typealias Outcome = Result<MailReply, OutboundFailure>

        private let mail: OutboundMail
        private let waiter: CheckedContinuation<Outcome, Never>

        init(_ mail: OutboundMail, _ waiter: CheckedContinuation<Outcome, Never>) {
            self.mail = mail
            self.waiter = waiter
        }

        func start() {
            var thread = pthread_t()
            let context = Unmanaged.passRetained(self).toOpaque()
            let status = pthread_create(
                &thread,
                nil,
                { context in
                    Unmanaged<Submission>.fromOpaque(context!).takeRetainedValue().run()
                    return nil
                },
                context
            )
            guard status == 0 else {
                Unmanaged<Submission>.fromOpaque(context).release()
                return waiter.resume(returning: .failure(OutboundFailure(.notWritten, .other, detail: "no thread: \(status)")))
            }
            pthread_detach(thread)
        }

        private func run() {
            guard let transfer = SMTPTransfer(mail) else {
                return waiter.resume(returning: .failure(OutboundFailure(.notWritten, .other, detail: "libcurl gave no handle")))
            }
            waiter.resume(returning: transfer.perform())
        }
    }
}
