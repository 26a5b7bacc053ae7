/// The outcome of a check of all credentials.
extension PageTemplate {
    static let credentials = PageTemplate(
        "credentials",
        """
        {{> head}}
        <p class="back"><a href="{{back}}">Back</a></p>
        <div class="state{{#isBad}} burning{{/isBad}}">
        <h1>{{headline}}</h1>
        <p>Each credential was checked just now with a push to a token that does not exist. No device received anything.</p>
        </div>
        <section class="panel">
        <h2>What the providers said</h2>
        {{#hasChecks}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Credential</th><th scope="col">Answer</th></tr></thead>
        <tbody>
        {{#checks}}<tr><td>{{name}}<span class="detail">{{environment}}</span></td>\
        <td><span class="{{#isBad}}warn{{/isBad}}">{{state}}</span><span class="detail">{{detail}}</span></td></tr>
        {{/checks}}
        </tbody></table></div>
        {{/hasChecks}}
        {{^hasChecks}}<p class="soft">This instance has no provider credentials.</p>{{/hasChecks}}
        </section>
        {{> foot}}
        """
    )
}
