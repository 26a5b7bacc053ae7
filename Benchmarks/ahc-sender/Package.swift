// swift-tools-version: 6.1
import PackageDescription

// A sender over AsyncHTTPClient, which is what APNSwift sends with: a rate to hold `pushwatch bench send` against.
let package = Package(
    name: "ahc-sender",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0")],
    targets: [
        .executableTarget(name: "ahc-sender", dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")])
    ]
)
