/// A firing alert on the page *Now*.
extension PageTemplate {
    static let alertCard = PageTemplate(
        "alertCard",
        """
        <article class="alert {{severity}}{{#acknowledged}} taken{{/acknowledged}}">
        <p class="over"><span class="tag">{{severity}}</span> {{name}}, {{since}}</p>
        <h2><a href="{{path}}">{{summary}}</a></h2>
        {{#hasFigures}}<p class="figures"><strong>{{observed}}</strong> {{threshold}} <span class="soft">{{counts}}</span></p>
        {{/hasFigures}}
        {{#action}}<p class="action"><strong>Do now:</strong> {{.}}</p>{{/action}}
        {{#notes}}<p class="soft">{{.}}</p>
        {{/notes}}
        <div class="actions">
        {{#acknowledgePath}}<form method="post" action="{{.}}"><input type="hidden" name="back" value="/"><button>Acknowledge</button></form>\
        {{/acknowledgePath}}
        {{#acknowledged}}<span class="soft">{{.}}</span>{{/acknowledged}}
        <a href="{{path}}">Details</a>
        {{#runbook}}<a href="{{.}}" rel="noreferrer">Runbook</a>{{/runbook}}
        </div>
        </article>

        """
    )
}
