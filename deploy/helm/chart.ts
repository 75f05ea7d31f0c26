/** The files of the chart. */
import { readFile } from "node:fs/promises";
import { functions } from "../../functions/index.ts";
import application from "../../functions/paas/application.ts";
import { operatorManifests } from "../generate/monitoring/rules.ts";
import { bridgeName, dashboardName, gatewayName, workloadName } from "../generate/rbac.ts";
import { imageName, settingsName } from "../generate/workloads.ts";
import { yamlText } from "../generate/yaml.ts";
import { type BusFor, ofCluster } from "./cluster.ts";
import { dashboardDefaults, dashboardTemplates } from "./dashboard.ts";
import * as places from "./places.ts";
import { identity, type Source, type Sources, sources } from "./sources.ts";
import { conditional, templateText } from "./template.ts";
import { type Defaults, schemaText, valuesSchema, valuesText } from "./values.ts";

/** Contents by path, relative to the chart's folder. */
export type ChartFiles = ReadonlyMap<string, string>;

/**
 * Makes the chart from the manifests, for functions of one cluster (`DENREI_CLUSTER`). A caller that has the
 * rendered manifests passes them as `rendered`. Throws when kustomize is missing and cannot be obtained.
 */
export async function chartFiles(bus: BusFor, rendered?: Sources): Promise<ChartFiles> {
  const from = ofCluster(rendered ?? (await sources()), bus);
  const schema = valuesSchema(defaultsIn(from));
  const files = new Map([
    ["Chart.yaml", await about()],
    [
      "values.yaml",
      `# Made by \`npm run chart\` from the manifests. Choose in a file of your own: helm install -f <file>\n${valuesText(schema)}`,
    ],
    ["values.schema.json", schemaText(schema)],
  ]);
  for (const crd of from.base.filter(({ kind }) => kind === "CustomResourceDefinition"))
    files.set(`crds/${crd.metadata.name}.yaml`, yamlText([crd]));
  for (const [name, text] of templates(from)) files.set(`templates/${name}`, text);
  return files;
}

/** The first that has, as it comes, what the manifests use: `preStop.sleep`, and ValidatingAdmissionPolicies for `app-use`. */
const oldestKubernetes = "1.30.0";

async function about(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { name, version, description } = JSON.parse(text) as Record<string, string>;
  // With the dash, versions of distributions (v1.30.1-gke.100) count as later ones.
  const kubeVersion = `>=${oldestKubernetes}-0`;
  return yamlText([
    { apiVersion: "v2", name, description, type: "application", version, appVersion: version, kubeVersion },
  ]);
}

/** The names of workloads in the values, by their names in the cluster. */
const workloads = new Map([
  [bridgeName, "bridge"],
  [gatewayName, "gateway"],
  ...functions.map((fn) => [workloadName(fn), fn.name] as const),
]);

const nats = "nats";
/** What is not in the chart: Helm makes no namespace, and does not template CRDs. */
const elsewhere = ["Namespace", "CustomResourceDefinition"];

const find = (objects: readonly Source[], kind: string, name: string): Source => {
  const found = objects.find((object) => identity(object) === `${kind} ${name}`);
  if (found === undefined) throw new Error(`expected a ${kind} ${name} in the kustomization`);
  return found;
};

const ownerOf = ({ metadata }: Source): string => metadata.labels?.["app.kubernetes.io/name"] ?? "";

function templates({ base, cluster, withModules, added }: Sources): [string, string][] {
  const text = (objects: readonly Source[], change: (object: Source) => Source = (object) => object) =>
    templateText(objects.map((object) => change(places.inNamespace(object))));
  const rest = base.filter(({ kind }) => !elsewhere.includes(kind));
  const oneOrThree = (of: (objects: readonly Source[]) => string) =>
    conditional(
      "not .Values.nats.external.url",
      `{{- if eq (int .Values.nats.servers) 3 }}\n${of(cluster)}{{- else }}\n${of(base)}{{- end }}\n`,
    );
  const isConfig = (object: Source) => identity(object) === `ConfigMap ${places.natsConfigName}`;
  const scalers = (objects: readonly Source[]) =>
    objects
      .filter((object) => workloads.has(ownerOf(object)))
      .map((object) => {
        const name = workloads.get(ownerOf(object)) ?? "";
        return conditional(
          `${places.valuesOf(name)}.enabled`,
          `---\n${text([object], (one) => places.autoscaler(one, name))}`,
        );
      })
      .join("");
  const shared = added.keda.filter((object) => !workloads.has(ownerOf(object)));
  const monitor = text(shared, (object) =>
    object.kind === "ConfigMap" ? places.busMonitor(object) : object,
  );
  const own: [string, string][] = [...workloads].map(([owner, name]) => {
    const documents = text(
      rest.filter((object) => ownerOf(object) === owner),
      (object) => workloadPlaces(object, name, withModules),
    );
    return owner === bridgeName || owner === gatewayName
      ? [`${name}.yaml`, documents]
      : [`functions/${name}.yaml`, conditional(`${places.valuesOf(name)}.enabled`, documents)];
  });
  const policies = added["network-policies"];
  const ofNats = policies.filter(({ metadata }) => metadata.name === "denrei-nats");
  const others = policies.filter((policy) => !ofNats.includes(policy));
  const made: [string, string][] = [
    ["settings.yaml", text([find(base, "ConfigMap", settingsName)], places.settings)],
    [
      `${places.natsConfigName}.yaml`,
      oneOrThree((objects) => text(objects.filter(isConfig), places.natsConfiguration)),
    ],
    [
      "nats.yaml",
      oneOrThree((objects) =>
        text(
          objects.filter((object) => ownerOf(object) === nats),
          (object) => (object.kind === "StatefulSet" ? places.natsServers(object) : object),
        ),
      ),
    ],
    ...own,
    ["keda.yaml", conditional('eq .Values.autoscaling "keda"', monitor + scalers(added.keda))],
    ["hpa.yaml", conditional('eq .Values.autoscaling "hpa"', scalers(added.hpa))],
    [
      "network-policies.yaml",
      conditional(
        ".Values.networkPolicies.enabled",
        text(others, places.networkPolicy) +
          conditional("not .Values.nats.external.url", `---\n${text(ofNats, places.networkPolicy)}`),
      ),
    ],
    ...dashboardTemplates(added),
    ["ingress.yaml", conditional(".Values.ingress.enabled", text(added.ingress, places.ingress))],
    ["httproute.yaml", conditional(".Values.httpRoute.enabled", text(added.httproute, places.httpRoute))],
    [
      "monitoring.yaml",
      conditional(".Values.monitoring.enabled", text(operatorManifests(places.written) as Source[])),
    ],
  ];
  return made;
}

function workloadPlaces(object: Source, name: string, withModules: readonly Source[]): Source {
  if (object.kind === "Deployment") {
    const deployment = places.workload(object, name);
    return name === application.name
      ? places.chartModules(deployment, find(withModules, object.kind, object.metadata.name))
      : deployment;
  }
  return object.kind === "Service" ? places.gatewayService(object) : object;
}

function defaultsIn({ base, cluster, added }: Sources): Defaults {
  const deployments = new Map([...workloads].map(([owner, name]) => [name, find(base, "Deployment", owner)]));
  deployments.set("dashboard", find(added.dashboard, "Deployment", dashboardName));
  const servers = places.at(find(cluster, "StatefulSet", nats), "spec");
  const [server, metrics] = Object.values(
    places.at(servers, "template", "spec", "containers"),
  ) as places.Fields[];
  const { NATS_URL, DENREI_CLUSTER, DENREI_STREAM_REPLICAS, ...settings } = places.at(
    find(base, "ConfigMap", settingsName),
    "data",
  );
  const ingress = places.at(added.ingress[0] ?? {}, "spec");
  const apiServer =
    added["network-policies"].find(({ metadata }) => metadata.name === "denrei-api-server") ?? {};
  return {
    image: imageName,
    functions: functions.map(({ name }) => name),
    workload(name) {
      const spec = places.at(deployments.get(name) ?? {}, "spec");
      const resources = places.at(spec, "template", "spec", "containers", 0, "resources");
      return { replicas: Number(spec.replicas), resources };
    },
    settings: settings as Record<string, string>,
    nats: {
      servers: Number(servers.replicas),
      image: String(server?.image),
      metricsImage: String(metrics?.image),
      storage: String(places.at(servers, "volumeClaimTemplates", 0, "spec", "resources", "requests").storage),
      maxFileStore: places.fileStoreIn(find(base, "ConfigMap", places.natsConfigName)),
      resources: places.at(server ?? {}, "resources"),
    },
    host: String(places.at(ingress, "rules", 0).host),
    tlsSecret: String(places.at(ingress, "tls", 0).secretName),
    parentRefs: Object.values(places.at(added.httproute[0] ?? {}, "spec", "parentRefs")) as object[],
    dashboard: dashboardDefaults(added),
    apiServer: Object.values(places.at(apiServer, "spec", "egress")) as Defaults["apiServer"],
  };
}
