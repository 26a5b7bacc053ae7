/// One of the values a form offers.
struct FormChoice {
    let value: String
    let label: String
    let isChosen: Bool
}
