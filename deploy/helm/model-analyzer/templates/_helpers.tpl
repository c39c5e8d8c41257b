{{- /* SPDX-FileCopyrightText: 2026 The model-analyzer authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "run.name" -}}
{{- .Values.name | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "run.metadata" -}}
name: {{ include "run.name" . | quote }}
labels:
  app.kubernetes.io/name: model-analyzer
{{- end -}}

{{- /* The command of the run, as a JSON list in an object. */ -}}
{{- define "run.command" -}}
{{- $command := list "model-analyzer" "profile" "-f" "/config/config.yaml" -}}
{{- if eq .Values.kind "rayjob" -}}
{{- $command = concat $command (list "--executor" "ray" "--ray-address" "auto") -}}
{{- else -}}
{{- $command = concat $command (list "--executor" "local") -}}
{{- end -}}
{{- if .Values.modelsClaim -}}
{{- $command = concat $command (list "--model-repository" "/models") -}}
{{- end -}}
{{- $command = concat $command (list "--output-model-repository-path" "/tmp/variants") -}}
{{- $command = concat $command (list "--checkpoint-directory" "/data/checkpoints") -}}
{{- $command = concat $command (list "--export-path" "/data/results" "--progress" "plain") -}}
{{- dict "command" $command | toJson -}}
{{- end -}}

{{- /* A pod: dict root, component, container (its own part), data (whether it has the claim). */ -}}
{{- define "run.pod" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    app.kubernetes.io/name: model-analyzer
    app.kubernetes.io/component: {{ .component }}
spec:
  serviceAccountName: {{ include "run.name" $root | quote }}
  automountServiceAccountToken: false
{{- if or (eq $values.kind "job") (eq .component "submitter") }}
  restartPolicy: Never
{{- end }}
  terminationGracePeriodSeconds: 120
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
{{- if eq .component "slot" }}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: model-analyzer
              app.kubernetes.io/component: slot
{{- end }}
  containers:
    - # one container
      {{- toYaml .container | nindent 6 }}
      image: {{ $values.image | quote }}
      workingDir: {{ ternary "/data" "/tmp" .data }}
      env:
        - name: HOME
          value: /tmp
        - name: XDG_CACHE_HOME
          value: /cache
        - name: RAY_worker_niceness
          value: "0"
      envFrom:
        - secretRef:
            name: {{ printf "%s-environment" (include "run.name" $root) | quote }}
            optional: true
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
{{- $limits := dict -}}
{{- if eq .component "slot" -}}
{{- if $values.cpus }}{{ $_ := set $limits "cpu" (int $values.cpus) }}{{ end -}}
{{- if $values.gpus }}{{ $_ := set $limits "nvidia.com/gpu" (int $values.gpus) }}{{ end -}}
{{- end }}
{{- if $limits }}
      resources:
        limits:
          {{- toYaml $limits | nindent 10 }}
        requests:
          {{- toYaml $limits | nindent 10 }}
{{- else }}
      resources: {}
{{- end }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        - name: cache
          mountPath: /cache
        - name: shared-memory
          mountPath: /dev/shm
{{- if $values.modelsClaim }}
        - name: models
          mountPath: /models
          readOnly: true
{{- end }}
{{- if .data }}
        - name: data
          mountPath: /data
        - name: config
          mountPath: /config
          readOnly: true
{{- end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 16Gi
    - name: cache
      emptyDir:
        sizeLimit: 16Gi
    - name: shared-memory
      emptyDir:
        medium: Memory
        sizeLimit: {{ $values.sharedMemory | quote }}
{{- if $values.modelsClaim }}
    - name: models
      persistentVolumeClaim:
        claimName: {{ $values.modelsClaim | quote }}
        readOnly: true
{{- end }}
{{- if .data }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ include "run.name" $root | quote }}
    - name: config
      configMap:
        name: {{ include "run.name" $root | quote }}
{{- end }}
{{- end -}}
