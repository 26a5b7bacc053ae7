/// A page that could not be made, in words.
extension PageTemplate {
    static let fault = PageTemplate(
        "fault",
        """
        {{> head}}
        <div class="state unsure">
        <h1>{{title}}</h1>
        <p>{{detail}}</p>
        </div>
        <p class="soft">Request {{requestId}}. {{#back}}<a href="{{.}}">Back to the page</a>{{/back}}\
        {{^back}}<a href="/">Back to the first page</a>{{/back}}</p>
        {{> foot}}
        """
    )
}
