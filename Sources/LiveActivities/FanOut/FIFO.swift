/// First in, first out, without moving what waits.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            head += 1
            if head == elements.count || head > 4096 {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}
