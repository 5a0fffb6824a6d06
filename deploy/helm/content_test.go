package helm

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Each wrong value is refused by its name.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	for want, values := range map[string]object{
		"image.repository":            {"image": object{"repository": ""}},
		"image.digest":                {"image": object{"digest": "latest"}},
		"temporal.address":            {"temporal": object{"address": "https://temporal.example"}},
		"temporal.namespace":          {"temporal": object{"namespace": ""}},
		"secretKey.secret":            {"secretKey": object{"secret": ""}},
		"secretKey.value":             {"secretKey": object{"value": "MDEy"}},
		"serve.replicas":              {"serve": object{"replicas": -1}},
		"serve.goMemoryLimit":         {"serve": object{"goMemoryLimit": "1Gi"}},
		"stopTimeoutSeconds":          {"stopTimeoutSeconds": "65s"},
		"caConfigMap":                 {"caConfigMap": "No Name"},
		"audit":                       {"audit": "/var/log/audit"},
		"logLevel":                    {"logLevel": "loud"},
		"readiness":                   {"readiness": "/metrics"},
		"callbacks.allow.0":           {"callbacks": object{"allow": []any{"10.0.0.0"}}},
		"oidc.issuer":                 {"oidc": object{"issuer": "http://id.example"}},
		"oidc.clientSecret.secret":    {"oidc": object{"clientSecret": object{"secret": "No Name"}}},
		"console.mode":                {"console": object{"mode": "loud"}},
		"console.colour":              {"console": object{"colour": "pink"}},
		"settings.WAKECALL_CONSOLE":   {"settings": object{"WAKECALL_CONSOLE": "off"}},
		"settings.WAKECALL_HTTP_ADDR": {"settings": object{"WAKECALL_HTTP_ADDR": "0.0.0.0:80"}},
		"podDisruptionBudgets":        {"podDisruptionBudgets": object{}},
		"above 0":                     {"serve": object{"replicas": 0}},
		"apiKeys":                     {"apiKeys": object{"secret": ""}},
		"networkPolicy.enabled":       {"networkPolicy": object{"enabled": "yes"}},
		"serviceMonitor.interval":     {"monitoring": object{"serviceMonitor": object{"interval": "often"}}},
		"service.type":                {"service": object{"type": "Public"}},
		"trustedProxies.0":            {"trustedProxies": []any{"proxy"}},
		"serviceAccount.create":       {"serviceAccount": object{"create": "no"}},
		"imagePullSecrets.0":          {"imagePullSecrets": []any{"registry"}},
		"worker.resource":             {"worker": object{"resource": object{}}},
		"dashboard.enabled":           {"monitoring": object{"dashboard": object{"enabled": 1}}},
		"prometheusRule.without.0":    {"monitoring": object{"prometheusRule": object{"without": []any{7}}}},
	} {
		_, err := render(over(least(), values))
		require.Error(t, err, want)
		parts := strings.Split(want, ".")
		for _, part := range parts {
			require.Contains(t, err.Error(), part, "%s: %s", want, err)
		}
	}
}

// A pod is given longer than its process takes, and sleeps before.
func TestPodsAreGivenTheTimeToStop(t *testing.T) {
	t.Parallel()
	for _, seconds := range []float64{1, 65, 600} {
		made, err := render(over(least(), object{"stopTimeoutSeconds": seconds}))
		require.NoError(t, err)
		container := made.container(t, "serve")
		require.Equal(t, strings.TrimSuffix(environment(container)["WAKECALL_STOP_TIMEOUT"], "s"), number(seconds))
		sleep := at[float64](container, "lifecycle", "preStop", "sleep", "seconds")
		grace := at[float64](made["Deployment/shop-wakecall-serve"].object, "spec", "template", "spec", "terminationGracePeriodSeconds")
		require.Greater(t, grace, seconds+sleep)
	}
}

func number(n float64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// No secret stands in what is rendered, but by its name.
func TestSecretsAreNamedOnly(t *testing.T) {
	t.Parallel()
	made, err := render(each()["all"])
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(made.kinds(), func(name string) bool { return strings.HasPrefix(name, "Secret/") }))
	for _, role := range []string{"serve", "api", "worker"} {
		if _, has := made["Deployment/shop-wakecall-"+role]; !has {
			continue
		}
		for name, value := range environment(made.container(t, role)) {
			if secretName.MatchString(name) {
				require.Regexp(t, `^(/etc/wakecall/|secret )`, value, name)
			}
		}
	}
	require.Regexp(t, secretName, "TEMPORAL_API_KEY", "the oracle knows a secret's name")
}

var secretName = regexp.MustCompile(`SECRET_KEY|API_KEY|REDIS_URL|BROKERS|TLS_KEY|CLIENT_KEY|CLIENT_SECRET`)

// A worker is told nothing that is a gateway's, and sees none of its secrets.
func TestAWorkerSeesNoSecretOfAGateway(t *testing.T) {
	t.Parallel()
	made, err := render(each()["all"])
	require.NoError(t, err)
	worker := made.container(t, "worker")
	for name := range environment(worker) {
		require.NotRegexp(t, `HTTP_ADDR|API_KEYS|REDIS|WAKECALL_TLS|OIDC|CONSOLE|WAKECALL_NAME|PROMETHEUS|AUDIT|WEB_UI|PROXIES`, name)
	}
	for _, entry := range at[[]any](worker, "volumeMounts") {
		require.Contains(t, []string{"secret-key", "brokers", "temporal-tls", "ca", "callback-ca"}, at[string](entry.(object), "name"))
	}
	require.Contains(t, environment(made.container(t, "api")), "WAKECALL_HTTP_ADDR", "the oracle sees a gateway")
}

// Services find the pods that they are for, and nothing else does.
func TestServicesSelectTheirPods(t *testing.T) {
	t.Parallel()
	made, err := render(over(least(), object{"api": object{"replicas": 1}, "worker": object{"replicas": 1}}))
	require.NoError(t, err)
	for service, roles := range map[string][]string{
		"shop-wakecall": {"api", "serve"}, "shop-wakecall-api-metrics": {"api"}, "shop-wakecall-serve-metrics": {"serve"}, "shop-wakecall-worker-metrics": {"worker"},
	} {
		var selected []string
		for _, role := range []string{"api", "serve", "worker"} {
			labels := at[object](made["Deployment/shop-wakecall-"+role].object, "spec", "template", "metadata", "labels")
			if matches(at[object](made["Service/"+service].object, "spec", "selector"), labels) {
				selected = append(selected, role)
			}
		}
		require.Equal(t, roles, selected, service)
	}
	_, has := made["Service/shop-wakecall-other"]
	require.False(t, has)
}

func matches(selector, labels object) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// The alerts and the dashboard are those of the compose file.
func TestMonitoringIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	everything := object{"monitoring": object{"prometheusRule": object{"enabled": true, "without": []any{}}, "dashboard": object{"enabled": true}, "serviceMonitor": object{"enabled": true}}}
	made, err := render(over(least(), everything))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join("..", "prometheus", "alerts.yml"))
	require.NoError(t, err)
	var alerts object
	require.NoError(t, yaml.Unmarshal(text, &alerts))
	require.Equal(t, alerts["groups"], at[any](made["PrometheusRule/shop-wakecall"].object, "spec", "groups"))
	dashboard, err := os.ReadFile(filepath.Join("..", "grafana", "dashboards", "wakecall.json"))
	require.NoError(t, err)
	require.JSONEq(t, string(dashboard), at[string](made["ConfigMap/shop-wakecall-dashboard"].object, "data", "wakecall.json"))

	relabeled := at[[]any](made["ServiceMonitor/shop-wakecall-serve"].object, "spec", "endpoints")[0].(object)["relabelings"].([]any)[0].(object)
	require.Equal(t, "wakecall-serve", relabeled["replacement"])
	require.Contains(t, string(text), `job=~"wakecall-(api|serve)"`, "the alerts know it by this name")

	made, err = render(over(least(), over(everything, object{"monitoring": object{"prometheusRule": object{"without": []any{"TemporalDown"}}}})))
	require.NoError(t, err)
	require.NotContains(t, string(made["PrometheusRule/shop-wakecall"].text), "TemporalDown")
	require.Contains(t, string(made["PrometheusRule/shop-wakecall"].text), "WakecallNoGateway")
}

// What the chart says itself cannot be said again by settings.
func TestSettingsCannotSayWhatTheChartSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("wakecall/values.schema.json")
	require.NoError(t, err)
	var schema object
	require.NoError(t, json.Unmarshal(text, &schema))
	reserved := slices.Collect(maps.Keys(at[object](schema, "properties", "settings", "properties")))
	helpers, err := os.ReadFile("wakecall/templates/_helpers.tpl")
	require.NoError(t, err)
	var said []string
	for _, found := range regexp.MustCompile(`name: ([A-Z_]+)`).FindAllStringSubmatch(string(helpers), -1) {
		said = append(said, found[1])
	}
	require.ElementsMatch(t, said, reserved)
}

// Every value is in the schema and in values.yaml: an object that the schema does not close
// would take a misspelt name.
func TestTheSchemaKnowsEveryValue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("wakecall/values.yaml")
	require.NoError(t, err)
	var values, schema object
	require.NoError(t, yaml.Unmarshal(text, &values))
	text, err = os.ReadFile("wakecall/values.schema.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &schema))
	properties := at[object](schema, "properties")
	delete(properties, "global") // Helm's own
	require.Len(t, values, len(properties))
	for name := range values {
		require.Contains(t, properties, name)
	}
}

// The chart is of the product's version and names no image of its own.
func TestTheChartNamesNoImage(t *testing.T) {
	t.Parallel()
	_, err := render(over(least(), object{"image": object{"repository": nil}}))
	require.Error(t, err)
	made, err := render(over(least(), object{"image": object{"tag": "v1.2.3", "digest": "sha256:" + digest}}))
	require.NoError(t, err)
	require.Equal(t, "registry.example/wakecall:v1.2.3@sha256:"+digest, made.container(t, "serve")["image"])
}
