/// A person's page.
extension PageTemplate {
    static let person = PageTemplate(
        "person",
        """
        {{> head}}
        <div class="state">
        <p class="over">Person</p>
        <h1>{{uid}}</h1>
        {{#sentences}}<p>{{.}}</p>
        {{/sentences}}
        </div>
        <section class="panel">
        <h2>Devices</h2>
        {{#hasDevices}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Device</th><th scope="col">App</th><th scope="col">Token</th><th scope="col">Seen</th></tr></thead>
        <tbody>
        {{#devices}}<tr><td>{{name}}<span class="detail">{{detail}}</span></td><td data-name="App">{{app}}</td>\
        <td data-name="Token"><span class="{{#isBad}}warn{{/isBad}}">{{state}}</span>{{#cause}}<span class="detail">{{.}}</span>{{/cause}}\
        <span class="detail">{{hash}}…</span></td><td data-name="Seen">{{seen}}</td></tr>
        {{/devices}}
        </tbody></table></div>
        {{/hasDevices}}
        {{^hasDevices}}<p class="soft">None.</p>{{/hasDevices}}
        </section>
        {{#hasWaiting}}
        <section class="panel">
        <h2>Not over yet</h2>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Send</th><th scope="col">State</th><th scope="col">Next try</th></tr></thead>
        <tbody>
        {{#waiting}}<tr><td>{{send}}<span class="detail">{{detail}}</span></td><td data-name="State">{{state}}</td><td data-name="Next try">{{next}}</td></tr>
        {{/waiting}}
        </tbody></table></div>
        </section>
        {{/hasWaiting}}
        {{#hasActivities}}
        <section class="panel">
        <h2>Live Activities</h2>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Activity</th><th scope="col">State</th><th scope="col">Last change</th></tr></thead>
        <tbody>
        {{#activities}}<tr><td>{{subject}}<span class="detail">{{detail}}</span></td><td data-name="State">{{state}}</td><td data-name="Last change">{{when}}</td></tr>
        {{/activities}}
        </tbody></table></div>
        </section>
        {{/hasActivities}}
        <section class="panel">
        <h2>Attempts</h2>
        <p class="soft small">{{attemptsCaption}}</p>
        {{#hasAttempts}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">At</th><th scope="col">What</th><th scope="col">Result</th></tr></thead>
        <tbody>
        {{#attempts}}<tr><td><time datetime="{{whenAttribute}}">{{when}}</time></td>\
        <td class="line">{{what}}<span class="detail">{{detail}}</span></td><td class="line"><span class="{{#isBad}}warn{{/isBad}}">{{result}}</span>\
        {{#code}}<span class="detail">{{.}}</span>{{/code}}<span class="detail">{{ids}}</span></td></tr>
        {{/attempts}}
        </tbody></table></div>
        {{/hasAttempts}}
        {{^hasAttempts}}<p class="soft">None.</p>{{/hasAttempts}}
        </section>
        {{> foot}}
        """
    )
}

/// What a search found that is not one person.
extension PageTemplate {
    static let search = PageTemplate(
        "search",
        """
        {{> head}}
        <div class="state">
        <h1>{{heading}}</h1>
        <p>{{advice}}</p>
        </div>
        {{#hasPeople}}
        <section class="panel">
        <ul class="plainList">
        {{#people}}<li><a href="{{path}}">{{uid}}</a></li>
        {{/people}}
        </ul>
        </section>
        {{/hasPeople}}
        {{#token}}
        <section class="panel">
        <p>This text has the shape of a token, so only its hash was looked up.</p>
        <form method="post" action="/search"><input type="hidden" name="q" value="{{.}}"><input type="hidden" name="as" value="name">\
        <button class="plain">It is no token: find it as a uid or a sendId</button></form>
        </section>
        {{/token}}
        {{> foot}}
        """
    )
}
