// AlertRules
