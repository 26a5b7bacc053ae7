/// A level that was accepted.
extension PageTemplate {
    static let acceptance = PageTemplate(
        "acceptance",
        """
        <div class="accepted"><p>{{text}}: {{reason}}</p>
        {{#undoPath}}<form method="post" action="{{.}}"><input type="hidden" name="back" value="{{back}}"><button class="plain">Undo</button></form>\
        {{/undoPath}}</div>

        """
    )
}
