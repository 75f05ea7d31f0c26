/** Templates of manifests: fields replaced with expressions on values. */
import { mapStrings, type Source } from "./sources.ts";
import { eachOf, either, expression, TemplateField, when, wholeValue, wholeValueIfSet } from "./template.ts";

/** A manifest whose fields are looked up by their path. */
export type Fields = { [key: string]: unknown };

const namespace = ".Release.Namespace";

/** The ConfigMap with the configuration of NATS servers. */
export const natsConfigName = "nats-config";

/** The namespace in the kustomizations. */
export const manifestNamespace = "denrei";

/** A value as a quoted string, so that YAML does not read it as another type. */
export const quoted = (value: string): string => expression(`${value} | quote`);

/** The object, moved to the namespace of the release. */
export const inNamespace = <T extends Source>(object: T): T =>
  mapStrings(object, (value, key) =>
    key === "namespace" && value === manifestNamespace
      ? quoted(namespace)
      : value.replaceAll(`.${manifestNamespace}.svc`, `.${expression(namespace)}.svc`),
  );

/** The object at a path, in which numbers are list indices. Throws when the path does not lead to an object. */
export function at(object: object, ...path: readonly (string | number)[]): Fields {
  let found: unknown = object;
  for (const key of path) found = (found as Record<string | number, unknown> | undefined)?.[key];
  if (typeof found !== "object" || found === null)
    throw new Error(`expected ${path.join(".")} in ${JSON.stringify(object).slice(0, 200)}, found ${found}`);
  return found as Fields;
}

/** The values of a workload. Names of functions may have dashes, so these are indexed. */
export const valuesOf = (workload: string): string =>
  ["bridge", "gateway", "dashboard", "admission"].includes(workload)
    ? `.Values.${workload}`
    : `(index .Values.functions ${JSON.stringify(workload)})`;

const image = [
  "{{ .Values.image.repository }}",
  "{{- if .Values.image.digest }}@{{ .Values.image.digest }}",
  "{{- else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}",
].join("");

/** The Deployment of a workload. A change in what one of the `settings` templates renders to replaces its pods. */
export function workload(
  deployment: Source,
  name: string,
  settings: readonly string[] = ["settings.yaml"],
): Source {
  const object = structuredClone(deployment);
  const values = valuesOf(name);
  const spec = at(object, "spec");
  const scaled = values.startsWith("(");
  const replicas = expression(`int ${values}.replicas`);
  // With an autoscaler, setting replicas would undo its count on each upgrade.
  spec.replicas = scaled ? when('eq .Values.autoscaling "none"', replicas) : replicas;
  const container = at(spec, "template", "spec", "containers", 0);
  container.image = new TemplateField((key, indent) => [`${" ".repeat(indent)}${key}: ${image}`]);
  container.imagePullPolicy = when(".Values.image.pullPolicy", quoted(".Values.image.pullPolicy"));
  container.resources = wholeValue(`${values}.resources`);
  at(spec, "template", "spec").imagePullSecrets = wholeValueIfSet(".Values.image.pullSecrets");
  setPodFields(at(spec, "template"), settings);
  return object;
}

/** Workers that render charts. They get the modules from the image in the values, if there is one. */
export function chartModules(object: Source, withModules: Source): Source {
  const image = ".Values.chartModules.image";
  const pod = (of: Source) => at(of, "spec", "template", "spec");
  const container = (of: Source) => at(pod(of), "containers", 0);
  const choose = (target: Fields, field: string, chosen: unknown) => {
    target[field] = target[field] === undefined ? when(image, chosen) : either(image, chosen, target[field]);
  };
  const copies = structuredClone(pod(withModules).initContainers) as Fields[];
  for (const copy of copies)
    Object.assign(copy, { image: quoted(image), imagePullPolicy: container(object).imagePullPolicy });
  choose(pod(object), "initContainers", copies);
  choose(pod(object), "volumes", pod(withModules).volumes);
  for (const field of ["env", "volumeMounts"])
    choose(container(object), field, container(withModules)[field]);
  return object;
}

/** Adds the checksum of settings, by which pods are replaced, and node selection to a pod template. */
function setPodFields(template: Fields, settings: readonly string[]): void {
  const metadata = at(template, "metadata");
  metadata.annotations = {
    ...(metadata.annotations as object | undefined),
    "checksum/settings": expression(`${contentsOf(settings)} | sha256sum`),
  };
  const spec = at(template, "spec");
  spec.nodeSelector = wholeValueIfSet(".Values.nodeSelector");
  spec.tolerations = wholeValueIfSet(".Values.tolerations");
}

/** A template expression for the concatenated output of these templates. */
function contentsOf(names: readonly string[]): string {
  const all = names.map((name) => `include (print $.Template.BasePath "/${name}") .`);
  return all.length === 1 ? all.join("") : `print ${all.map((one) => `(${one})`).join(" ")}`;
}

/** The gateway's Service. */
export function gatewayService(service: Source): Source {
  const object = structuredClone(service);
  const { type, nodePort } = {
    type: ".Values.gateway.service.type",
    nodePort: ".Values.gateway.service.nodePort",
  };
  at(object, "spec").type = when(`ne ${type} "ClusterIP"`, quoted(type));
  at(object, "spec", "ports", 0).nodePort = when(nodePort, expression(`int ${nodePort}`));
  return object;
}

/** The ConfigMap that all processes read. */
export function settings(map: Source): Source {
  const { NATS_URL, DENREI_CLUSTER } = at(map, "data");
  const external = ".Values.nats.external.url";
  const data = {
    NATS_URL: either(external, quoted(external), NATS_URL),
    DENREI_CLUSTER,
    DENREI_STREAM_REPLICAS: either(
      external,
      expression(".Values.nats.external.streamReplicas | toString | quote"),
      expression(".Values.nats.servers | toString | quote"),
    ),
    others: eachOf(".Values.settings"),
  };
  return Object.assign(structuredClone(map), { data });
}

/** A StatefulSet of NATS servers. */
export function natsServers(set: Source): Source {
  const object = structuredClone(set);
  const template = at(object, "spec", "template");
  for (const container of Object.values(at(template, "spec", "containers")) as Fields[]) {
    const server = container.name === "nats";
    container.image = quoted(server ? ".Values.nats.image" : ".Values.nats.metricsImage");
    if (server) container.resources = wholeValue(".Values.nats.resources");
  }
  at(template, "spec").imagePullSecrets = wholeValueIfSet(".Values.image.pullSecrets");
  setPodFields(template, [`${natsConfigName}.yaml`]);
  const claim = at(object, "spec", "volumeClaimTemplates", 0, "spec");
  claim.storageClassName = when(".Values.nats.storageClass", quoted(".Values.nats.storageClass"));
  at(claim, "resources", "requests").storage = quoted(".Values.nats.storage");
  return object;
}

const fileStore = /(max_file_store: )(\S+)/;

/** The `max_file_store` in the configuration of the servers. */
export const fileStoreIn = (map: Source): string =>
  fileStore.exec(String(at(map, "data")["nats.conf"]))?.[2] ?? "";

/** The configuration of NATS servers. */
export function natsConfiguration(map: Source): Source {
  const object = structuredClone(map);
  const data = at(object, "data");
  data["nats.conf"] = String(data["nats.conf"]).replace(
    fileStore,
    `$1${expression(".Values.nats.maxFileStore")}`,
  );
  return object;
}

/** The ScaledObject or HorizontalPodAutoscaler of a function. */
export function autoscaler(scaler: Source, name: string): Source {
  const object = structuredClone(scaler);
  const spec = at(object, "spec");
  const least = spec.minReplicaCount === undefined ? "minReplicas" : "minReplicaCount";
  const most = spec.maxReplicaCount === undefined ? "maxReplicas" : "maxReplicaCount";
  spec[least] = expression(`${valuesOf(name)}.minReplicas | default ${spec[least]} | int`);
  spec[most] = expression(`int ${valuesOf(name)}.maxReplicas`);
  return object;
}

/** The ConfigMap with the monitoring endpoint of the bus, for KEDA. */
export function busMonitor(map: Source): Source {
  const object = structuredClone(map);
  const data = at(object, "data");
  const external = ".Values.nats.external";
  const externalEndpoint = `required "nats.external.monitor: expected host:port for KEDA" ${external}.monitor`;
  data.endpoint = either(`${external}.url`, quoted(externalEndpoint), data.endpoint);
  return object;
}

/** A NetworkPolicy, with the namespaces of KEDA and Prometheus from the values. */
export function networkPolicy(policy: Source): Source {
  const names: Readonly<Record<string, string>> = {
    keda: quoted(".Values.networkPolicies.kedaNamespace"),
    monitoring: quoted(".Values.networkPolicies.monitoringNamespace"),
  };
  const object = mapStrings(policy, (value, key) =>
    key === "kubernetes.io/metadata.name" ? (names[value] ?? value) : value,
  );
  const { name } = object.metadata;
  if (name === "denrei-api-server")
    at(object, "spec").egress = wholeValue(".Values.networkPolicies.apiServer");
  if (name === "denrei-bus") {
    const spec = at(object, "spec");
    spec.egress = either(
      ".Values.nats.external.url",
      wholeValue(".Values.nats.external.egress"),
      spec.egress,
    );
  }
  return object;
}

/** The Ingress to the gateway. */
export function ingress(source: Source): Source {
  const object = structuredClone(source);
  const values = ".Values.ingress";
  at(object, "metadata").annotations = wholeValueIfSet(`${values}.annotations`);
  const spec = at(object, "spec");
  spec.ingressClassName = when(`${values}.className`, quoted(`${values}.className`));
  spec.tls = when(`${values}.tlsSecret`, [
    { hosts: [quoted(`${values}.host`)], secretName: quoted(`${values}.tlsSecret`) },
  ]);
  const rule = at(spec, "rules", 0);
  rule.host = quoted(`${values}.host`);
  const path = at(rule, "http", "paths", 0);
  path.path = webhookPath(path.path);
  return object;
}

/** The HTTPRoute to the gateway. */
export function httpRoute(source: Source): Source {
  const object = structuredClone(source);
  const spec = at(object, "spec");
  spec.hostnames = wholeValue(".Values.httpRoute.hosts");
  spec.parentRefs = wholeValue(".Values.httpRoute.parentRefs");
  const path = at(spec, "rules", 0, "matches", 0, "path");
  path.value = webhookPath(path.value);
  return object;
}

const webhookPath = (defaultPath: unknown): string =>
  expression(`.Values.settings.DENREI_WEBHOOK_PATH | default ${JSON.stringify(defaultPath)}`);
