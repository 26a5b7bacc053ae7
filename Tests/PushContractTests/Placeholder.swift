// PushContract
