/// The page of rules.
extension PageTemplate {
    static let rules = PageTemplate(
        "rules",
        with: [.acceptance],
        """
        {{> head}}
        <div class="state{{#isFiring}} burning{{/isFiring}}">
        <h1>{{headline}}</h1>
        <p>How near each is to firing, over its own window and in its worst group; and what they did in {{days}} days.</p>
        </div>
        {{#faults}}<p class="notice" role="status">{{.}}</p>
        {{/faults}}
        <section class="panel">
        <h2>Rules</h2>
        <p class="legend"><span class="key k-would"></span> what the rule as it is now would have raised in {{days}} days \
        <span class="key k-was"></span> what was raised <span class="key k-noise"></span> and marked as noise</p>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Rule</th><th scope="col">Now</th><th scope="col">State</th><th scope="col">Evaluated</th>\
        <th scope="col" class="n">Alerts</th></tr></thead>
        <tbody>
        {{#rules}}<tr><td>{{#runbook}}<a href="{{.}}">{{/runbook}}{{name}}{{#runbook}}</a>{{/runbook}}\
        <span class="detail">{{severity}}: {{meaning}}</span>{{{strip}}}<span class="detail">{{backtest}}</span></td>\
        <td class="line" data-name="Now">{{ruleStatus}}{{#meter}} <meter min="0" max="100" low="50" high="80" optimum="0" value="{{.}}">{{meterText}}</meter>{{/meter}}\
        {{#detail}}<span class="detail">{{.}}</span>{{/detail}}</td>\
        <td data-name="State"><span class="whole{{#isFiring}} warn{{/isFiring}}">{{state}}</span>\
        {{#quietReason}}<span class="detail">{{.}}</span>{{/quietReason}}</td>\
        <td data-name="Evaluated">{{evaluated}}</td>\
        <td class="n" data-name="Alerts">{{fired}}{{#marks}}<span class="detail">{{.}}</span>{{/marks}}</td></tr>
        {{/rules}}
        </tbody></table></div>
        </section>
        {{#hasAcceptances}}
        <section class="panel">
        <h2>Accepted as normal</h2>
        {{#acceptances}}<div><p><a href="{{path}}">{{name}}</a></p>{{> acceptance}}</div>
        {{/acceptances}}
        </section>
        {{/hasAcceptances}}
        {{#hasPast}}
        <section class="panel">
        <h2>Alerts of {{days}} days</h2>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Fired</th><th scope="col">Alert</th><th scope="col" class="n">Lasted</th><th scope="col">Marked</th></tr></thead>
        <tbody>
        {{#past}}<tr><td><time datetime="{{whenAttribute}}">{{when}}</time></td><td class="line"><a href="{{path}}">{{name}}</a></td><td class="n" data-name="Lasted">{{lasted}}</td><td>{{verdict}}</td></tr>
        {{/past}}
        </tbody></table></div>
        </section>
        {{/hasPast}}
        {{> foot}}
        """
    )
}
