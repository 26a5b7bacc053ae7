/// Before a level is accepted as normal.
extension PageTemplate {
    static let accept = PageTemplate(
        "accept",
        """
        {{> head}}
        <div class="state unsure">
        <p class="over">Accept as the new normal</p>
        <h1>{{name}}</h1>
        <p>{{#isFiring}}The alert resolves within a minute, and its receivers are notified of the reason. {{/isFiring}}From then on the rule expects this level \
        in this group (worst: {{level}}), does not fire for it, and fires again above {{multiple}} of it. Within a week observed days replace it.</p>
        <p>Accept a level only if its cause is known and permanent. During an incident, silence the alert instead. You can undo this here and on the \
        page Rules.</p>
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
