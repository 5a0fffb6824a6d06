package helm

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// least are the values that must be said.
func least() object {
	return object{
		"image":     object{"repository": "registry.example/wakecall"},
		"temporal":  object{"address": "temporal-frontend.temporal:7233"},
		"secretKey": object{"secret": "wakecall"},
		"apiKeys":   object{"secret": "wakecall"},
	}
}

// choices are what the values are made of: of each dimension one choice, which is laid over
// the least. The first choice of each changes nothing.
var choices = map[string][]object{
	"roles": {
		{},
		{"serve": object{"replicas": 0}, "api": object{"replicas": 2}, "worker": object{"replicas": 3}},
		{"api": object{"replicas": 1}, "worker": object{"replicas": 1}},
		{"serve": object{"replicas": 0}, "worker": object{"replicas": 1}},
	},
	"temporal": {
		{},
		{"temporal": object{"tls": object{
			"enabled": true, "secret": "temporal-tls", "serverName": "temporal.example",
			"keys": object{"ca": "ca.crt", "certificate": "tls.crt", "key": "tls.key"},
		}}},
		{"temporal": object{"namespace": "shop.a1b2c", "tls": object{"enabled": true}, "apiKey": object{"secret": "temporal"}}},
	},
	"door": {
		{},
		{"tls": object{"secret": "wakecall-tls", "clientCASecret": "wakecall-clients", "roles": "shop=operator:order-*"}},
		{
			"oidc": object{
				"issuer": "https://id.example", "audience": "wakecall", "roles": "ops=admin:*",
				"clientID": "console", "clientSecret": object{"secret": "oidc"},
			},
			"apiKeys": object{"secret": ""},
		},
		{"oidc": object{"issuer": "https://id.example", "audience": "wakecall", "roles": "ops=admin:*", "clientID": "console"}},
	},
	"beside": {
		{},
		{
			"redisURL": object{"secret": "redis"}, "brokers": object{"secret": "rabbit"}, "caConfigMap": "private",
			"callbacks": object{"allow": []any{"10.0.0.0/8", "fd00::/8"}, "caConfigMap": "authorities"},
		},
	},
	"words": {
		{},
		{
			"webUI": "https://temporal.example", "trustedProxies": []any{"10.1.0.0/16"}, "audit": "stdout", "auditType": "audit",
			"console":  object{"mode": "read-only", "name": "shop", "colour": "red", "contact": "#ops", "prometheusURL": "http://prometheus:9090"},
			"logLevel": "debug", "stopTimeoutSeconds": 120, "readiness": "/livez",
			"settings": object{"WAKECALL_RECONCILE_INTERVAL": "30s", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4317"},
		},
	},
	"pods": {
		{"serviceAccount": object{"create": false}, "podDisruptionBudget": object{"enabled": false}},
		{
			"serviceAccount":   object{"name": "ringer", "annotations": object{"a": "b"}},
			"imagePullSecrets": []any{object{"name": "registry"}}, "priorityClassName": "high",
			"podLabels": object{"team": "shop"}, "podAnnotations": object{"a": "1"}, "nodeSelector": object{"disk": "ssd"},
			"tolerations":         []any{object{"key": "only", "operator": "Exists", "effect": "NoSchedule"}},
			"affinity":            object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": []any{object{"matchExpressions": []any{object{"key": "zone", "operator": "In", "values": []any{"a"}}}}}}}},
			"podDisruptionBudget": object{"maxUnavailable": "25%"},
			"service":             object{"type": "LoadBalancer", "port": 443, "annotations": object{"a": "b"}},
			"image":               object{"tag": "v1.2.3", "digest": "sha256:" + digest, "pullPolicy": "Always"},
		},
	},
	"network": {
		{},
		{"networkPolicy": object{"enabled": true}},
		{"networkPolicy": object{
			"enabled": true, "apiFrom": []any{object{"namespaceSelector": object{"matchLabels": object{"team": "shop"}}}},
			"metricsFrom": []any{object{"ipBlock": object{"cidr": "10.0.0.0/8"}}},
			"egress":      []any{object{"to": []any{object{"ipBlock": object{"cidr": "10.0.0.0/8"}}}, "ports": []any{object{"protocol": "TCP", "port": 7233}}}},
		}},
	},
	"monitoring": {
		{},
		{"monitoring": object{
			"serviceMonitor": object{"enabled": true, "labels": object{"release": "prometheus"}},
			"prometheusRule": object{"enabled": true, "labels": object{"release": "prometheus"}}, "dashboard": object{"enabled": true},
		}},
	},
}

const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// dimensions are the names of the choices, in a fixed order.
var dimensions = []string{"roles", "temporal", "door", "beside", "words", "pods", "network", "monitoring"}

// over lays values over others, which are left as they are.
func over(below, above object) object {
	laid := maps.Clone(below)
	for name, value := range above {
		inner, isObject := value.(object)
		own, wasObject := laid[name].(object)
		if isObject && wasObject {
			value = over(own, inner)
		}
		laid[name] = value
	}
	return laid
}

// combinations are values in which every three choices meet: what one makes of the chart depends
// on two others at most. At night they are all there are, a few thousand.
func combinations() (all []object) {
	rows := everyRow()
	if os.Getenv("WAKECALL_FAULT") != "long" {
		rows = covering(rows)
	}
	for _, picks := range rows {
		values := least()
		for d, pick := range picks {
			values = over(values, choices[dimensions[d]][pick])
		}
		all = append(all, values)
	}
	return all
}

// selection is a choice of each dimension, by its number.
type selection []int

// everyRow are all rows there are.
func everyRow() []selection {
	rows := []selection{{}}
	for _, dimension := range dimensions {
		var longer []selection
		for _, picks := range rows {
			for pick := range choices[dimension] {
				longer = append(longer, append(slices.Clone(picks), pick))
			}
		}
		rows = longer
	}
	return rows
}

// meeting is three choices, of the dimensions in the even places.
type meeting [6]int

func (r selection) meetings() (found []meeting) {
	for a := range r {
		for b := range a {
			for c := range b {
				found = append(found, meeting{a, r[a], b, r[b], c, r[c]})
			}
		}
	}
	return found
}

func meetingsOf(rows []selection) map[meeting]bool {
	all := map[meeting]bool{}
	for _, r := range rows {
		for _, m := range r.meetings() {
			all[m] = true
		}
	}
	return all
}

// covering picks rows in which every meeting is: always the one with most that are missing.
func covering(rows []selection) (picked []selection) {
	missing := meetingsOf(rows)
	news := func(r selection) (n int) {
		for _, m := range r.meetings() {
			if missing[m] {
				n++
			}
		}
		return n
	}
	for len(missing) > 0 {
		var best selection
		most := 0
		for _, r := range rows {
			if n := news(r); n > most {
				best, most = r, n
			}
		}
		for _, m := range best.meetings() {
			delete(missing, m)
		}
		picked = append(picked, best)
	}
	return picked
}

func TestEveryThreeChoicesMeet(t *testing.T) {
	t.Parallel()
	all := everyRow()
	few := covering(all)
	require.Greater(t, len(all), 1000)
	require.Less(t, len(few), len(all)/10)
	require.Equal(t, meetingsOf(all), meetingsOf(few))
	require.NotEqual(t, meetingsOf(all), meetingsOf(few[1:]), "the oracle sees what is missing")
}

// each are the least values, those with one choice changed, and those with all of them.
func each() map[string]object {
	all := least()
	found := map[string]object{"the least": least()}
	for _, dimension := range dimensions {
		for i, choice := range choices[dimension] {
			found[dimension+" "+string(rune('0'+i))] = over(least(), choice)
		}
		all = over(all, choices[dimension][1])
	}
	found["all"] = all
	return found
}

func TestValuesAreLaidOverOthers(t *testing.T) {
	t.Parallel()
	below := object{"a": object{"b": 1, "c": 2}}
	require.Equal(t, object{"a": object{"b": 3, "c": 2}, "d": 4}, over(below, object{"a": object{"b": 3}, "d": 4}))
	require.Equal(t, object{"a": object{"b": 1, "c": 2}}, below)
}
