/// The choice of a time zone.
extension PageTemplate {
    static let zone = PageTemplate(
        "zone",
        """
        {{> head}}
        <div class="state">
        <h1>Time zone</h1>
        <p>Times are shown in UTC, with your local time in parentheses. It is now {{now}}.</p>
        </div>
        <section class="panel">
        <form class="fields" method="post" action="/oncall/zone">
        <input type="hidden" name="back" value="{{back}}">
        <label for="zone">Local time zone</label>
        <select id="zone" name="zone">
        <option value=""{{#isOwn}} selected{{/isOwn}}>as this browser says (by script)</option>
        {{#choices}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>
        {{/choices}}
        </select>
        <div class="actions"><button>Keep</button><a href="{{back}}">Back</a></div>
        </form>
        </section>
        {{> foot}}
        """
    )
}
