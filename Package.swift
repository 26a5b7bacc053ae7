// swift-tools-version: 6.2
import PackageDescription

// Every target is in a layer and imports strictly lower layers only (docs/architecture.md).
// `swift build --explicit-target-dependency-import-check error` enforces what is declared here.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

extension Target.Dependency {
    static let argumentParser: Self = .product(name: "ArgumentParser", package: "swift-argument-parser")
    static let configuration: Self = .product(name: "Configuration", package: "swift-configuration")
    static let crypto: Self = .product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras: Self = .product(name: "CryptoExtras", package: "swift-crypto")
    static let httpTypes: Self = .product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird: Self = .product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore: Self = .product(name: "HummingbirdCore", package: "hummingbird")
    static let hummingbirdHTTP2: Self = .product(name: "HummingbirdHTTP2", package: "hummingbird")
    static let hummingbirdTLS: Self = .product(name: "HummingbirdTLS", package: "hummingbird")
    static let hummingbirdTesting: Self = .product(name: "HummingbirdTesting", package: "hummingbird")
    static let jwtKit: Self = .product(name: "JWTKit", package: "jwt-kit")
    static let logging: Self = .product(name: "Logging", package: "swift-log")
    static let metrics: Self = .product(name: "Metrics", package: "swift-metrics")
    static let coreMetrics: Self = .product(name: "CoreMetrics", package: "swift-metrics")
    static let mustache: Self = .product(name: "Mustache", package: "swift-mustache")
    static let nioHTTP1: Self = .product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTP2: Self = .product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioHTTPTypes: Self = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP1: Self = .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP2: Self = .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
    static let nioCore: Self = .product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded: Self = .product(name: "NIOEmbedded", package: "swift-nio")
    static let nioPosix: Self = .product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL: Self = .product(name: "NIOSSL", package: "swift-nio-ssl")
    static let serviceLifecycle: Self = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let subprocess: Self = .product(name: "Subprocess", package: "swift-subprocess")
    static let system: Self = .product(name: "SystemPackage", package: "swift-system")
    static let unixSignals: Self = .product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let x509: Self = .product(name: "X509", package: "swift-certificates")
    static let asn1: Self = .product(name: "SwiftASN1", package: "swift-asn1")
    static let yams: Self = .product(name: "Yams", package: "Yams")
}

/// A target of the package, with the project's compiler settings.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of one target.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A fuzzer, which `make fuzz` builds with AddressSanitizer.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
    .executableTarget(name: name, dependencies: ["FuzzSupport"] + dependencies, path: path, swiftSettings: strict)
}

/// In place of glibc's malloc, which is slow where one thread frees what another allocated (docs/decisions/0056).
let jemalloc = LinkerSetting.linkedLibrary("jemalloc", .when(platforms: [.linux]))

let package = Package(
    name: "pushwatch",
    platforms: [.macOS(.v15), .iOS("16.2")],
    products: [
        .library(name: "PushContract", targets: ["PushContract"]),
        .library(name: "PushClient", targets: ["PushClient"]),
        .executable(name: "pushwatch", targets: ["pushwatch"]),
        .executable(name: "pushwatch-dev", targets: ["pushwatch-dev"]),
    ],
    // Exact versions; versions.txt lists what they resolve to (scripts/check-versions.sh). swift-crypto is a range because apps link
    // PushContract, which imports it.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", "4.5.2"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // Layer 0: C libraries.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // epoll and eventfd, which the Glibc module does not have.
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CMarkGFM",
            pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]
        ),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),

        // Layer 1: the attempt contract; values only.
        module("PushContract", [.crypto]),

        // Layer 2: an app's part; what every service needs once.
        module("PushClient", ["PushContract"]),
        module("ServiceKit", ["PushContract", .logging, .serviceLifecycle]),

        // Layer 3: rules and their decisions; adapters to the outside world, without knowledge of pushes.
        module("AlertRules", ["PushContract", "ServiceKit", .yams, .crypto]),
        module("Postgres", ["CLibPQ", "PushContract", "ServiceKit", .logging, .metrics, .crypto, .serviceLifecycle]),
        module(
            "HTTPClient",
            ["CCurl", "CEpoll", "CNGHTTP2", "COpenSSL", "PushContract", "ServiceKit", .metrics, .httpTypes, .crypto]
        ),
        module(
            "HTTPServer",
            [
                "PushContract", "ServiceKit", "CZlib", .hummingbird, .hummingbirdCore, .httpTypes, .logging, .metrics, .coreMetrics,
                .nioCore,
                .nioHTTP1, .nioHTTPTypes,
            ]
        ),
        module("Cricket", ["PushContract", "ServiceKit", .crypto]),

        // Layer 4: attempts, the audit, providers.
        module(
            "Attempts",
            [
                "CSimdJSON", "CZlib", "PushContract", "ServiceKit", "Postgres", "HTTPServer", .hummingbird, .httpTypes, .logging, .metrics,
                .coreMetrics, .nioCore, .crypto, .serviceLifecycle,
            ]
        ),
        module("Audit", ["PushContract", "ServiceKit", "Postgres", "HTTPServer"]),
        module("Providers", ["PushContract", "ServiceKit", "HTTPClient", .jwtKit, .logging, .metrics, .crypto, .httpTypes]),

        // Layer 5: who may do what; devices, the send queue and the delivery pipeline.
        module(
            "Access",
            [
                "PushContract", "ServiceKit", "HTTPServer", "Postgres", "HTTPClient", "Audit", .hummingbird, .jwtKit, .crypto, .logging,
                .serviceLifecycle,
            ]
        ),
        module(
            "Delivery",
            [
                "COpenSSL", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Attempts", "Audit", "Providers",
                .hummingbird, .httpTypes, .logging, .metrics, .coreMetrics, .crypto, .serviceLifecycle,
            ]
        ),

        // Layer 6: features.
        module(
            "LiveActivities",
            [
                "Cricket", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Attempts", "Providers", "Delivery",
                .hummingbird, .httpTypes, .logging, .metrics, .coreMetrics, .crypto, .serviceLifecycle,
            ]
        ),
        module(
            "Alerting",
            [
                "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Attempts", "Audit", .hummingbird,
                .logging, .metrics, .crypto, .httpTypes, .serviceLifecycle, .yams,
            ]
        ),

        // Layer 7: what people look at.
        module(
            "OnCall",
            [
                "CMarkGFM", "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPServer", "Access", "Attempts", "Audit", "Delivery",
                "Alerting",
                .hummingbird, .mustache, .logging,
            ]
        ),

        // Layer 8: the whole service; the simulator; a private PostgreSQL.
        module(
            "Server",
            [
                "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Access", "Attempts", "Delivery",
                "Providers", "Alerting", "OnCall", "LiveActivities", "Cricket", .configuration, .hummingbird, .logging, .metrics,
                .crypto, .serviceLifecycle, .system, .unixSignals, .nioCore, .nioSSL, .hummingbirdCore, .hummingbirdTLS, .httpTypes, .yams,
            ]
        ),
        module(
            "ProviderSimulator",
            [
                "Cricket", "PushContract", "PushClient", "ServiceKit", "HTTPClient", "HTTPServer", .hummingbird, .hummingbirdCore,
                .httpTypes, .crypto, .cryptoExtras, .x509, .asn1, .nioCore, .nioHTTP2, .nioHTTPTypes, .nioHTTPTypesHTTP2, .nioSSL, .logging,
                .serviceLifecycle,
            ]
        ),
        module("LocalPostgres", ["Postgres", .subprocess, .logging, .serviceLifecycle]),

        // Layer 9: what both programs share.
        module(
            "CommandLineKit",
            [
                "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Server", .argumentParser, .logging,
                .metrics, .nioCore, .unixSignals,
            ]
        ),

        // Layer 10: the production program, and the one for trying, developing and measuring. scripts/check-programs.sh checks what the
        // first one is linked with.
        .executableTarget(
            name: "pushwatch",
            dependencies: [
                "CommandLineKit", "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Access", "Attempts",
                "Audit", "Delivery", "Alerting", "LiveActivities", "Cricket", "Server", .argumentParser, .logging, .unixSignals,
            ],
            swiftSettings: strict,
            linkerSettings: [jemalloc]
        ),
        .executableTarget(
            name: "pushwatch-dev",
            dependencies: [
                "CommandLineKit", "AlertRules", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Access", "Attempts",
                "Delivery", "Providers", "Alerting", "OnCall", "LiveActivities", "Cricket", "PushClient", "Server", "ProviderSimulator",
                "LocalPostgres", .argumentParser, .configuration, .hummingbird, .jwtKit, .logging, .metrics, .crypto,
                .serviceLifecycle, .unixSignals, .nioCore,
            ],
            swiftSettings: strict,
            linkerSettings: [jemalloc]
        ),

        // Tests.
        .target(
            name: "TestDatabase",
            dependencies: ["Attempts", "Audit", "Postgres", "LocalPostgres", "PushContract", .logging],
            path: "Tests/TestDatabase",
            swiftSettings: strict
        ),
        // What tests of any layer share.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        // What the fuzzers share (make fuzz).
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport", swiftSettings: strict),
        .target(
            name: "AttemptReference",
            dependencies: ["FuzzSupport", "PushContract"],
            path: "Tests/AttemptReference",
            swiftSettings: strict
        ),
        fuzzer("attempt-fuzz", ["Attempts", "AttemptReference", "PushContract"], path: "Tests/AttemptFuzz"),
        // HTTP/2's server side in memory.
        .target(name: "HTTP2TestPeer", dependencies: ["CNGHTTP2"], path: "Tests/HTTP2TestPeer", swiftSettings: strict),
        fuzzer("http2-fuzz", ["HTTPClient", "HTTP2TestPeer", "CNGHTTP2"], path: "Tests/HTTP2Fuzz"),
        fuzzer(
            "framing-fuzz",
            ["HTTPServer", .httpTypes, .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTPTypes, .nioHTTPTypesHTTP1],
            path: "Tests/FramingFuzz"
        ),
        fuzzer("answer-fuzz", ["Providers", "HTTPClient", "Delivery", "Attempts", "PushContract", "ServiceKit"], path: "Tests/AnswerFuzz"),
        tests("PushContractTests", ["PushContract"]),
        tests("ServiceKitTests", ["ServiceKit", "PushContract", "TestSupport", .logging]),
        tests("AlertRulesTests", ["AlertRules"]),
        tests("PostgresTests", ["Postgres", "PushContract", "ServiceKit", "LocalPostgres", "TestDatabase", "TestSupport", .logging]),
        tests(
            "HTTPClientTests",
            [
                "HTTPClient", "HTTP2TestPeer", "TestSupport", "CNGHTTP2", "COpenSSL", .httpTypes, .hummingbird, .hummingbirdCore,
                .hummingbirdTLS, .hummingbirdHTTP2, .nioCore, .nioSSL, .x509, .asn1, .crypto, .logging,
            ]
        ),
        tests(
            "HTTPServerTests",
            [
                "HTTPServer", "PushContract", "ServiceKit", "CZlib", "TestSupport", .hummingbird, .hummingbirdTesting, .httpTypes, .metrics,
                .coreMetrics, .logging, .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTPTypes, .nioHTTPTypesHTTP1,
            ]
        ),
        tests(
            "AccessTests",
            [
                "Access", "Audit", "PushContract", "ServiceKit", "HTTPServer", "Postgres", "TestDatabase", "TestSupport", .hummingbird,
                .hummingbirdTesting, .httpTypes, .jwtKit, .crypto, .logging,
            ]
        ),
        tests("AuditTests", ["Audit", "PushContract", "HTTPServer", "Postgres", "TestDatabase"]),
        tests(
            "AttemptsTests",
            [
                "Attempts", "AttemptReference", "CZlib", "PushContract", "ServiceKit", "Postgres", "LocalPostgres", "HTTPServer",
                "TestDatabase", "TestSupport", .hummingbird, .hummingbirdTesting, .nioCore, .logging,
            ]
        ),
        tests(
            "ProvidersTests",
            ["Providers", "PushContract", "ServiceKit", "HTTPClient", "ProviderSimulator", "TestSupport", .jwtKit, .crypto, .logging]
        ),
        tests(
            "DeliveryTests",
            [
                "Delivery", "Attempts", "Audit", "Providers", "HTTPClient", "PushContract", "ServiceKit", "Postgres", "HTTPServer",
                "TestDatabase", "TestSupport", .hummingbird, .hummingbirdTesting, .httpTypes, .logging, .nioCore, .crypto,
                .serviceLifecycle,
            ]
        ),
        tests(
            "AlertingTests",
            [
                "Alerting", "AlertRules", "Attempts", "Audit", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer",
                "TestDatabase", "TestSupport", .hummingbird, .hummingbirdTesting, .httpTypes, .crypto, .logging,
            ]
        ),
        tests(
            "OnCallTests",
            [
                "OnCall", "Access", "AlertRules", "Alerting", "Attempts", "Audit", "Delivery", "HTTPServer", "PushContract", "Postgres",
                "TestDatabase", .hummingbird, .hummingbirdTesting, .httpTypes,
            ]
        ),
        tests("CommandLineKitTests", ["CommandLineKit", "PushContract"]),
        tests("CricketTests", ["Cricket", "PushContract", "ServiceKit"]),
        tests("PushClientTests", ["PushClient", "PushContract", .crypto]),
        tests(
            "LiveActivitiesTests",
            [
                "LiveActivities", "Cricket", "PushContract", "ServiceKit", "Postgres", "HTTPClient", "HTTPServer", "Attempts", "Delivery",
                "Providers", "TestDatabase", "TestSupport", .hummingbird, .hummingbirdTesting, .httpTypes, .logging, .nioCore, .crypto,
                .serviceLifecycle,
            ]
        ),
        tests(
            "ProviderSimulatorTests",
            [
                "ProviderSimulator", "Cricket", "HTTPClient", "PushClient", "PushContract", "ServiceKit", "TestSupport", .subprocess,
                .jwtKit, .crypto, .cryptoExtras, .logging, .nioCore, .nioEmbedded, .nioPosix,
            ]
        ),
        tests(
            "IntegrationTests",
            [
                "Server", "ProviderSimulator", "LocalPostgres", "TestDatabase", "TestSupport", "Postgres", "HTTPClient", "Attempts",
                "Delivery", "Alerting", "AlertRules", "LiveActivities", "Cricket", "PushClient", "Providers", "PushContract", "ServiceKit",
                "Access", "Audit", "CZlib", "HTTPServer", .configuration, .httpTypes, .hummingbird, .logging, .crypto, .nioCore,
                .serviceLifecycle, .unixSignals,
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
