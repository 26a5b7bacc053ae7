/// The end of every page.
enum FootTemplate {
    static let text = """
        </main>
        {{#frame.person}}<footer class="foot"><a href="/oncall/zone">Time zone: {{frame.zone}}</a></footer>
        {{/frame.person}}
        </body>
        </html>

        """
}
