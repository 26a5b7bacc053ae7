import Foundation
package import HTTPServer
package import Logging
import Metrics

/// What every long-running command sets up first.
package enum ProcessSetup {
    package static func begin(level: Logger.Level, format: String) -> MetricsRegistry {
        log(level: level, format: format)
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        MetricHelp.describe(in: metrics)
        ProcessMetrics.register(in: metrics, startedAt: Date())
        return metrics
    }

    /// Logging alone. `format`: as `log.format` has it.
    package static func log(level: Logger.Level, format: String) {
        LogBootstrap.bootstrap(level: level, format: format == "auto" ? nil : format == "json" ? .json : .human)
    }
}
