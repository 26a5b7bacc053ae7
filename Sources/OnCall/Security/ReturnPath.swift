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

    private init(path: String) { self.path = path }
}
