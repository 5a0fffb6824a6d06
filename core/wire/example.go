package wire

// Example is a value that a field takes, as JSON; "" for none.
type Example string

// MarshalJSON implements json.Marshaler.
func (e Example) MarshalJSON() ([]byte, error) {
	if e == "" {
		return []byte("null"), nil
	}
	return []byte(e), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Example) UnmarshalJSON(text []byte) error {
	*e = Example(text)
	return nil
}
