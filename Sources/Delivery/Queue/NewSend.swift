/// One send to store.
struct NewSend {
    var request: SendRequest
    var post: SendPost
    var deliveryClass: DeliveryClass
    /// As it is stored: the targets that it does not go to.
    var skipped: String?
}
