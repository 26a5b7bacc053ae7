// Integration
