{{- define "ptah.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* 50 characters leave room for the longest suffix below the 63 of a label and of a Service's name. */}}
{{- define "ptah.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "ptah.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "ptah.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ptah.selectorLabels" -}}
app.kubernetes.io/name: {{ include "ptah.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "ptah.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "ptah.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "ptah.serviceAccountName" -}}
{{- if .Values.serviceAccount.name }}
{{- .Values.serviceAccount.name }}
{{- else if .Values.serviceAccount.create }}
{{- include "ptah.fullname" . }}
{{- else }}
{{- fail "serviceAccount.create is false: name the ServiceAccount that the manager runs as in serviceAccount.name. It must be the manager's alone, since admission policies trust it by name" }}
{{- end }}
{{- end }}

{{- define "ptah.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "ptah.serviceAccountName" . }}
{{- end }}

{{- define "ptah.coordinationNamespace" -}}
{{- default .Release.Namespace .Values.coordination.namespace }}
{{- end }}

{{- define "ptah.servingSecret" -}}
{{ include "ptah.fullname" . }}-serving
{{- end }}

{{/* Images run by digest: it is what a plan is bound to, and a tag can move. */}}
{{- define "ptah.requireDigests" -}}
{{- if or (not .Values.image.digest) (not .Values.runner.images.postgresql.digest) }}
{{- fail "images run by digest only: set image.digest and runner.images.postgresql.digest (sha256:<64 hex digits>); a released chart carries both, a chart from the source tree does not" }}
{{- end }}
{{- end }}

{{- define "ptah.image" -}}
{{ .repository }}@{{ .digest }}
{{- end }}
