package forecasts

import "strings"

// Own is the limit of the page as our script reads it.
func (p *whatIf) Own() string {
	if p.Limit == "" {
		return "Infinity"
	}
	return strings.ReplaceAll(p.Limit, ",", "") // of thousands
}

// Said is the sentence of the page. Our script shows it again once no other limit is typed.
func (p *forecastPage) Said() string { return p.Gist + p.More() }

// More is what holds whatever the limit.
func (p *forecastPage) More() (more string) {
	if p.Held {
		more += " " + p.T("forecast.held")
	}
	if p.Coming {
		more += " " + p.T("forecast.coming")
	}
	return more
}
