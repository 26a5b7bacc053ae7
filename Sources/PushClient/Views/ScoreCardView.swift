#if canImport(SwiftUI)
    public import PushContract
    public import SwiftUI

    /// The card of a followed match on the lock screen: title, scores, who plays, the last deliveries, and what just happened.
    ///
    /// Type-checked against stand-ins (`scripts/check-views.sh`); not compiled on a Mac.
    public struct ScoreCardView: View {
        private let card: ScoreCard
        private let isStale: Bool

        /// - Parameter isStale: `context.isStale`: no push has changed the card for half an hour.
        public init(_ state: UnifiedDisplayState, isStale: Bool = false) {
            card = ScoreCard(state)
            self.isStale = isStale
        }

        /// The card.
        public var body: some View {
            VStack(alignment: .leading, spacing: 4) {
                HStack {
                    Text(card.title).font(.headline).lineLimit(1)
                    Spacer()
                    if let event = card.event { Text(event).font(.caption2).lineLimit(1) }
                }
                ForEach(Array(card.innings.enumerated()), id: \.offset) { innings in
                    Text(innings.element).fontWeight(.semibold)
                }
                if let headline = card.headline { Text(headline).fontWeight(.bold).lineLimit(2) }
                Text(card.status).lineLimit(1)
                ForEach(Array(card.batters.enumerated()), id: \.offset) { batter in
                    Text(batter.element).font(.caption)
                }
                if let bowler = card.bowler { Text(bowler).font(.caption) }
                HStack {
                    if let recent = card.recent { Text(recent).font(.caption) }
                    Spacer()
                    if let rates = card.rates { Text(rates).font(.caption) }
                }
            }
            .padding(12)
            .opacity(isStale ? 0.5 : 1)
            .accessibilityElement(children: .combine)
        }
    }
#endif
