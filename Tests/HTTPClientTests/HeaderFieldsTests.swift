import Testing

@testable import HTTPClient

@Suite struct HeaderFieldsTests {
    @Test("a field that is set replaces those with its name, and no others")
    func set() {
        var fields: HeaderFields = [("authorization", "bearer old"), ("a", "1"), ("authorization", "bearer older"), ("b", "2")]
        fields.append("id", "7", isUnique: true)
        fields.set("authorization", "bearer new")
        #expect(fields.map { "\($0.name): \($0.value)" } == ["a: 1", "b: 2", "id: 7", "authorization: bearer new"])
        #expect(fields.fields.map(\.isUnique) == [false, false, true, false], "an id is still kept out of HPACK's table")
        fields.set("c", "3")
        #expect(fields.map(\.name) == ["a", "b", "id", "authorization", "c"])
    }
}
