import Foundation
package import HTTPServer
package import Logging
import Metrics

/// What every long-running command sets up first.
package enum ProcessSetup {
    package static func begin(level: Logger.Level, format: String) -> MetricsRegistry {
        LogBootstrap.bootstrap(level: level, format: format == "auto" ? nil : format == "json" ? .json : .human)
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        MetricHelp.describe(in: metrics)
        ProcessMetrics.register(in: metrics, startedAt: Date())
        return metrics
    }
}
