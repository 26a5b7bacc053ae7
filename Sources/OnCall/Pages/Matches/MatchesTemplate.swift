/// The page of matches and other subjects of Live Activities.
extension PageTemplate {
    static let matches = PageTemplate(
        "matches",
        """
        {{> head}}
        <div class="state">
        <h1>{{headline}}</h1>
        <p>{{pushes}}</p>
        {{#failures}}<p class="warn">{{.}}</p>
        {{/failures}}
        </div>
        <section class="panel">
        <h2>Matches and other subjects</h2>
        {{#hasSubjects}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">What</th><th scope="col" class="n">Followers</th><th scope="col" class="n">Active</th>\
        <th scope="col" class="n">Behind</th><th scope="col" class="n">Pending</th><th scope="col" class="n">Ended</th></tr></thead>
        <tbody>
        {{#subjects}}<tr><td><a href="{{path}}">{{name}}</a> {{status}}<span class="detail">{{detail}}</span>\
        {{#feedWarning}}<span class="detail warn">{{.}}</span>{{/feedWarning}}</td>\
        <td class="n" data-name="Followers">{{followers}}</td><td class="n" data-name="Active">{{active}}</td>\
        <td class="n" data-name="Behind"><span class="{{#isBehind}}warn{{/isBehind}}">{{behind}}</span></td>\
        <td class="n" data-name="Pending">{{pending}}</td><td class="n" data-name="Ended">{{ended}}</td></tr>
        {{/subjects}}
        </tbody></table></div>
        <p class="soft small">Behind: active ones that have not been sent the newest state yet.</p>
        {{/hasSubjects}}
        {{^hasSubjects}}<p class="soft">No match and no other subject is known. <code>PUT /matches/{matchId}</code> brings a score and \
        <code>PUT /live/{type}/{id}</code> another state, \
        <code>pushwatch-dev replay</code> plays one.</p>{{/hasSubjects}}
        </section>
        {{> foot}}
        """
    )
}

/// One of them.
extension PageTemplate {
    static let match = PageTemplate(
        "match",
        """
        {{> head}}
        <div class="state{{#isBehind}} unsure{{/isBehind}}">
        <p class="over">{{over}}</p>
        <h1>{{heading}}</h1>
        <p>{{status}}</p>
        </div>
        <div class="columns">
        <div>
        <section class="panel">
        <h2>Now shown</h2>
        {{#hasInnings}}<dl class="facts">
        {{#innings}}<div><dt>{{team}}</dt><dd><strong>{{score}}</strong></dd></div>
        {{/innings}}
        </dl>{{/hasInnings}}
        <dl class="facts">
        {{#facts}}<div><dt>{{name}}</dt><dd><span class="{{#isBad}}warn{{/isBad}}">{{count}}</span></dd></div>
        {{/facts}}
        </dl>
        </section>
        <section class="panel">
        <h2>The newest state on its way</h2>
        <p><span class="{{#isBehind}}warn{{/isBehind}}">{{reached}}</span></p>
        <p class="soft">{{ages}}</p>
        </section>
        <section class="panel">
        <h2>Starts</h2>
        <p>{{starts}}</p>
        {{#startFailures}}<p class="warn">{{.}}</p>{{/startFailures}}
        </section>
        {{#hasLaggards}}
        <section class="panel">
        <h2>Not as they should be</h2>
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Person</th><th scope="col">Trouble</th><th scope="col">Since</th></tr></thead>
        <tbody>
        {{#laggards}}<tr><td><a href="{{path}}">{{uid}}</a><span class="detail">{{detail}}</span></td><td>{{problem}}</td>\
        <td>{{since}}</td></tr>
        {{/laggards}}
        </tbody></table></div>
        </section>
        {{/hasLaggards}}
        </div>
        <div>
        <section class="panel">
        <h2>Activities</h2>
        {{#hasStatusCounts}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">State</th><th scope="col" class="n">Activities</th></tr></thead>
        <tbody>
        {{#statusCounts}}<tr><td><span class="{{#isBad}}warn{{/isBad}}">{{name}}</span></td><td class="n">{{count}}</td></tr>
        {{/statusCounts}}
        </tbody></table></div>
        {{/hasStatusCounts}}
        {{^hasStatusCounts}}<p class="soft">None was started yet.</p>{{/hasStatusCounts}}
        </section>
        <section class="panel">
        <h2>The state as every follower gets it</h2>
        <pre tabindex="0"><code>{{state}}</code></pre>
        </section>
        </div>
        </div>
        {{> foot}}
        """
    )
}
