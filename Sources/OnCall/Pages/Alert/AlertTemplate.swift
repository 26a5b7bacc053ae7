/// An alert's page.
extension PageTemplate {
    static let alert = PageTemplate(
        "alert",
        with: [.acceptance],
        """
        {{> head}}
        <div class="state {{#isFiring}}burning{{/isFiring}}{{^isFiring}}past{{/isFiring}}">
        <p class="over"><span class="tag">{{severity}}</span> {{name}}</p>
        <h1>{{summary}}</h1>
        {{#cause}}<p>{{.}}</p>{{/cause}}
        <p>{{state}}</p>
        {{#acknowledged}}<p>{{.}}</p>{{/acknowledged}}
        <div class="actions">
        {{#acknowledgePath}}<form method="post" action="{{.}}"><button>Acknowledge</button></form>{{/acknowledgePath}}
        {{#silencePath}}<a href="{{.}}">Silence</a>{{/silencePath}}
        {{#endSilencePath}}<form method="post" action="{{.}}"><input type="hidden" name="back" value="{{path}}"><button class="plain">\
        End silence</button></form>{{/endSilencePath}}
        {{#acceptPath}}<a href="{{.}}">Accept as the new normal</a>{{/acceptPath}}
        {{#isFiring}}{{#throttlePath}}<a href="{{.}}">Throttle non-critical sends</a>{{/throttlePath}}{{/isFiring}}
        {{#checkPath}}<form method="post" action="{{.}}"><input type="hidden" name="back" value="{{path}}"><button class="plain">Check \
        credentials</button></form>{{/checkPath}}
        {{#markPath}}<form method="post" action="{{.}}"><button class="plain" name="verdict" value="real">Mark as real</button></form>\
        <form method="post" action="{{.}}"><button class="plain" name="verdict" value="noise">Mark as noise</button></form>{{/markPath}}
        </div>
        {{#verdict}}<p>{{.}}</p>{{/verdict}}
        {{#acceptance}}{{> acceptance}}{{/acceptance}}
        </div>
        {{#notes}}<p class="notice">{{.}}</p>
        {{/notes}}
        {{#throttles}}<p class="notice">Throttled: {{.}}.{{#throttlePath}} <a href="{{.}}">Lift a throttle</a>{{/throttlePath}}</p>
        {{/throttles}}
        <div class="columns">
        <div>
        {{#isFiring}}<section class="panel">
        <h2>What to do</h2>
        {{#action}}<p class="action">{{.}}</p>{{/action}}
        {{#meaning}}<p class="soft">{{.}}</p>{{/meaning}}
        </section>{{/isFiring}}
        {{^isFiring}}<section class="panel">
        <h2>What is left to do</h2>
        <p class="action">{{#throttlePath}}<a href="{{.}}">{{/throttlePath}}Lift what was throttled for it\
        {{#throttlePath}}</a>{{/throttlePath}}, and mark it as real or as noise: the page of rules counts both.</p>
        </section>{{/isFiring}}
        <section class="panel">
        {{#chart}}
        <h2>Share of bad attempts</h2>
        {{{.}}}
        {{/chart}}
        {{^chart}}
        <h2>Numbers</h2>
        {{/chart}}
        {{#chartCaption}}<p class="soft small">{{.}}</p>
        {{/chartCaption}}
        <dl class="numbers">
        {{#numbers}}<div><dt>{{name}}</dt><dd>{{value}}</dd></div>
        {{/numbers}}
        </dl>
        </section>
        {{#hasContributors}}
        <section class="panel">
        <h2>Who has the failures</h2>
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Where</th><th scope="col" class="n">Failed</th><th scope="col" class="n">Of the excess</th></tr></thead>
        <tbody>
        {{#contributors}}<tr><td>{{name}}</td><td class="n">{{counts}}<span class="detail">{{share}}</span></td><td class="n">{{excess}}\
        {{#lift}}<span class="detail">{{.}}</span>{{/lift}}</td></tr>
        {{/contributors}}
        </tbody></table></div>
        </section>
        {{/hasContributors}}
        {{#hasImpacts}}
        <section class="panel">
        <h2>Who is affected as it goes on</h2>
        {{#impacts}}
        <h3>{{heading}}</h3>
        <p class="soft">{{summary}}</p>
        {{#hasLines}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Where</th><th scope="col" class="n">Failed</th><th scope="col" class="n">Of the excess</th></tr></thead>
        <tbody>
        {{#lines}}<tr><td>{{name}}</td><td class="n">{{counts}}<span class="detail">{{share}}</span></td><td class="n">{{excess}}\
        {{#lift}}<span class="detail">{{.}}</span>{{/lift}}</td></tr>
        {{/lines}}
        </tbody></table></div>
        {{/hasLines}}
        {{/impacts}}
        </section>
        {{/hasImpacts}}
        {{#hasPeople}}
        <section class="panel">
        <h2>Some of the people</h2>
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Person</th><th scope="col">At</th><th scope="col">Why</th></tr></thead>
        <tbody>
        {{#people}}<tr><td><a href="{{path}}">{{uid}}</a></td><td><time datetime="{{whenAttribute}}">{{when}}</time></td>\
        <td>{{why}}<span class="detail">{{detail}}</span></td></tr>
        {{/people}}
        </tbody></table></div>
        <p class="soft small">Each with the newest failure of a sample of the attempts of the window.</p>
        </section>
        {{/hasPeople}}
        <section class="panel">
        <h2>Notifications</h2>
        {{#hasNotifications}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Receiver</th><th scope="col">Message</th><th scope="col">State</th></tr></thead>
        <tbody>
        {{#notifications}}<tr><td>{{receiver}}</td><td>{{kind}}</td><td>{{state}}{{#error}}<span class="detail">{{.}}</span>{{/error}}</td></tr>
        {{/notifications}}
        </tbody></table></div>
        {{/hasNotifications}}
        {{^hasNotifications}}<p class="soft">None: no receiver is configured for it, or it is silenced.</p>{{/hasNotifications}}
        {{#hasTries}}
        <details><summary>Every try</summary>
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">At</th><th scope="col">Receiver</th><th scope="col">Message</th><th scope="col">Result</th>\
        <th scope="col" class="n">Took</th></tr></thead>
        <tbody>
        {{#tries}}<tr><td><time datetime="{{whenAttribute}}">{{when}}</time></td><td>{{receiver}}</td><td>{{kind}}</td><td>{{result}}</td><td class="n">{{latency}}</td></tr>
        {{/tries}}
        </tbody></table></div>
        </details>
        {{/hasTries}}
        </section>
        <section class="panel">
        <h2>The same numbers in SQL</h2>
        <pre tabindex="0"><code>{{sql}}</code></pre>
        </section>
        </div>
        <div>
        <section class="panel runbook">
        <h2>Runbook</h2>
        {{#runbookHTML}}{{{.}}}{{/runbookHTML}}
        {{^runbookHTML}}{{#runbookPath}}<p><a href="{{.}}" rel="noreferrer">{{.}}</a></p>{{/runbookPath}}\
        {{^runbookPath}}<p class="soft">There is none.</p>{{/runbookPath}}{{/runbookHTML}}
        </section>
        </div>
        </div>
        {{> foot}}
        """
    )
}
