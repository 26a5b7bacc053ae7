/// The end of every page.
enum FootTemplate {
    static let text = """
        </main>
        </body>
        </html>

        """
}
