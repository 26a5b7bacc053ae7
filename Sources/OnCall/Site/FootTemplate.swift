/// The end of every page.
extension PageTemplate {
    static let foot = PageTemplate(
        "foot",
        """
        </main>
        {{#frame.person}}<footer class="foot"><a href="/oncall/zone">Time zone: {{frame.zone}}</a></footer>
        {{/frame.person}}
        </body>
        </html>

        """
    )
}
