import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("Mail, through a real SMTP server", .enabled(if: RealSMTPServer.isInstalled, RealSMTPServer.absence))
struct EmailTests {
    private func mailbox(_ server: String, to: String = "on-call@example.org") throws -> Mailbox {
        Mailbox(
            server: server,
            from: try #require(MailAddress("Pushwatch <alerts@example.org>")),
            to: [try #require(MailAddress(to))]
        )
    }

    private func mail(_ mailbox: Mailbox, _ message: AlertNotification = Messages.firing) throws -> OutboundMail {
        guard case .mail(let mail) = EmailReceiver(name: "mail", mailbox: mailbox).action(for: message, now: Messages.now) else {
            throw CancellationError()
        }
        return mail
    }

    @Test("over STARTTLS, with a password; what arrives is what was sent, of any size")
    func starttls() async throws {
        let server = try RealSMTPServer(.starttls)
        var box = try mailbox("smtp://localhost:\(server.port)")
        (box.caFile, box.user, box.password) = (server.certificate, "watch", "s3cret")
        for message in Messages.all + [Messages.extreme] {
            let mail = try mail(box, message)
            #expect(try await SMTPClient.send(mail).code == 250)
            let got = try #require(try server.mails().last)
            #expect(got.tls && got.user == "watch" && got.sender == "alerts@example.org" && got.recipients == ["on-call@example.org"])
            #expect(mail.headers.allSatisfy { got.data.contains("\($0.name): \($0.value)\r\n") })
            #expect(got.text == mail.text && got.html == mail.html)
            #expect(got.types == ["multipart/alternative", "text/plain; charset=utf-8", "text/html; charset=utf-8"])
            #expect(got.data.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 998 })
        }
    }

    @Test("over implicit TLS")
    func smtps() async throws {
        let server = try RealSMTPServer(.smtps)
        var box = try mailbox("smtps://localhost:\(server.port)")
        box.caFile = server.certificate
        #expect(try await SMTPClient.send(try mail(box)).code == 250)
        #expect(try server.mails().map(\.tls) == [true])
    }

    @Test("a server without STARTTLS gets nothing, unless TLS is switched off")
    func noSTARTTLS() async throws {
        let server = try RealSMTPServer(.plain)
        var box = try mailbox("smtp://localhost:\(server.port)")
        let failure = await #expect(throws: OutboundFailure.self) { try await SMTPClient.send(try mail(box)) }
        #expect(failure?.kind == .tls)
        #expect(try server.mails().isEmpty)
        box.encryption = .off
        #expect(try await SMTPClient.send(try mail(box)).code == 250)
        #expect(try server.mails().map(\.tls) == [false])
    }

    @Test("a server whose certificate is not trusted gets nothing")
    func untrusted() async throws {
        let server = try RealSMTPServer(.starttls)
        let failure = await #expect(throws: OutboundFailure.self) {
            try await SMTPClient.send(try mail(try mailbox("smtp://localhost:\(server.port)")))
        }
        #expect(failure?.kind == .tls)
    }

    @Test("refused for good, refused for now, a wrong password, and nobody there")
    func refusals() async throws {
        let receiver = EmailReceiver(name: "mail", mailbox: try mailbox("smtp://localhost"))
        let plain = try RealSMTPServer(.plain)
        for (to, code, verdict) in [("gone@example.org", 550, ResponseVerdict.deadLettered), ("busy@example.org", 451, .retry(after: nil))]
        {
            var box = try mailbox("smtp://localhost:\(plain.port)", to: to)
            box.encryption = .off
            let reply = try await SMTPClient.send(try mail(box))
            #expect(reply.code == code)
            #expect(receiver.verdict(on: reply) == verdict)
        }
        let strict = try RealSMTPServer(.starttls)
        var box = try mailbox("smtp://localhost:\(strict.port)")
        (box.caFile, box.user, box.password) = (strict.certificate, "watch", "wrong")
        let reply = try await SMTPClient.send(try mail(box))
        #expect(reply.code == 535 && receiver.verdict(on: reply) == .deadLettered)
        let failure = await #expect(throws: OutboundFailure.self) { try await SMTPClient.send(try mail(try mailbox("smtp://127.0.0.1:1"))) }
        #expect(failure?.kind == .connect && failure?.phase == .notWritten)
    }

    @Test("an address that the server does not accept keeps the mail from nobody else, and is reported")
    func refusedRecipient() async throws {
        let server = try RealSMTPServer(.plain)
        var box = try mailbox("smtp://localhost:\(server.port)")
        box.encryption = .off
        box.to.insert(try #require(MailAddress("gone@example.org")), at: 0)
        let reply = try await SMTPClient.send(try mail(box))
        #expect(reply.code == 250 && reply.refusals == ["gone@example.org: 550 5.1.1 no such mailbox"])
        #expect(try server.mails().map(\.recipients) == [["on-call@example.org"]])
    }

    @Test("the notifier sends an alert as one thread, and records each mail")
    func thread() async throws {
        try await withDatabase { pool in
            let server = try RealSMTPServer(.plain)
            var box = try mailbox("smtp://localhost:\(server.port)")
            box.encryption = .off
            let receivers = [ReceiverConfiguration(EmailReceiver(name: "mail", mailbox: box))]
            let clock = ManualClock()
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { _ in throw CancellationError() }
            try await notifier.deliverDue()
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            try await expireLeases("evaluator", on: pool)
            clock.set((Traffic.start + 60).timestamp + .seconds(60))
            try await RuleEvaluator.forTest(pool, clock: clock).evaluate(minutes: 60)
            try await notifier.deliverDue()
            let mails = try server.mails().map(\.data)
            #expect(mails.count == 2)
            for name in ["Subject", "In-Reply-To", "References", "List-Id"] {
                #expect(header(name, mails[0]) != nil && header(name, mails[0]) == header(name, mails[1]))
            }
            #expect(header("Message-ID", mails[0]) != header("Message-ID", mails[1]))
            #expect(try await NotificationHistory.notificationAttempts(of: id, on: pool).map(\.status) == [250, 250])
        }
    }

    private func header(_ name: String, _ mail: String) -> String? {
        mail.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map(String.init)
    }
}

@Suite("The parts of a mail")
struct MailPartTests {
    @Test("addresses, with and without a name", arguments: ["a@b.c", "On call <a@b.c>", "  a@b.c"])
    func addresses(_ text: String) { #expect(MailAddress(text)?.address == "a@b.c") }

    @Test("what is not one address is refused", arguments: ["", "a", "a@b@c", "@b", "a@b, c@d", "a@b\r\nBcc: x@y", "<a@b> c"])
    func refused(_ text: String) { #expect(MailAddress(text) == nil) }
}
