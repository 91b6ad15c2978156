{{- define "hindsight.name" -}}
{{- if contains "hindsight" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-hindsight" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "hindsight.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What selects the pods of a part; a dict of root and part. */}}
{{- define "hindsight.selector" -}}
app.kubernetes.io/name: {{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "hindsight.labels" -}}
{{ include "hindsight.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "hindsight.weaviate" -}}
{{ include "hindsight.name" . }}-weaviate
{{- end }}

{{/* Where the memories are; empty: in each pod. */}}
{{- define "hindsight.vectorDB" -}}
{{- if .Values.weaviate.enabled }}http://{{ include "hindsight.weaviate" . }}:8080{{ else }}{{ .Values.weaviate.url }}{{ end }}
{{- end }}

{{/* What can't work is refused before it is installed. */}}
{{- define "hindsight.check" -}}
{{- if and .Values.weaviate.enabled .Values.weaviate.url }}{{ fail "weaviate.enabled and weaviate.url exclude each other" }}{{ end }}
{{- if .Values.enabled }}
{{- if and (gt (int .Values.replicas) 1) (not (include "hindsight.vectorDB" .)) }}{{ fail "replicas above 1 need weaviate.enabled or weaviate.url: they share their memories there" }}{{ end }}
{{- if and (include "hindsight.vectorDB" .) (not .Values.identity.existingSecret) }}{{ fail "Weaviate needs identity.existingSecret: kubectl create secret generic hindsight-identity --from-file=identity.key=<(head -c 32 /dev/urandom)" }}{{ end }}
{{- end }}
{{- if and .Values.webhook.existingSecret (not .Values.webhook.caBundle) }}{{ fail "webhook.existingSecret needs webhook.caBundle, the certificate of its authority" }}{{ end }}
{{- end }}
