import Providers
import PushContract
import Testing

@Suite struct PushTargetTests {
    @Test("no description of a target holds its token")
    func redacted() {
        let target = Samples.target(.fcm)
        var dumped = ""
        dump(target, to: &dumped)
        for text in ["\(target)", String(reflecting: target), dumped, String(describing: [target])] {
            #expect(!text.contains(Samples.fcmToken))
            #expect(text.contains(Samples.bundle))
        }
    }
}
