/// A step between a link on another site and a page here. See `BouncePage`.
extension PageTemplate {
    static let bounce = PageTemplate(
        "bounce",
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="0; url={{next}}">
        <title>Pushwatch</title>
        <link rel="stylesheet" href="{{stylesheet}}">
        </head>
        <body>
        <main id="main"><p><a href="{{next}}">Open the page</a></p></main>
        </body>
        </html>

        """
    )
}
