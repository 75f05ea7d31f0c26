/** Templates of the dashboard: fields of its manifests replaced with expressions on values. */
import {
  dashboardKubeconfigName,
  dashboardSecretsName,
  dashboardSettingsName,
} from "../generate/dashboard.ts";
import type { DashboardDefaults } from "./dashboardvalues.ts";
import { at, type Fields, inNamespace, quoted, workload } from "./manifesttemplates.ts";
import { identity, type Source, type Sources } from "./sources.ts";
import { conditional, eachOf, either, templateText, when, wholeValue, wholeValueIfSet } from "./template.ts";

const values = ".Values.dashboard";
const settingsFile = "dashboard-settings.yaml";
const host = quoted(`(urlParse ${values}.url).host`);

/** Variables with dedicated values. */
const variableValues = {
  DENREI_DASHBOARD_URL: "url",
  DENREI_OIDC_ISSUER: "oidc.issuer",
  DENREI_OIDC_CLIENT_ID: "oidc.clientId",
} as const;

/** The template files, which render to nothing unless the dashboard is enabled. */
export function dashboardTemplates(added: Sources["added"]): [string, string][] {
  const isSettings = ({ kind }: Source) => kind === "ConfigMap";
  const text = (objects: readonly Source[], change: (object: Source) => Source) =>
    templateText(objects.map((object) => change(inNamespace(object))));
  const enabled = (other?: string) =>
    other === undefined ? `${values}.enabled` : `and ${values}.enabled ${values}.${other}.enabled`;
  const configMaps = added.dashboard.filter(isSettings);
  const otherObjects = added.dashboard.filter((object) => !isSettings(object));
  return [
    [settingsFile, conditional(enabled(), text(configMaps, settings))],
    ["dashboard.yaml", conditional(enabled(), text(otherObjects, workloadTemplate))],
    ["dashboard-ingress.yaml", conditional(enabled("ingress"), text(added["dashboard-ingress"], ingress))],
    [
      "dashboard-httproute.yaml",
      conditional(enabled("httpRoute"), text(added["dashboard-httproute"], httpRoute)),
    ],
  ];
}

/** The defaults, read from the manifests. */
export function dashboardDefaults(added: Sources["added"]): DashboardDefaults {
  const map = added.dashboard.find((object) => identity(object) === `ConfigMap ${dashboardSettingsName}`);
  const data = at(map ?? {}, "data") as Readonly<Record<keyof typeof variableValues, string>>;
  return {
    url: data.DENREI_DASHBOARD_URL,
    issuer: data.DENREI_OIDC_ISSUER,
    clientId: data.DENREI_OIDC_CLIENT_ID,
    secret: dashboardSecretsName,
    tlsSecret: String(at(added["dashboard-ingress"][0] ?? {}, "spec", "tls", 0).secretName),
    parentRefs: Object.values(at(added["dashboard-httproute"][0] ?? {}, "spec", "parentRefs")) as object[],
  };
}

function settings(source: Source): Source {
  const object = structuredClone(source);
  if (object.metadata.name === dashboardKubeconfigName) {
    const data = at(object, "data");
    data.kubeconfig = either(`${values}.kubeconfig`, quoted(`${values}.kubeconfig`), data.kubeconfig);
    return object;
  }
  const own = Object.entries(variableValues).map(([name, path]) => [name, quoted(`${values}.${path}`)]);
  return Object.assign(object, {
    data: { ...Object.fromEntries(own), others: eachOf(`${values}.settings`) },
  });
}

function workloadTemplate(source: Source): Source {
  if (source.kind !== "Deployment") return source;
  const object = workload(source, "dashboard", ["settings.yaml", settingsFile]);
  const spec = at(object, "spec", "template", "spec");
  const [container = {}] = Object.values(at(spec, "containers")) as Fields[];
  for (const variable of Object.values(at(container, "env")) as Fields[])
    if (variable.name === "DENREI_OIDC_CLIENT_SECRET")
      variable.value = either(`${values}.oidc.publicClient`, "", variable.value);
  for (const volume of Object.values(at(spec, "volumes")) as Fields[])
    if (volume.name === "dashboard") at(volume, "secret").secretName = quoted(`${values}.existingSecret`);
  return object;
}

function ingress(source: Source): Source {
  const object = structuredClone(source);
  const own = `${values}.ingress`;
  at(object, "metadata").annotations = wholeValueIfSet(`${own}.annotations`);
  const spec = at(object, "spec");
  spec.ingressClassName = when(`${own}.className`, quoted(`${own}.className`));
  spec.tls = when(`${own}.tlsSecret`, [{ hosts: [host], secretName: quoted(`${own}.tlsSecret`) }]);
  at(spec, "rules", 0).host = host;
  return object;
}

function httpRoute(source: Source): Source {
  const object = structuredClone(source);
  const spec = at(object, "spec");
  spec.hostnames = [host];
  spec.parentRefs = wholeValue(`${values}.httpRoute.parentRefs`);
  return object;
}
