/// The beginning of every page.
extension PageTemplate {
    static let head = PageTemplate(
        "head",
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        {{#frame.refreshSeconds}}<noscript><meta http-equiv="refresh" content="{{.}}"></noscript>
        {{/frame.refreshSeconds}}
        <title>{{frame.title}}</title>
        <link rel="icon" href="{{frame.icon}}">
        <link rel="stylesheet" href="{{frame.stylesheet}}">
        <script src="{{frame.script}}" defer></script>
        </head>
        <body{{#frame.freshSeconds}} data-refresh="{{.}}"{{/frame.freshSeconds}}{{#frame.isAnswer}} data-answer{{/frame.isAnswer}}>
        <a class="skip" href="#main">Skip to content</a>
        <header class="bar">
        <a class="brand" href="/">Pushwatch</a>
        <span class="clock"><time datetime="{{frame.clockAttribute}}">{{frame.clock}} UTC</time>{{#frame.ownClock}} {{.}}{{/frame.ownClock}}\
        {{#frame.refreshSeconds}}<span class="wide">, refreshes by itself</span>{{/frame.refreshSeconds}}</span>
        {{#frame.person}}<form class="person" method="post" action="/sign-out"><span class="wide">{{.}}</span><button class="plain">\
        Sign out</button></form>{{/frame.person}}
        </header>
        {{#frame.person}}<nav class="bar sub" aria-label="Pages">
        {{#frame.links}}<a href="{{path}}">{{title}}</a>{{/frame.links}}
        <form class="search" method="post" action="/search" role="search"><input name="q" type="search" required maxlength="4096" \
        aria-label="uid, deviceId, attemptId, sendId or tokenHash" placeholder="uid, device, attempt, send, token" autocomplete="off">\
        <button class="plain">Find</button></form>
        </nav>
        {{/frame.person}}
        <p id="news" class="unseen" role="status"></p>
        <main id="main">

        """
    )
}
