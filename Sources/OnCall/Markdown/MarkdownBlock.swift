/// A block of a runbook. The subset is what `alerts/runbooks` uses: headings, paragraphs, lists, code, tables.
indirect enum MarkdownBlock: Hashable {
    case heading(level: Int, text: String)
    case paragraph(String)
    case code(String)
    case list(ordered: Bool, items: [[MarkdownBlock]])
    case table(header: [String], rows: [[String]])
}
