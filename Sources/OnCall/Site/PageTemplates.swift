import Mustache

/// All templates, parsed once.
struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    /// Throws when a template does not parse, which a test would have shown.
    init() throws {
        var library = MustacheLibrary()
        for template in [PageTemplate.head, .foot, .fault, .bounce] + SitePages.all.compactMap(\.template) {
            for part in [template] + template.parts { try library.register(part.text, named: part.name) }
        }
        self.library = library
    }

    func html(_ template: PageTemplate, _ model: Any) -> String { library.render(PageTree.of(model), withTemplate: template.name) ?? "" }
}
