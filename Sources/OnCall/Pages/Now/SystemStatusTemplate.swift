/// The system status on the page *Now*.
extension PageTemplate {
    static let systemStatus = PageTemplate(
        "systemStatus",
        """
        {{#systemStatus}}
        <section class="panel">
        <h2>Rule status</h2>
        {{#hasRules}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Rule</th><th scope="col">Now</th></tr></thead>
        <tbody>
        {{#rules}}<tr><td>{{name}}{{#detail}}<span class="detail">{{.}}</span>{{/detail}}</td>\
        <td><span class="whole{{#isFiring}} warn{{/isFiring}}">{{text}}</span>{{#meter}} <meter min="0" max="100" low="50" high="80" optimum="0" \
        value="{{.}}">{{meterText}}</meter>{{/meter}}</td></tr>
        {{/rules}}
        </tbody></table></div>
        {{/hasRules}}
        {{^hasRules}}<p class="soft">No rule is in force.</p>{{/hasRules}}
        </section>
        <section class="panel">
        <h2>Credentials</h2>
        {{#hasCredentials}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Credential</th><th scope="col">State</th></tr></thead>
        <tbody>
        {{#credentials}}<tr><td>{{name}}</td><td><span class="{{#isBad}}warn{{/isBad}}">{{state}}</span>\
        {{#detail}}<span class="detail">{{.}}</span>{{/detail}}</td></tr>
        {{/credentials}}
        </tbody></table></div>
        {{/hasCredentials}}
        {{^hasCredentials}}<p class="soft">This instance has no provider credentials.</p>{{/hasCredentials}}
        {{#mayCheck}}<form method="post" action="/oncall/credentials/check"><button class="plain">Try them now</button></form>{{/mayCheck}}
        {{#hasInstances}}<h3>Instances</h3>
        {{#differences}}<p><span class="warn">{{.}}</span></p>
        {{/differences}}<ul class="plainList">{{#instances}}<li>{{.}}</li>{{/instances}}</ul>{{/hasInstances}}
        <h3>Writers</h3>
        <p><span class="{{#isWriterMissing}}warn{{/isWriterMissing}}">{{writers}}</span></p>
        {{#hasSilences}}<h3>Silences</h3>
        <ul class="plainList">{{#silences}}<li>{{text}}{{#endPath}}
        <form method="post" action="{{.}}"><input type="hidden" name="back" value="/"><button class="plain">End silence</button></form>\
        {{/endPath}}</li>
        {{/silences}}</ul>{{/hasSilences}}
        </section>
        {{/systemStatus}}

        """
    )
}
