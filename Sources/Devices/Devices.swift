// Devices
