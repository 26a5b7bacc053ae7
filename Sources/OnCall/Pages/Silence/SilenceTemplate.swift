/// Before a silence is made.
extension PageTemplate {
    static let silence = PageTemplate(
        "silence",
        """
        {{> head}}
        <div class="state unsure">
        <p class="over">Silence</p>
        <h1>{{name}}</h1>
        <p>Alerts with {{matchers}} are still recorded and shown, but no receiver is notified of them.</p>
        </div>
        <section class="panel">
        <h2>It would mute now</h2>
        {{#mutesSome}}<ul class="plainList">
        {{#muted}}<li><a href="{{path}}">{{name}}</a></li>
        {{/muted}}
        </ul>{{/mutesSome}}
        {{^mutesSome}}<p class="soft">Nothing that fires now.</p>{{/mutesSome}}
        <form class="fields" method="post" action="{{path}}">
        <fieldset><legend>For how long</legend>
        {{#choices}}<label><input type="radio" name="minutes" value="{{value}}"{{#isChosen}} checked{{/isChosen}}> {{label}}</label>
        {{/choices}}
        </fieldset>
        <label for="reason">Why</label>
        <input id="reason" name="reason" required maxlength="500" autocomplete="off">
        <div class="actions"><button>Silence</button><a href="{{back}}">Back</a></div>
        </form>
        </section>
        {{> foot}}
        """
    )
}
