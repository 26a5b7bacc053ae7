/// The end of every page.
extension PageTemplate {
    static let foot = PageTemplate(
        "foot",
        """
        </main>
        {{#frame.person}}<footer class="foot"><a href="/oncall/zone">Time zone: {{frame.zone}}</a>{{#frame.source}} <span>{{.}}</span>{{/frame.source}}</footer>
        {{/frame.person}}
        </body>
        </html>

        """
    )
}
