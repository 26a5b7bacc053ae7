import HTTPTypes
import Testing

@testable import HTTPServer

@Suite("Addresses of a proxy")
struct AddressRangeTests {
    @Test(
        "an address is in its network and in no other",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false), ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("2001:db8::/32", "2001:db8:1::9", true), ("2001:db8::/32", "2001:db9::1", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false), ("::1", "::1", true),
            ("10.0.0.0/8", "nonsense", false),
        ]
    )
    func contains(range: String, address: String, isIn: Bool) throws {
        let network = try #require(AddressRange(range))
        #expect(network.contains(address) == isIn)
    }

    @Test(
        "what is no network is refused",
        arguments: ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "example.org", "10.0.0.0/", "10.0.0.0/8/8"]
    )
    func refused(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
