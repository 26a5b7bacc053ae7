import PushClient
import Testing

@Suite
struct PushPermissionTests {
    @Test("authorized and provisional permission allow registration; nothing else does")
    func registration() {
        #expect(PushPermission.allCases.filter(\.allowsRegistration) == [.provisional, .authorized])
    }
}
