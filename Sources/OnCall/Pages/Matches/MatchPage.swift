import Foundation
import PushContract

/// A match's page as its template sees it; the same for any other subject of Live Activities.
struct MatchPage {
    struct Innings {
        let team: String
        let score: String
    }

    struct Count {
        let name: String
        let count: String
        let isBad: Bool
    }

    struct LaggardRow {
        let uid: String
        let path: String
        let detail: String
        let problem: String
        let since: String
    }

    let frame: PageFrame
    let over: String
    let heading: String
    let status: String
    let innings: [Innings]
    let hasInnings: Bool
    let facts: [Count]
    let reached: String
    let ages: String
    let isBehind: Bool
    let statusCounts: [Count]
    let hasStatusCounts: Bool
    let starts: String
    let startFailures: String?
    let laggards: [LaggardRow]
    let hasLaggards: Bool
    let state: String

    init(_ data: SubjectData, reader: String, now: Timestamp) {
        let shown = DisplayedScore(json: data.state)
        let summary = data.summary
        heading = summary.title ?? summary.subject
        frame = PageFrame(title: "\(heading) · Pushwatch", refreshSeconds: summary.isOver ? nil : 30, person: reader, now: now)
        over = [summary.title == nil ? nil : summary.subject, shown.event, summary.phase].compactMap { $0 }.joined(separator: " · ")
        status = summary.status ?? ""
        innings = shown.innings.map { Innings(team: $0.team, score: $0.text) }
        hasInnings = !innings.isEmpty
        facts = Self.facts(data, now: now)
        let fanOut = data.fanOut
        isBehind = fanOut.waiting > 0 && !summary.isOver
        reached = Self.reached(fanOut)
        ages = Self.ages(fanOut)
        statusCounts = data.statusCounts.map(Self.count)
        hasStatusCounts = !statusCounts.isEmpty
        starts = Self.words(data.starts)
        startFailures = Self.failures(data.starts)
        laggards = data.laggards.map { laggard in
            LaggardRow(
                uid: laggard.uid,
                path: PersonPath.path(uid: laggard.uid),
                detail: "device \(laggard.deviceId), \(laggard.status)",
                problem: laggard.problem,
                since: DurationText.ago(laggard.since, now: now)
            )
        }
        hasLaggards = !laggards.isEmpty
        state = DisplayedScore.indented(data.state)
    }

    private static func facts(_ data: SubjectData, now: Timestamp) -> [Count] {
        var facts = [Count(name: "State", value: "no. \(data.seq), \(DurationText.ago(data.fanOut.builtAt, now: now))")]
        facts.append(Count(name: "Followers", value: NumberText.count(data.summary.followers)))
        if let feed = data.feed {
            let silence = data.summary.feedSilentSince.map { ", has confirmed nothing for \(DurationText.span(now - $0))" }
            facts.append(Count(name: "Source", value: feed + (silence ?? ""), isBad: silence != nil))
        }
        let isLeased = data.leaseUntil.map { $0 > now } ?? false
        facts.append(
            Count(name: "Sent by", value: isLeased ? data.owner ?? "no instance" : "no instance", isBad: !isLeased && !data.summary.isOver)
        )
        return facts
    }

    private static func reached(_ fanOut: SubjectData.FanOut) -> String {
        let all = fanOut.reached + fanOut.waiting
        guard all > 0 else { return "No activity is active, so no update is due." }
        let have = "\(NumberText.count(fanOut.reached)) of \(NumberText.count(all)) active ones have the newest state"
        return fanOut.waiting == 0 ? have + "." : have + "; \(NumberText.count(fanOut.waiting)) wait for it."
    }

    private static func ages(_ fanOut: SubjectData.FanOut) -> String {
        guard let median = fanOut.median, let slowest99 = fanOut.slowest99, let slowest = fanOut.slowest else { return "" }
        return
            "From the state to its push: half within \(seconds(median)), 99 % within \(seconds(slowest99)), the last after \(seconds(slowest))."
    }

    private static func words(_ starts: SubjectData.Starts) -> String {
        guard starts.claimed > 0 else { return "No activity was started in the last hour." }
        let token = starts.medianToToken.map { ", half of them within \(seconds($0))" } ?? ""
        return
            "\(NumberText.count(starts.claimed)) started in the last hour; \(NumberText.count(starts.adopted)) gave their update token\(token)."
    }

    private static func failures(_ starts: SubjectData.Starts) -> String? {
        let failed = [(starts.rejected, "refused by the provider"), (starts.unknown, "without a known outcome")].filter { $0.0 > 0 }
        return failed.isEmpty ? nil : failed.map { "\(NumberText.count($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    private static func count(_ statusCount: SubjectData.StatusCount) -> Count {
        let reason = [statusCount.endReason, statusCount.endCause].compactMap { $0?.replacing("_", with: " ") }.joined(separator: ", ")
        return Count(
            name: reason.isEmpty ? statusCount.status : "\(statusCount.status): \(reason)",
            value: NumberText.count(statusCount.count),
            isBad: statusCount.endReason == "token_invalid"
        )
    }

    private static func seconds(_ value: Double) -> String {
        value < 10 ? "\((max(0, value) * 10).rounded() / 10) s" : DurationText.span(.seconds(Int64(value.rounded())))
    }
}

extension MatchPage.Count {
    init(name: String, value: String, isBad: Bool = false) {
        self.init(name: name, count: value, isBad: isBad)
    }
}
