import Foundation
import HTTPTypes
import Hummingbird

/// Where somebody goes after signing in: a path of this site, never another site.
struct ReturnPath: Hashable {
    let path: String

    static let home = ReturnPath(path: "/")

    /// `/` for anything that is not plainly a path here: browsers read `//host` and `/\host` as other sites.
    init(_ wanted: String?) {
        guard let wanted, wanted.utf8.count <= 500, wanted.hasPrefix("/"), !wanted.hasPrefix("//"), !wanted.hasPrefix("/sign-"),
            wanted.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else {
            self = .home
            return
        }
        path = wanted
    }

    /// The page that this request was sent from: with `Referrer-Policy: same-origin` a page of this site is named with its path and query;
    /// other sites name at most their host. `/` where no page has that path, as with the answer to a form.
    init(from request: Request) {
        let address = request.headers[.referer].flatMap { URLComponents(string: $0) }
        let path = address?.percentEncodedPath ?? ""
        let query = address?.percentEncodedQuery.map { "?" + $0 } ?? ""
        self.init(SitePages.hasPage(at: path) ? path + query : nil)
    }

    private init(path: String) { self.path = path }
}
