/// The sign-in form. It is the same for everybody, so it needs no secret of its own; the origin of the answer is checked.
extension PageTemplate {
    static let signIn = PageTemplate(
        "signIn",
        """
        {{> head}}
        <section class="panel signIn">
        <h1>Sign in</h1>
        {{#fault}}<p class="notice" role="alert">{{.}}</p>{{/fault}}
        <form method="post" action="/sign-in">
        <input type="hidden" name="next" value="{{next}}">
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="current-password" required autofocus spellcheck="false">
        <label for="name">Your name</label>
        <input id="name" name="name" value="{{name}}" maxlength="100" autocomplete="name" required>
        <button>Sign in</button>
        </form>
        <p class="soft">A key with the scope alerts:read shows the pages, one with alerts:write can acknowledge. \
        <code>pushwatch keys create</code> makes one. What you do \
        here is recorded under your name. <code>pushwatch-dev up</code> prints a link that signs in once.</p>
        </section>
        {{> foot}}
        """
    )
}
