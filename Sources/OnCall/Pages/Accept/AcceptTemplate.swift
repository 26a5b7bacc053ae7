/// Before a level is accepted as normal.
extension PageTemplate {
    static let accept = PageTemplate(
        "accept",
        """
        {{> head}}
        <div class="state unsure">
        <p class="over">Accept as the new normal</p>
        <h1>{{name}}</h1>
        <p>{{#isFiring}}The alert ends within a minute, and its receivers are told why. {{/isFiring}}From then on this rule expects in this group what \
        it fired at (worst: {{level}}), pages nobody for it, and fires again above {{multiple}} of that. Within a week real days take its place.</p>
        <p>Accept only what is understood and will stay. For an incident that goes on, silence the alert instead. It can be taken back here and on the \
        page of rules.</p>
        </div>
        <section class="panel">
        <form class="fields" method="post" action="{{path}}">
        <label for="reason">Why is this normal from now on?</label>
        <input id="reason" name="reason" required maxlength="500" autocomplete="off">
        <div class="actions"><button>Accept as the new normal</button><a href="{{back}}">Back</a></div>
        </form>
        </section>
        {{> foot}}
        """
    )
}
