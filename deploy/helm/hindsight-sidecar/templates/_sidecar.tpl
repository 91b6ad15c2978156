{{/*
Three templates for the pod of another chart. Each takes a dict:

  image         the sidecar's image; required
  llmApiBase    the model API that it forwards to; required
  anthropicBase that of Anthropic's message format, where it is another
  tenant        whose memories they are, where the ConfigMap doesn't say so
  drainGrace    how long streams may go on after SIGTERM; below the pod's own
                terminationGracePeriodSeconds. "600s" where left out
  configName    the ConfigMap and the Secret with further settings; "hindsight"
                where left out, and neither has to exist
  dataVolume    a volume of the pod for the data; where left out, one that ends
                with the pod
  resources     the sidecar's

In the pod's template:

  {{- $h := dict "image" "hindsight:v1" "llmApiBase" "https://api.openai.com/v1" }}
  metadata:
    labels:
      {{- include "hindsight-sidecar.labels" $h | nindent 6 }}
  spec:
    terminationGracePeriodSeconds: 630
    initContainers:
      {{- include "hindsight-sidecar.container" $h | nindent 6 }}
    containers:
      - name: app
        env:
          {{- include "hindsight-sidecar.env" $h | nindent 10 }}
    volumes:
      {{- include "hindsight-sidecar.volumes" $h | nindent 6 }}
*/}}

{{- define "hindsight-sidecar.labels" -}}
hindsight/sidecar: "true"
{{- end }}

{{- define "hindsight-sidecar.env" -}}
- {name: LLM_API_BASE, value: "http://127.0.0.1:18080/v1"}
- {name: OPENAI_BASE_URL, value: "http://127.0.0.1:18080/v1"}
- {name: ANTHROPIC_BASE_URL, value: "http://127.0.0.1:18080"}
{{- end }}

{{- define "hindsight-sidecar.volumes" -}}
{{- if not .dataVolume }}
- {name: hindsight-data, emptyDir: {}}
{{- end }}
- name: hindsight-identity
  secret: {secretName: hindsight-identity, optional: true}
{{- end }}

{{- define "hindsight-sidecar.container" -}}
{{- $config := .configName | default "hindsight" -}}
- name: hindsight
  image: {{ required "the dict needs an image" .image | quote }}
  args: [serve]
  restartPolicy: Always
  envFrom:
    - configMapRef: {name: {{ $config | quote }}, optional: true}
    - secretRef: {name: {{ $config | quote }}, optional: true}
  env:
    # Loopback: nobody outside the pod reaches it.
    - {name: HINDSIGHT_LISTEN, value: "127.0.0.1:18080"}
    - {name: HINDSIGHT_ADMIN_LISTEN, value: "127.0.0.1:18081"}
    - {name: HINDSIGHT_METRICS_LISTEN, value: ":18082"}
    - {name: HINDSIGHT_DATA_DIR, value: /data/hindsight}
    - {name: HINDSIGHT_LOG_FORMAT, value: json}
    - {name: GOMEMLIMIT, value: 900MiB}
    - {name: HINDSIGHT_DRAIN_GRACE, value: {{ .drainGrace | default "600s" | quote }}}
    {{- with .tenant }}
    - {name: HINDSIGHT_TENANT, value: {{ . | quote }}}
    {{- end }}
    - {name: LLM_API_BASE, value: {{ required "the dict needs an llmApiBase" .llmApiBase | quote }}}
    {{- with .anthropicBase }}
    - {name: LLM_API_BASE_ANTHROPIC, value: {{ . | quote }}}
    {{- end }}
  ports:
    - {name: hs-metrics, containerPort: 18082, protocol: TCP}
  # All of them ask whether requests can be forwarded. Memory that is off leaves
  # a pod in its Service.
  startupProbe:
    exec: {command: [/hindsight, health]}
    periodSeconds: 1
    timeoutSeconds: 5
    failureThreshold: 60
  readinessProbe:
    exec: {command: [/hindsight, health]}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  livenessProbe:
    exec: {command: [/hindsight, health]}
    periodSeconds: 30
    timeoutSeconds: 5
    failureThreshold: 4
  lifecycle:
    preStop:
      sleep: {seconds: 2}
  resources:
    {{- if .resources }}
    {{- toYaml .resources | nindent 4 }}
    {{- else }}
    requests: {cpu: 50m, memory: 128Mi}
    limits: {memory: 1Gi}
    {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
  volumeMounts:
    - {name: {{ .dataVolume | default "hindsight-data" | quote }}, mountPath: /data}
    - {name: hindsight-identity, mountPath: /etc/hindsight, readOnly: true}
{{- end }}
