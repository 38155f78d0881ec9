{{- define "tessera.name" -}}
{{- printf "%s" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "tessera.selector" -}}
app.kubernetes.io/name: tessera
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "tessera.labels" -}}
{{ include "tessera.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
{{- define "tessera.secret" -}}
{{- .Values.database.existingSecret | default (include "tessera.name" .) -}}
{{- end -}}
{{- /* Variables that nobody should read in a pod's description. */ -}}
{{- define "tessera.confidential" -}}
{{- list "DATABASE_URL" "TESSERA_SECRET_KEY" "MEMORY_ENCRYPTION_KEY" "TESSERA_SECRET_KEY_BEFORE" "API_KEY" "API_KEYS" "VAULT_TOKEN" | toJson -}}
{{- end -}}
{{- /* Where each of them lies in the secret. */ -}}
{{- define "tessera.keys" -}}
{{- dict "DATABASE_URL" .Values.database.key "TESSERA_SECRET_KEY" .Values.secrets.keyName "TESSERA_SECRET_KEY_BEFORE" (printf "%s-before" .Values.secrets.keyName) "MEMORY_ENCRYPTION_KEY" "memory-encryption-key" "API_KEY" "api-key" "API_KEYS" "api-keys" "VAULT_TOKEN" "vault-token" | toJson -}}
{{- end -}}
