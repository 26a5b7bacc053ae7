import HTTPServer
import HTTPTypes
import Hummingbird

/// A page or a form of the site: where it is, who may open it, and what answers it.
struct SitePage: Sendable {
    typealias Answer = @Sendable (PageCall) async throws -> Response

    /// An entry of the navigation.
    struct Link: Sendable {
        let path: String
        let title: String
    }

    let method: HTTPRequest.Method
    let path: String
    let access: RouteAccess
    /// In the navigation; nil for pages that others lead to.
    let title: String?
    /// Nil for forms that lead to another page.
    let template: PageTemplate?
    let answer: Answer

    static func page(
        _ path: String,
        _ access: RouteAccess,
        title: String? = nil,
        _ template: PageTemplate,
        _ answer: @escaping Answer
    ) -> Self {
        Self(method: .get, path: path, access: access, title: title, template: template, answer: answer)
    }

    /// A form's post. It is refused before the handler runs when another site sent it.
    static func form(_ path: String, _ access: RouteAccess, _ template: PageTemplate? = nil, use answer: @escaping Answer) -> Self {
        Self(method: .post, path: path, access: access, title: nil, template: template) { call in
            try SameOrigin.require(call.request)
            return try await answer(call)
        }
    }
}
