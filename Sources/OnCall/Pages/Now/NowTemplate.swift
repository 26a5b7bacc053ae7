/// The page *Now*.
extension PageTemplate {
    static let now = PageTemplate(
        "now",
        with: [.alertCard, .traffic, .queue, .systemStatus],
        """
        {{> head}}
        <div class="state {{headlineClass}}">
        <h1>{{headline}}</h1>
        <p>{{evaluated}}</p>
        </div>
        {{#notices}}<p class="notice" role="status">{{.}}</p>
        {{/notices}}
        {{#alerts}}
        {{> alertCard}}
        {{/alerts}}
        {{> traffic}}
        {{> queue}}
        {{> systemStatus}}
        <section class="panel">
        <h2>Alert delivery</h2>
        <p>{{delivered}}</p>
        {{#notificationError}}<p class="detail">{{.}}</p>{{/notificationError}}
        {{#hasRecent}}
        <h3>Resolved lately</h3>
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Alert</th><th scope="col">Began</th><th scope="col" class="n">Worst</th></tr></thead>
        <tbody>
        {{#recent}}<tr><td><a href="{{path}}">{{name}}</a></td><td>{{when}}</td><td class="n">{{worst}}</td></tr>
        {{/recent}}
        </tbody></table></div>
        {{/hasRecent}}
        </section>
        </div>
        {{> foot}}
        """
    )
}
