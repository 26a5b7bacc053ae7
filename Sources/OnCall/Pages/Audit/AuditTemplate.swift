/// Who did what.
extension PageTemplate {
    static let audit = PageTemplate(
        "audit",
        """
        {{> head}}
        <div class="state">
        <h1>Who did what</h1>
        <p>The latest first. Entries are only ever added. <a href="/oncall/sessions">Who is signed in now</a></p>
        </div>
        <section class="panel">
        {{#hasEntries}}
        <div class="scroll" tabindex="0"><table class="stack">
        <thead><tr><th scope="col">At</th><th scope="col">Who</th><th scope="col">What</th></tr></thead>
        <tbody>
        {{#entries}}<tr><td><time datetime="{{whenAttribute}}">{{when}}</time></td><td>{{actor}}<span class="detail">{{callerKind}}</span></td>\
        <td class="line">{{action}} {{subject}}<span class="detail">{{detail}}</span>\
        {{#hasChanges}}<details><summary>What changed</summary>\
        {{#changes}}<span class="detail">{{.}}</span>{{/changes}}</details>{{/hasChanges}}</td></tr>
        {{/entries}}
        </tbody></table></div>
        {{/hasEntries}}
        {{^hasEntries}}<p class="soft">No action has been recorded yet.</p>{{/hasEntries}}
        </section>
        {{> foot}}
        """
    )
}
