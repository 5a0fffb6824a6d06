package helm

import (
	"maps"
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
			"redisURL": object{"secret": "redis"}, "brokers": object{"secret": "rabbit"},
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

// combinations calls do with the values of every combination of choices.
func combinations(do func(values object)) { combine(least(), dimensions, do) }

func combine(values object, rest []string, do func(object)) {
	if len(rest) == 0 {
		do(values)
		return
	}
	for _, choice := range choices[rest[0]] {
		combine(over(values, choice), rest[1:], do)
	}
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
