{{- define "countersign.environment" -}}
{{- if not (or .Values.operatorPasswordKey .Values.settings.COUNTERSIGN_OIDC_ISSUER) }}
{{- fail "operatorPasswordKey is empty and settings name no COUNTERSIGN_OIDC_ISSUER: a node would show a generated password in its log. Put a hash from `countersign operator-password` into the Secret and name its key." }}
{{- end }}
{{- if kindIs "invalid" .Values.tlsTerminatedUpstream }}
{{- fail "tlsTerminatedUpstream is not set: true where TLS ends at the ingress, false where the service has certificates of its own." }}
{{- end -}}
# Made by the node itself, closed to others: the volume's own folder is not.
- name: COUNTERSIGN_DATA_DIR
  value: /var/lib/countersign/data
- name: COUNTERSIGN_METRICS_LISTEN
  value: 0.0.0.0:8083
- name: COUNTERSIGN_PRODUCTION_URL
  value: {{ .Values.urls.production | quote }}
- name: COUNTERSIGN_SANDBOX_URL
  value: {{ .Values.urls.sandbox | quote }}
- name: COUNTERSIGN_ADMIN_URL
  value: {{ .Values.urls.admin | quote }}
{{- with .Values.urls.capture }}
- name: COUNTERSIGN_CAPTURE_LISTEN
  value: 0.0.0.0:8084
- name: COUNTERSIGN_CAPTURE_URL
  value: {{ . | quote }}
{{- end }}
- name: COUNTERSIGN_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
- name: COUNTERSIGN_TLS_TERMINATED_UPSTREAM
  value: {{ .Values.tlsTerminatedUpstream | quote }}
- name: COUNTERSIGN_DATABASE
  value: {{ .Values.database.url | quote }}
- name: COUNTERSIGN_DATABASE_PASSWORD_FILE
  value: /run/secrets/countersign/database.password
- name: COUNTERSIGN_MASTER_KEY_FILE
  value: /run/secrets/countersign/master.key
{{- if .Values.epochKeys.existingClaim }}
- name: COUNTERSIGN_EPOCH_KEYS
  value: /epochs
{{- end }}
{{- with .Values.operatorPasswordKey }}
- name: COUNTERSIGN_OPERATOR_PASSWORD_FILE
  value: /run/secrets/countersign/{{ . }}
{{- end }}
{{- with .Values.model.pack }}
- name: COUNTERSIGN_MODEL_PACK
  value: {{ . | quote }}
{{- end }}
- name: COUNTERSIGN_ACCEPT_PACK
  value: {{ .Values.model.accept | quote }}
{{- if .Values.model.existingClaim }}
- name: COUNTERSIGN_MODELS_DIR
  value: /models
{{- end }}
- name: COUNTERSIGN_WORKERS
  value: {{ .Values.workers | quote }}
- name: COUNTERSIGN_DEADLINE_MS
  value: {{ .Values.deadlineMs | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
