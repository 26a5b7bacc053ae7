import HTTPServer
import HTTPTypes
import Testing

@Suite("A field's value")
struct FieldValueTests {
    @Test("is what the subscript returns: of a field that is absent, given once, and given several times")
    func value() {
        var fields: HTTPFields = [.contentType: "application/json", .accept: "text/html"]
        fields.append(HTTPField(name: .accept, value: "application/json"))
        for name in [HTTPField.Name.contentLength, .contentType, .accept] { #expect(fields.value(of: name) == fields[name]) }
        #expect(fields.value(of: .contentLength) == nil && fields.value(of: .contentType) == "application/json")
        #expect(fields.value(of: .accept) == "text/html, application/json")
    }
}
