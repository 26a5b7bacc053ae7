#if canImport(SwiftUI)
    public import PushContract
    public import SwiftUI

    /// The pager's card on the lock screen, as an old pager's display: sender and time, the message, and which of several it is.
    ///
    /// Type-checked against stand-ins (`scripts/check-views.sh`); not compiled on a Mac.
    public struct PagerCardView: View {
        private let card: PagerCard

        /// - Parameter utcOffset: Seconds east of UTC of the viewer's time zone (`TimeZone.current.secondsFromGMT()`).
        public init(_ state: PagerActivityAttributes.ContentState, utcOffset: Int) {
            card = PagerCard(state, utcOffset: utcOffset)
        }

        /// The card.
        public var body: some View {
            VStack(alignment: .leading, spacing: 6) {
                HStack {
                    Text(card.sender).fontWeight(.bold).lineLimit(1)
                    if let badge = card.badge { Text(badge).font(.caption2) }
                    Spacer()
                    Text(card.time)
                }
                Text(card.message).lineLimit(3)
                if let position = card.position { Text(position).font(.caption) }
            }
            .font(.system(.body, design: .monospaced))
            .foregroundColor(Color(red: 0.10, green: 0.16, blue: 0.08))
            .padding(12)
            .background(Color(red: 0.66, green: 0.75, blue: 0.42))
            .accessibilityElement(children: .combine)
        }
    }
#endif
