// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of SwiftUI's interface that Sources/PushClient/Views uses, without behaviour: scripts/check-views.sh type-checks the views
// against it where SwiftUI does not exist. Declarations as in Apple's documentation.

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError("stand-in") } }

public struct EmptyView: View { public var body: Never { fatalError("stand-in") } }

extension Optional: View where Wrapped: View { public var body: Never { fatalError("stand-in") } }

public struct TupleView<Content>: View { public var body: Never { fatalError("stand-in") } }

@resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> { TupleView() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct Text: View {
    public init<S: StringProtocol>(_ content: S) {}
    public func font(_ font: Font?) -> Text { self }
    public func fontWeight(_ weight: Font.Weight?) -> Text { self }
    public var body: Never { fatalError("stand-in") }
}

public struct Spacer: View {
    public init(minLength: Double? = nil) {}
    public var body: Never { fatalError("stand-in") }
}

public struct HorizontalAlignment: Sendable { public static let leading = HorizontalAlignment() }
public struct VerticalAlignment: Sendable { public static let center = VerticalAlignment() }

public struct VStack<Content: View>: View {
    public init(alignment: HorizontalAlignment, spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("stand-in") }
}

public struct HStack<Content: View>: View {
    public init(alignment: VerticalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("stand-in") }
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
    public var body: Never { fatalError("stand-in") }
}

public struct Font: Hashable, Sendable {
    public enum TextStyle: Hashable, Sendable { case body }
    public enum Design: Hashable, Sendable { case monospaced }
    public struct Weight: Hashable, Sendable {
        public static let bold = Weight()
        public static let semibold = Weight()
    }
    public static let headline = Font()
    public static let caption = Font()
    public static let caption2 = Font()
    public static func system(_ style: TextStyle, design: Design? = nil) -> Font { Font() }
}

public struct Color: View, Hashable, Sendable {
    public nonisolated init(red: Double, green: Double, blue: Double, opacity: Double = 1) {}
    public var body: Never { fatalError("stand-in") }
}

public struct AccessibilityChildBehavior: Sendable { public static let combine = AccessibilityChildBehavior() }

extension View {
    public func font(_ font: Font?) -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
    public func foregroundColor(_ color: Color?) -> some View { self }
    public func padding(_ length: Double) -> some View { self }
    public func background<Background: View>(_ background: Background) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }
}
