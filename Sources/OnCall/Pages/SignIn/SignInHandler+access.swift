package import Access
import Hummingbird
package import PushContract

extension SignInHandler {
    /// Sessions as `Access` keeps them.
    package init(_ signIn: SignIn, cookie: SessionCookie, now: @escaping @Sendable () -> Timestamp = Timestamp.now) {
        self.init(
            openWithKey: { try await signIn.withKey($0, now: now()) },
            openWithTicket: { try await signIn.withTicket($0, now: now()) },
            close: { _ in cookie.clearCookie() }
        )
    }
}
