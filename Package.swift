// swift-tools-version: 6.2
import PackageDescription

// Every target stands on a floor and imports strictly lower floors only (docs/architecture.md).
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
    static let nioHTTP2: Self = .product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioHTTPTypes: Self = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
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

/// A target of the package, with the house's compiler settings.
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of one target.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "pushwatch",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "PushContract", targets: ["PushContract"]),
        .library(name: "PushLifecycle", targets: ["PushLifecycle"]),
        .executable(name: "pushwatch", targets: ["pushwatch"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Floor 0: C libraries.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),

        // Floor 1: values and decisions; no input, no output.
        room("PushContract", [.crypto]),
        room("AlertRules", [.yams, .crypto]),

        // Floor 2: adapters to the outside world, without knowledge of pushes.
        room("Postgres", ["CLibPQ", "PushContract", .logging, .metrics, .crypto, .serviceLifecycle]),
        room("CurlHTTP", ["CCurl", .logging, .metrics, .httpTypes]),
        room("Observability", [.logging, .metrics, .coreMetrics]),
        room("HTTPEdge", ["PushContract", "CZlib", .hummingbird, .httpTypes, .logging, .metrics, .nioCore, .nioHTTPTypes]),

        room("Cricket", ["PushContract", .crypto]),
        room("PushLifecycle", ["PushContract"]),

        // Floor 3: stores and providers.
        room("Access", ["PushContract", "HTTPEdge", "Postgres", "CurlHTTP", .hummingbird, .jwtKit, .crypto, .logging, .serviceLifecycle]),
        room(
            "Attempts",
            [
                "CSimdJSON", "CZlib", "PushContract", "Postgres", "HTTPEdge", .hummingbird, .httpTypes, .logging, .metrics, .coreMetrics,
                .nioCore, .crypto, .serviceLifecycle,
            ]
        ),
        room("Devices", ["PushContract", "Postgres", "HTTPEdge", .hummingbird, .httpTypes, .logging, .crypto, .serviceLifecycle]),
        room("Providers", ["PushContract", "CurlHTTP", "HTTPEdge", .jwtKit, .logging, .metrics, .crypto, .httpTypes]),

        // Floor 4: features.
        room(
            "Sending",
            [
                "PushContract", "Postgres", "HTTPEdge", "Attempts", "Devices", "Providers", .hummingbird, .httpTypes, .logging, .metrics,
                .coreMetrics, .crypto, .serviceLifecycle,
            ]
        ),
        room(
            "Alerting",
            [
                "AlertRules", "PushContract", "Postgres", "CurlHTTP", "HTTPEdge", "Attempts", .hummingbird, .logging, .metrics, .crypto,
                .httpTypes, .serviceLifecycle, .yams,
            ]
        ),

        // Floor 5: what people look at; the matches and the lock screens behind the sends.
        room(
            "LiveActivities",
            [
                "Cricket", "PushContract", "Postgres", "CurlHTTP", "HTTPEdge", "Attempts", "Devices", "Providers", "Sending", .hummingbird,
                .httpTypes, .logging, .metrics, .coreMetrics, .crypto, .serviceLifecycle,
            ]
        ),
        room(
            "OnCall",
            [
                "AlertRules", "PushContract", "Postgres", "HTTPEdge", "Access", "Attempts", "Devices", "Sending", "Alerting", .hummingbird,
                .mustache, .logging,
            ]
        ),

        // Floor 6: the whole service; the simulator; a private PostgreSQL.
        room(
            "PushwatchServer",
            [
                "AlertRules", "PushContract", "Postgres", "CurlHTTP", "Observability", "HTTPEdge", "Access", "Attempts", "Devices",
                "Providers", "Sending", "Alerting", "OnCall", "LiveActivities", "Cricket", .configuration, .hummingbird, .logging, .metrics,
                .crypto,
                .serviceLifecycle, .system, .unixSignals, .nioCore, .nioSSL, .hummingbirdCore, .hummingbirdTLS, .httpTypes, .yams,
            ]
        ),
        room(
            "ProviderSimulator",
            [
                "Cricket", "PushContract", "PushLifecycle", "CurlHTTP", "HTTPEdge", .hummingbird, .hummingbirdCore, .httpTypes, .crypto,
                .cryptoExtras, .x509,
                .asn1,
                .nioCore, .nioHTTP2, .nioHTTPTypes, .nioHTTPTypesHTTP2, .nioSSL, .logging, .serviceLifecycle,
            ]
        ),
        room("LocalPostgres", ["Postgres", .subprocess, .logging, .serviceLifecycle]),

        // Floor 7: the command line.
        // A bare libcurl loop, which the HTTP client is measured against.
        .target(name: "CCurlLoop", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "pushwatch",
            dependencies: [
                "AlertRules", "PushContract", "Postgres", "CurlHTTP", "Observability", "HTTPEdge", "Access", "Attempts", "Devices",
                "Providers", "Sending", "Alerting", "OnCall", "LiveActivities", "Cricket", "PushLifecycle", "PushwatchServer",
                "ProviderSimulator",
                "LocalPostgres", "CCurlLoop", .argumentParser,
                .configuration, .hummingbird, .jwtKit, .logging, .metrics, .crypto, .serviceLifecycle, .unixSignals, .nioCore,
            ],
            swiftSettings: strict
        ),

        // Tests.
        .target(
            name: "TestDatabase",
            dependencies: ["Postgres", "LocalPostgres", .logging],
            path: "Tests/TestDatabase",
            swiftSettings: strict
        ),
        .target(name: "AttemptReference", dependencies: ["PushContract"], path: "Tests/AttemptReference", swiftSettings: strict),
        .executableTarget(
            name: "attempt-fuzz",
            dependencies: ["Attempts", "AttemptReference", "PushContract"],
            path: "Tests/AttemptFuzz",
            swiftSettings: strict
        ),
        tests("PushContractTests", ["PushContract"]),
        tests("AlertRulesTests", ["AlertRules"]),
        tests("PostgresTests", ["Postgres", "PushContract", "LocalPostgres", "TestDatabase", .logging]),
        tests(
            "CurlHTTPTests",
            [
                "CurlHTTP", .httpTypes, .hummingbird, .hummingbirdCore, .hummingbirdTLS, .hummingbirdHTTP2, .nioCore, .nioSSL, .x509, .asn1,
                .crypto, .logging,
            ]
        ),
        tests("ObservabilityTests", ["Observability", .metrics, .coreMetrics, .logging]),
        tests(
            "HTTPEdgeTests",
            ["HTTPEdge", "CZlib", .hummingbird, .hummingbirdTesting, .httpTypes, .nioCore, .nioEmbedded, .nioHTTPTypes]
        ),
        tests(
            "AccessTests",
            [
                "Access", "PushContract", "HTTPEdge", "Postgres", "TestDatabase", .hummingbird, .hummingbirdTesting, .httpTypes, .jwtKit,
                .crypto,
                .logging,
            ]
        ),
        tests(
            "AttemptsTests",
            [
                "Attempts", "AttemptReference", "CZlib", "PushContract", "Postgres", "HTTPEdge", "TestDatabase", .hummingbird,
                .hummingbirdTesting, .nioCore, .logging,
            ]
        ),
        tests(
            "DevicesTests",
            [
                "Devices", "Attempts", "Sending", "PushContract", "Postgres", "HTTPEdge", "TestDatabase", .hummingbird, .hummingbirdTesting,
                .httpTypes, .logging, .nioCore, .crypto,
            ]
        ),
        tests("ProvidersTests", ["Providers", "PushContract", "CurlHTTP", "HTTPEdge", "ProviderSimulator", .jwtKit, .crypto, .logging]),
        tests(
            "SendingTests",
            [
                "Sending", "Devices", "Attempts", "Providers", "CurlHTTP", "PushContract", "Postgres", "HTTPEdge", "TestDatabase",
                .hummingbird,
                .hummingbirdTesting, .httpTypes, .logging, .nioCore, .serviceLifecycle,
            ]
        ),
        tests(
            "AlertingTests",
            [
                "Alerting", "AlertRules", "Attempts", "PushContract", "Postgres", "CurlHTTP", "HTTPEdge", "TestDatabase", .hummingbird,
                .hummingbirdTesting, .httpTypes, .crypto, .logging,
            ]
        ),
        tests(
            "OnCallTests",
            [
                "OnCall", "Access", "AlertRules", "Alerting", "Attempts", "Devices", "HTTPEdge", "PushContract", "Sending", "Postgres",
                "TestDatabase", .hummingbird, .hummingbirdTesting, .httpTypes,
            ]
        ),
        tests("CricketTests", ["Cricket", "PushContract"]),
        tests("PushLifecycleTests", ["PushLifecycle", "PushContract", .crypto]),
        tests(
            "LiveActivitiesTests",
            [
                "LiveActivities", "Cricket", "PushContract", "Postgres", "CurlHTTP", "HTTPEdge", "Attempts", "Devices", "Providers",
                "Sending", "TestDatabase", .hummingbird, .hummingbirdTesting, .httpTypes, .logging, .nioCore, .crypto, .serviceLifecycle,
            ]
        ),
        tests(
            "ProviderSimulatorTests",
            [
                "ProviderSimulator", "Cricket", "CurlHTTP", "PushLifecycle", "PushContract", .subprocess, .jwtKit, .crypto, .cryptoExtras,
                .logging, .nioCore, .nioPosix,
            ]
        ),
        tests(
            "IntegrationTests",
            [
                "PushwatchServer", "ProviderSimulator", "LocalPostgres", "TestDatabase", "Postgres", "CurlHTTP", "Attempts", "Sending",
                "Devices", "Alerting", "AlertRules", "LiveActivities", "Cricket", "PushLifecycle", "Providers", "PushContract", "Access",
                "CZlib", "HTTPEdge", "Observability", .configuration,
                .httpTypes, .hummingbird, .logging, .crypto, .nioCore, .serviceLifecycle, .unixSignals,
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
