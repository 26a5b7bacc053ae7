import NIOCore

/// Before the decoder: keeps the beginning and the length of the request line, by which a fault is named.
final class RequestLine: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// At most 32 bytes.
    private(set) var beginning: [UInt8] = []
    /// Bytes of it that arrived.
    private(set) var length = 0
    private var isOpen = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOpen {
            for byte in unwrapInboundIn(data).readableBytesView {
                if byte == 0x0A, !beginning.isEmpty {
                    isOpen = false
                    break
                }
                length += 1
                if beginning.count < 32, byte != 0x0A, byte != 0x0D { beginning.append(byte) }
            }
        }
        context.fireChannelRead(data)
    }

    /// The next request begins.
    func restart() {
        beginning = []
        length = 0
        isOpen = true
    }
}
