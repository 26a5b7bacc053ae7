// Alerting
