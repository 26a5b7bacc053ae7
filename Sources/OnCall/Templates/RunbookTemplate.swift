/// A runbook by itself.
enum RunbookTemplate {
    static let text = """
        {{> head}}
        <p class="back"><a href="/">Now</a></p>
        <section class="panel runbook">
        {{{html}}}
        </section>
        {{> foot}}
        """
}
