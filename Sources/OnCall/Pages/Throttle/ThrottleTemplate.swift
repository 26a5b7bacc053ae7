/// The form for throttling a provider, or an app of it.
extension PageTemplate {
    static let throttle = PageTemplate(
        "throttle",
        """
        {{> head}}
        <div class="state unsure">
        <h1>Throttle non-critical sends</h1>
        <p>{{waiting}} now. Critical deliveries are never throttled, and a few probes a minute always pass. Every instance \
        applies a throttle within 2 s.</p>
        </div>
        {{#hasCurrent}}
        <section class="panel">
        <h2>In force</h2>
        <ul class="plainList">
        {{#current}}<li>{{text}}<form method="post" action="/oncall/throttle/lift"><input type="hidden" name="provider" value="{{provider}}">\
        <input type="hidden" name="app" value="{{app}}"><input type="hidden" name="back" value="{{back}}">\
        <button class="plain">Lift</button></form></li>
        {{/current}}
        </ul>
        </section>
        {{/hasCurrent}}
        <section class="panel">
        <form class="fields" method="post" action="/oncall/throttle">
        <input type="hidden" name="back" value="{{back}}">
        <fieldset><legend>Provider</legend>
        {{#providers}}<label><input type="radio" name="provider" value="{{value}}"{{#isChosen}} checked{{/isChosen}}> {{label}}</label>
        {{/providers}}
        </fieldset>
        {{#hasApps}}
        <fieldset><legend>App</legend>
        {{#apps}}<label><input type="radio" name="app" value="{{value}}"{{#isChosen}} checked{{/isChosen}}> {{label}}</label>
        {{/apps}}
        </fieldset>
        {{/hasApps}}
        <fieldset><legend>Let through</legend>
        {{#rates}}<label><input type="radio" name="perMinute" value="{{value}}"{{#isChosen}} checked{{/isChosen}}> {{label}}</label>
        {{/rates}}
        </fieldset>
        <fieldset><legend>For how long</legend>
        {{#choices}}<label><input type="radio" name="minutes" value="{{value}}"{{#isChosen}} checked{{/isChosen}}> {{label}}</label>
        {{/choices}}
        </fieldset>
        <label for="reason">Why</label>
        <input id="reason" name="reason" required maxlength="500" autocomplete="off">
        <div class="actions"><button>Throttle</button><a href="{{back}}">Back</a></div>
        </form>
        </section>
        {{> foot}}
        """
    )
}
