import Delivery
import Testing

@testable import Server

@Suite("The file of texts that sends name")
struct SendTextFileTests {
    private let yaml = """
        com.example.scores:
          goal:
            de: {title: "Tor", body: "{who} trifft"}
            en: {title: "Goal"}
        "*":
          end: {fr: {title: "Fin", body: "C'est fini"}}
        """

    @Test("a text is found by app, name and locale, and falls back to the language, to English, or to the only one there is")
    func reads() throws {
        let texts = try SendTexts(SettingsFile(yaml: yaml, name: "texts.yml")).over(.standard)
        #expect(texts.text("goal", app: "com.example.scores", locale: "de-AT") == .init(title: "Tor", body: "{who} trifft"))
        #expect(texts.text("goal", app: "com.example.scores", locale: "it") == .init(title: "Goal"))
        #expect(texts.text("goal", app: "com.example.other", locale: "de") == nil)
        #expect(texts.text("end", app: "com.example.scores", locale: "de")?.title == "Fin")
        #expect(texts.text("prematch", app: "com.example.scores", locale: "de")?.title == "{title}", "built in, in no file")
    }

    @Test(
        "what is wrong with the file is said with its place",
        arguments: [
            ("a: [", "texts.yml is not YAML"), ("", "texts.yml must be a mapping of apps"), ("- a", "texts.yml must be a mapping of apps"),
            ("a: goal", "texts.yml: a must be a mapping of names of texts"),
            ("a: {goal: Tor}", "texts.yml: a.goal must be a mapping of locales"),
            ("a: {goal: {}}", "texts.yml: a.goal must be a mapping of locales"),
            ("a: {goal: {de: Tor}}", "texts.yml: a.goal.de must be a mapping of `title` and `body`"),
            ("a: {goal: {de: {}}}", "texts.yml: a.goal.de must be a mapping of `title` and `body`"),
            (#"a: {goal: {de: {title: "T", text: "B"}}}"#, "texts.yml: a.goal.de.text is not known"),
            ("a: {goal: {de: {title: 7}}}", "texts.yml: a.goal.de.title must be text"),
            ("a: {goal: {de: {body: yes}}}", "texts.yml: a.goal.de.body must be text"),
        ]
    )
    func faults(yaml: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try SendTexts(SettingsFile(yaml: yaml, name: "texts.yml")) }
        #expect(error.map { "\($0)".contains(message) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("a file that cannot be read is named")
    func missing() {
        let error = #expect(throws: ConfigurationError.self) { try SendTexts(SettingsFile("/does/not/exist.yml", of: .sendTexts)) }
        #expect(error.map { "\($0)".contains("`sends.texts`: /does/not/exist.yml") } == true)
    }
}
