/// Colours, light and dark. Text has at least 4.5:1 against its background, lines of charts 3:1.
enum StylesheetColours {
    static let text = """
        :root {
          color-scheme: light dark;
          --ground: #f4f5f6; --panel: #ffffff; --ink: #15181c; --soft: #545b64; --line: #d8dce0; --grid: #e6e9ec;
          --link: #1a56a8; --button: #1a56a8; --on-button: #ffffff;
          --alarm: #b3231b; --alarm-ground: #fdf1f0; --alarm-line: #e9b8b4;
          --calm: #1c6b3f; --warn: #8a4b00; --warn-ground: #fff6e5; --warn-line: #e6c990;
          --attempts: #1a56a8; --attempts-area: #dbe7f6; --bad: #c0271e; --bad-area: #f8dedc; --band: #f6e9e8;
          --r-provider-5xx: #c0271e; --r-auth: #7a3db0; --r-network: #b86200; --r-token-not-registered: #1a56a8;
          --r-token-invalid: #0b7a75; --r-unknown: #6a727c;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #121518; --panel: #1a1e22; --ink: #e7eaed; --soft: #a4adb6; --line: #323940; --grid: #272d33;
            --link: #8bbaf3; --button: #2d6cc0; --on-button: #ffffff;
            --alarm: #ff9188; --alarm-ground: #2a1a1a; --alarm-line: #6b3733;
            --calm: #7dd3a0; --warn: #f2bd6b; --warn-ground: #292114; --warn-line: #66512a;
            --attempts: #8bbaf3; --attempts-area: #22354c; --bad: #ff8a80; --bad-area: #46282a; --band: #2b2122;
            --r-provider-5xx: #ff8a80; --r-auth: #c79bf0; --r-network: #f0ad57; --r-token-not-registered: #79aef0;
            --r-token-invalid: #55c7c0; --r-unknown: #9aa4ae;
          }
        }

        """
}
