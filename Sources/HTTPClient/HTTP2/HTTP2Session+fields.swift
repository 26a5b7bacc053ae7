import CNGHTTP2

/// Requests as nghttp2's header fields.
extension HTTP2Session {
    /// Why the request cannot be sent: HTTP/2 forbids it, or nghttp2 would send it although the peer must take it for a breach.
    static func fault(of request: OutboundRequest, limit: Int) -> String? {
        guard request.headers.bytes.count + request.url.utf8.count <= limit else {
            return "the request's header fields are over \(limit) bytes"
        }
        let isURLValid = request.url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        guard isURLValid else { return "the URL holds bytes that no URL may hold" }
        return request.headers.bytes.withUnsafeBufferPointer { bytes in
            // Nearly always none has a byte that a value may not have; what has one is looked at by itself below.
            let hasControls = hasControlBytes(UnsafeRawBufferPointer(bytes))
            var offset = 0
            for field in request.headers.fields {
                let name = Int(field.nameLength)
                let value = Int(field.valueLength)
                guard let start = bytes.baseAddress?.advanced(by: offset) else { return "a header field has no name" }
                guard nghttp2_check_header_name(start, name) != 0, start.pointee != UInt8(ascii: ":") else {
                    return "the name of a header field is invalid"
                }
                guard !hasControls || nghttp2_check_header_value(start + name, value) != 0 else {
                    return "the value of `\(String(decoding: bytes[offset..<offset + name], as: UTF8.self))` holds a byte that HTTP forbids"
                }
                offset += name + value
            }
            return nil
        }
    }

    /// Whether there is a byte below 0x20, or 0x7f. Eight at a time: the highest bit of each byte of `found` says so of it.
    private static func hasControlBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var found: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= bytes.count {
            let part = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let deletes = part ^ (0x7f &* ones)
            found |= (part &- 0x20 &* ones) & ~part
            found |= (deletes &- ones) & ~deletes
            offset &+= 8
        }
        return found & (0x80 &* ones) != 0 || bytes[offset...].contains { $0 < 0x20 || $0 == 0x7f }
    }

    /// The pseudo-header fields and the request's own. What lives as long as the session is not copied.
    static func withFields<Value>(
        of request: OutboundRequest,
        pathOffset: Int,
        authority: UnsafeBufferPointer<UInt8>,
        _ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Value
    ) -> Value {
        let fields = request.headers.fields
        var method = request.method
        var url = request.url
        return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count + 4) { list in
            method.withUTF8 { method in
                url.withUTF8 { url in
                    request.headers.bytes.withUnsafeBufferPointer { bytes in
                        let path = UnsafeBufferPointer(rebasing: url[pathOffset...])
                        list[0] = field(":method", method)
                        list[1] = field(":scheme", "https")
                        list[2] = field(":authority", authority, isKept: true)
                        list[3] = path.isEmpty ? field(":path", "/") : field(":path", path)
                        var offset = 0
                        for (index, one) in fields.enumerated() {
                            let start = UnsafeMutablePointer(mutating: bytes.baseAddress)?.advanced(by: offset)
                            list[index + 4] = nghttp2_nv(
                                name: start,
                                value: start?.advanced(by: Int(one.nameLength)),
                                namelen: Int(one.nameLength),
                                valuelen: Int(one.valueLength),
                                flags: one.isUnique ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0
                            )
                            offset += Int(one.nameLength) + Int(one.valueLength)
                        }
                        return body(UnsafeMutableBufferPointer(start: list.baseAddress, count: fields.count + 4))
                    }
                }
            }
        }
    }

    private static func field(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isKept: Bool = false) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start),
            value: UnsafeMutablePointer(mutating: value.baseAddress),
            namelen: name.utf8CodeUnitCount,
            valuelen: value.count,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (isKept ? NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue : 0))
        )
    }

    private static func field(_ name: StaticString, _ value: StaticString) -> nghttp2_nv {
        field(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), isKept: true)
    }
}
