/// The queue on the page *Now*.
extension PageTemplate {
    static let queue = PageTemplate(
        "queue",
        """
        {{#queue}}
        <section class="panel">
        <h2>Queue</h2>
        <p class="figure"><strong>{{depth}}</strong> waiting <span class="{{#isGrowing}}warn{{/isGrowing}}{{^isGrowing}}soft{{/isGrowing}}">\
        {{verdict}}</span></p>
        <dl class="facts">
        <div><dt>In</dt><dd>{{arrived}}</dd></div>
        <div><dt>Out</dt><dd>{{ended}}</dd></div>
        <div><dt>Oldest ready</dt><dd>{{oldest}}</dd></div>
        <div><dt>First attempts</dt><dd>{{queued}}</dd></div>
        <div><dt>Retries</dt><dd>{{retrying}}</dd></div>
        <div><dt>Blocked</dt><dd>{{blocked}}</dd></div>
        <div><dt>Being sent</dt><dd>{{sending}}</dd></div>
        <div><dt>Scheduled</dt><dd>{{scheduled}}</dd></div>
        </dl>
        {{#hasObstacles}}<h3>Blocked and paused</h3>
        <ul class="plainList">{{#obstacles}}<li><span class="warn">{{text}}</span>{{#path}}
        <form method="post" action="{{.}}"><input type="hidden" name="provider" value="{{provider}}">\
        <input type="hidden" name="app" value="{{app}}"><button class="plain">{{button}}</button></form>{{/path}}</li>
        {{/obstacles}}</ul>{{/hasObstacles}}
        {{#hasThrottles}}<h3>Throttled</h3>
        <ul class="plainList">{{#throttles}}<li>{{.}}</li>{{/throttles}}</ul>\
        {{#throttlePath}}<p><a href="{{.}}">Lift a throttle</a></p>{{/throttlePath}}{{/hasThrottles}}
        {{#hasQueues}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Queue</th><th scope="col" class="n">Waiting</th><th scope="col" class="n">Oldest</th>\
        <th scope="col" class="n">In/min</th><th scope="col" class="n">Out/min</th></tr></thead>
        <tbody>
        {{#queues}}<tr><td>{{name}}</td><td class="n">{{waiting}}</td><td class="n">{{oldest}}</td>\
        <td class="n">{{queueIn}}</td><td class="n">{{queueOut}}</td></tr>
        {{/queues}}
        </tbody></table></div>
        {{/hasQueues}}
        </section>
        {{/queue}}

        """
    )
}
