/// The page of deliveries.
enum NotificationsTemplate {
    static let text = """
        {{> head}}
        <div class="state {{#hasOpen}}unsure{{/hasOpen}}">
        <h1>{{headline}}</h1>
        </div>
        {{#hasOpen}}
        <section class="panel">
        <h2>Not delivered</h2>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Receiver</th><th scope="col">Alert</th><th scope="col">State</th><th scope="col">Next try</th></tr></thead>
        <tbody>
        {{#open}}<tr><td>{{receiver}}</td><td class="line"><a href="{{path}}">{{alert}}</a>{{#detail}}<span class="detail">{{.}}</span>{{/detail}}</td>\
        <td data-name="State">{{state}}</td><td data-name="Next try">{{next}}</td></tr>
        {{/open}}
        </tbody></table></div>
        </section>
        {{/hasOpen}}
        <section class="panel">
        <h2>Latest tries</h2>
        {{#hasTries}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">At</th><th scope="col">Receiver</th><th scope="col">Alert</th><th scope="col">Result</th></tr></thead>
        <tbody>
        {{#tries}}<tr><td><time datetime="{{whenAttribute}}">{{when}}</time></td><td>{{receiver}}</td><td class="line"><a href="{{path}}">{{alert}}</a></td>\
        <td class="line"><span class="{{#isBad}}warn{{/isBad}}">{{result}}</span>{{#detail}}<span class="detail">{{.}}</span>{{/detail}}</td></tr>
        {{/tries}}
        </tbody></table></div>
        {{/hasTries}}
        {{^hasTries}}<p class="soft">Nothing was delivered yet. <code>pushwatch alerts test</code> sends a marked alert through every receiver.</p>{{/hasTries}}
        </section>
        {{> foot}}
        """
}
