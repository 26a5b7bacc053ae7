/// A runbook by itself.
extension PageTemplate {
    static let runbook = PageTemplate(
        "runbook",
        """
        {{> head}}
        <p class="back"><a href="/">Now</a></p>
        <section class="panel runbook">
        {{{html}}}
        </section>
        {{> foot}}
        """
    )
}
