import Foundation
import Testing

/// What must hold on every page for everybody: axe-core's rules of WCAG 2.1 A and AA, and a few of our own.
struct Accessibility: Sendable {
    /// axe-core as `scripts/bootstrap.sh test` lays it down; nil where it could not be had.
    static let axe: String? = try? String(contentsOfFile: ProjectDirectory.root + "/.build/axe/axe.min.js", encoding: .utf8)

    let window: BrowserWindow

    /// Records an issue for each finding.
    func check(_ page: String) async throws {
        for finding in try await axe() + narrow() + small() + unnamed() { Issue.record("\(page): \(finding)") }
    }

    private func axe() async throws -> [String] {
        guard let axe = Self.axe else {
            if ProcessInfo.processInfo.environment["CI"] != nil { return ["axe-core is missing: scripts/bootstrap.sh test"] }
            print("axe-core is missing, so its rules were NOT checked. `scripts/bootstrap.sh test` fetches it.")
            return []
        }
        // Its promise is awaited by the driver. Only what fails is carried over.
        let script =
            axe + """
                ;
                return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(result =>
                  result.violations.flatMap(rule => rule.nodes.map(node => rule.id + ': ' + rule.help + ' at ' + node.target.join(' ')
                    + ' ' + node.any.map(check => check.message).join('; '))));
                """
        return try await window.run(script) as? [String] ?? ["axe-core gave no result"]
    }

    /// Nothing is wider than the screen: who reads at night does not scroll sideways.
    private func narrow() async throws -> [String] {
        let script = """
            const width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= width) return [];
            const wide = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, pre, svg, .skip')
              && e.getBoundingClientRect().right > width + 1);
            return ['wider than the screen: ' + wide.slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join(' | ')];
            """
        return try await window.run(script) as? [String] ?? []
    }

    /// What is pressed measures at least 24 by 24 (WCAG 2.2, 2.5.8); links within a sentence are exempt.
    private func small() async throws -> [String] {
        let script = """
            return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')].filter(e => {
              const box = e.getBoundingClientRect();
              if (box.width === 0 || e.classList.contains('skip')) return false;
              if (e.closest('p, li, .runbook, dd') && e.tagName === 'A') return false;
              const target = e.closest('label')?.getBoundingClientRect() ?? box;
              return target.width < 24 || target.height < 24;
            }).map(e => 'too small to press: ' + e.outerHTML.slice(0, 160));
            """
        return try await window.run(script) as? [String] ?? []
    }

    /// A chart says in words what it shows, and the page has its landmarks and one first heading.
    private func unnamed() async throws -> [String] {
        let script = """
            const found = [];
            for (const chart of [...document.querySelectorAll('main svg')].filter(e => !e.parentElement.closest('svg'))) {
              const words = chart.getAttribute('aria-label')
                || [...chart.querySelectorAll('title, desc')].map(e => e.textContent).join(' ');
              if (chart.getAttribute('aria-hidden') !== 'true' && words.length < 20) found.push('a chart without words: ' + words);
            }
            for (const tag of ['header', 'main', 'h1'])
              if (document.querySelectorAll(tag).length !== 1) found.push('not exactly one <' + tag + '>');
            if (!document.documentElement.lang) found.push('no language');
            return found;
            """
        return try await window.run(script) as? [String] ?? []
    }

    /// Presses Tab from the top of the page to its end: the order is the document's, and everything that can be pressed is reached.
    func checkKeyboard(_ page: String) async throws {
        // Where the reader begins: what had the focus by itself, as the field on the sign-in page, is left.
        try await window.run("const b = document.body; b.tabIndex = -1; b.focus(); b.removeAttribute('tabindex'); window.scrollTo(0, 0)")
        let all = """
            const wanted = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')]
              .filter(e => !(e.closest('details:not([open])') && e.tagName !== 'SUMMARY'))
              .filter(e => e.type !== 'radio' || e.checked);
            """
        let found = try await window.run(all + "return wanted.length") as? Int
        let count = try #require(found)
        let place = all + "return wanted.indexOf(document.activeElement)"
        var order: [Int] = []
        for _ in 0..<count {
            try await window.press("\u{E004}")
            order.append(try await window.run(place) as? Int ?? -1)
        }
        #expect(order == Array(0..<count), "\(page): Tab goes through \(order) of \(count)")
        let outline = "return getComputedStyle(document.activeElement).outlineStyle"
        let style = try await window.run(outline) as? String
        #expect(style != "none", "\(page): what has the focus does not show it")
    }
}
