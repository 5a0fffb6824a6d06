{{- define "wakecall.name" -}}
{{- $whole := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- $whole | trunc 46 | trimSuffix "-" }}
{{- end }}

{{- define "wakecall.labels" -}}
{{ include "wakecall.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "wakecall.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "wakecall.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "wakecall.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "wakecall.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The roles that have pods, in a fixed order. */ -}}
{{- define "wakecall.roles" -}}
{{- $roles := list }}
{{- range list "serve" "api" "worker" }}
{{- if gt (int (index $.Values .).replicas) 0 }}{{ $roles = append $roles . }}{{ end }}
{{- end }}
{{- if not $roles }}{{ fail "serve, api or worker must have replicas above 0" }}{{ end }}
{{- $roles | toJson }}
{{- end }}

{{- /* The environment of a role; docs/configuration.md says what each means. */ -}}
{{- define "wakecall.environment" -}}
{{- $v := .root.Values }}
{{- $gateway := ne .role "worker" }}
- {name: GOMEMLIMIT, value: {{ (index $v .role).goMemoryLimit | quote }}}
- {name: TEMPORAL_ADDRESS, value: {{ $v.temporal.address | quote }}}
- {name: TEMPORAL_NAMESPACE, value: {{ $v.temporal.namespace | quote }}}
{{- with $v.temporal.tls }}
{{- if .enabled }}
- {name: TEMPORAL_TLS, value: "true"}
{{- with .serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }}}
{{- end }}
{{- with .keys.ca }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/wakecall/temporal-tls/{{ . }}}
{{- end }}
{{- with .keys.certificate }}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/wakecall/temporal-tls/{{ . }}}
{{- end }}
{{- with .keys.key }}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/wakecall/temporal-tls/{{ . }}}
{{- end }}
{{- end }}
{{- end }}
{{- with $v.temporal.apiKey }}
{{- if .secret }}
- name: TEMPORAL_API_KEY
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end }}
{{- end }}
- {name: WAKECALL_SECRET_KEY_FILE, value: /etc/wakecall/secret-key/{{ $v.secretKey.key }}}
{{- if $v.brokers.secret }}
- {name: WAKECALL_BROKERS, value: /etc/wakecall/brokers/{{ $v.brokers.key }}}
{{- end }}
{{- with $v.callbacks.allow }}
- {name: WAKECALL_CALLBACK_ALLOW, value: {{ join "," . | quote }}}
{{- end }}
{{- if $v.callbacks.caConfigMap }}
- {name: WAKECALL_CALLBACK_CA_FILE, value: /etc/wakecall/callback-ca/ca.crt}
{{- end }}
{{- if $v.caConfigMap }}
- {name: SSL_CERT_DIR, value: /etc/wakecall/ca}
{{- end }}
- {name: WAKECALL_METRICS_ADDR, value: "0.0.0.0:9090"}
- {name: WAKECALL_STOP_TIMEOUT, value: {{ printf "%ds" (int $v.stopTimeoutSeconds) }}}
- {name: WAKECALL_LOG_LEVEL, value: {{ $v.logLevel }}}
{{- if $gateway }}
- {name: WAKECALL_HTTP_ADDR, value: "0.0.0.0:8080"}
{{- if $v.apiKeys.secret }}
- {name: WAKECALL_API_KEYS_FILE, value: /etc/wakecall/api-keys/{{ $v.apiKeys.key }}}
{{- end }}
{{- if $v.redisURL.secret }}
- {name: WAKECALL_REDIS_URL_FILE, value: /etc/wakecall/redis-url/{{ $v.redisURL.key }}}
{{- end }}
{{- if $v.tls.secret }}
- {name: WAKECALL_TLS_CERT_FILE, value: /etc/wakecall/tls/tls.crt}
- {name: WAKECALL_TLS_KEY_FILE, value: /etc/wakecall/tls/tls.key}
{{- end }}
{{- if $v.tls.clientCASecret }}
- {name: WAKECALL_TLS_CLIENT_CA_FILE, value: /etc/wakecall/client-ca/ca.crt}
{{- with $v.tls.roles }}
- {name: WAKECALL_TLS_ROLES, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- with $v.oidc }}
{{- if .issuer }}
- {name: WAKECALL_OIDC_ISSUER, value: {{ .issuer | quote }}}
- {name: WAKECALL_OIDC_AUDIENCE, value: {{ .audience | quote }}}
- {name: WAKECALL_OIDC_ROLES, value: {{ .roles | quote }}}
- {name: WAKECALL_OIDC_GROUPS_CLAIM, value: {{ .groupsClaim | quote }}}
{{- with .clientID }}
- {name: WAKECALL_OIDC_CLIENT_ID, value: {{ . | quote }}}
{{- end }}
{{- with .clientSecret }}
{{- if .secret }}
- {name: WAKECALL_OIDC_CLIENT_SECRET_FILE, value: /etc/wakecall/oidc-client/{{ .key }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with $v.console }}
- {name: WAKECALL_CONSOLE, value: {{ .mode | quote }}}
{{- with .name }}
- {name: WAKECALL_NAME, value: {{ . | quote }}}
{{- end }}
{{- with .colour }}
- {name: WAKECALL_CONSOLE_COLOUR, value: {{ . | quote }}}
{{- end }}
{{- with .contact }}
- {name: WAKECALL_CONSOLE_CONTACT, value: {{ . | quote }}}
{{- end }}
{{- with .prometheusURL }}
- {name: WAKECALL_PROMETHEUS_URL, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- with $v.webUI }}
- {name: WAKECALL_WEB_UI_URL, value: {{ . | quote }}}
{{- end }}
{{- with $v.trustedProxies }}
- {name: WAKECALL_TRUSTED_PROXIES, value: {{ join "," . | quote }}}
{{- end }}
- {name: WAKECALL_AUDIT, value: {{ $v.audit | quote }}}
{{- with $v.auditType }}
- {name: WAKECALL_AUDIT_TYPE, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- range $name, $value := $v.settings }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- /* What is mounted for a role: directories below /etc/wakecall, as a list of name and source. */ -}}
{{- define "wakecall.mounted" -}}
{{- $v := .root.Values }}
{{- $gateway := ne .role "worker" }}
{{- $all := list (dict "name" "secret-key" "secret" $v.secretKey.secret) }}
{{- with $v.brokers.secret }}{{ $all = append $all (dict "name" "brokers" "secret" .) }}{{ end }}
{{- if $v.temporal.tls.enabled }}
{{- with $v.temporal.tls.secret }}{{ $all = append $all (dict "name" "temporal-tls" "secret" .) }}{{ end }}
{{- end }}
{{- with $v.caConfigMap }}{{ $all = append $all (dict "name" "ca" "configMap" .) }}{{ end }}
{{- with $v.callbacks.caConfigMap }}{{ $all = append $all (dict "name" "callback-ca" "configMap" .) }}{{ end }}
{{- if $gateway }}
{{- with $v.apiKeys.secret }}{{ $all = append $all (dict "name" "api-keys" "secret" .) }}{{ end }}
{{- with $v.redisURL.secret }}{{ $all = append $all (dict "name" "redis-url" "secret" .) }}{{ end }}
{{- with $v.tls.secret }}{{ $all = append $all (dict "name" "tls" "secret" .) }}{{ end }}
{{- with $v.tls.clientCASecret }}{{ $all = append $all (dict "name" "client-ca" "secret" .) }}{{ end }}
{{- if $v.oidc.issuer }}
{{- with $v.oidc.clientSecret.secret }}{{ $all = append $all (dict "name" "oidc-client" "secret" .) }}{{ end }}
{{- end }}
{{- end }}
{{- $all | toJson }}
{{- end }}
