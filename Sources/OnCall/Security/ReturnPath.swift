import Foundation
import HTTPTypes
import Hummingbird

/// Where a reader goes after signing in: a path of this site, never another site.
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
    init(from request: Request) { self.init(Self.origin(of: request)) }

    /// The page that has the form which this request sends: the one it was sent from; where that is not known, the nearest one above the
    /// form's own path.
    init(ofForm request: Request) { self.init(Self.origin(of: request) ?? Self.page(above: request.uri.path)) }

    private init(path: String) { self.path = path }

    private static func origin(of request: Request) -> String? {
        guard let address = request.headers[.referer].flatMap({ URLComponents(string: $0) }), !address.percentEncodedPath.isEmpty,
            SitePages.hasPage(at: address.percentEncodedPath)
        else { return nil }
        return address.percentEncodedPath + (address.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    /// `/oncall/alerts/1` of `/oncall/alerts/1/mark`.
    private static func page(above path: String) -> String? {
        var segments = path.split(separator: "/")
        while !segments.isEmpty {
            let above = "/" + segments.joined(separator: "/")
            if SitePages.hasPage(at: above) { return above }
            segments.removeLast()
        }
        return nil
    }
}
