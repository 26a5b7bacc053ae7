// PushwatchServer
