/// Who is signed in.
extension PageTemplate {
    static let sessions = PageTemplate(
        "sessions",
        """
        {{> head}}
        <div class="state">
        <h1>Who is signed in</h1>
        <p>With an API key, under the name they gave. A session ends when it is idle for long, after some hours in any case, with its key, and \
        when it is ended here. People whom a proxy signs in are not listed: the proxy ends their sessions.</p>
        </div>
        <section class="panel">
        {{#hasSessions}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">Who</th><th scope="col">Key</th><th scope="col">Since</th><th scope="col">Last request</th>\
        <th scope="col">End</th></tr></thead>
        <tbody>
        {{#sessions}}<tr><td>{{person}}</td><td>{{key}}</td><td><time datetime="{{sinceAttribute}}">{{since}}</time></td>\
        <td><time datetime="{{usedAttribute}}">{{used}}</time></td><td>{{#isReaders}}this one{{/isReaders}}{{#mayEnd}}<form method="post" \
        action="/oncall/sessions/{{id}}/end"><button class="plain">End<span class="unseen"> the session of {{person}}</span></button></form>\
        {{/mayEnd}}</td></tr>
        {{/sessions}}
        </tbody></table></div>
        {{/hasSessions}}
        {{^hasSessions}}<p class="soft">Nobody is signed in with an API key.</p>{{/hasSessions}}
        </section>
        {{> foot}}
        """
    )
}
