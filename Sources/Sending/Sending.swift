// Sending
