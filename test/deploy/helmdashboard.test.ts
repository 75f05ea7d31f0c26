/** The dashboard in the Helm chart: absent by default, and otherwise equal to the components. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { dashboardSettingsName } from "../../deploy/generate/dashboard.ts";
import { identity } from "../../deploy/helm/sources.ts";
import { type Chart, comparable, openChart, type Values } from "./chart.ts";
import { addedAndRemoved, changedFields } from "./chartdiff.ts";
import { find, type Manifest, type Workload } from "./manifests.ts";
import { siteWith } from "./overlays.ts";

let chart: Chart;
/** The rendering with a dashboard and all other values at their defaults. */
let usual: Manifest[];
const withDashboard = (values: Values = {}): Promise<Manifest[]> =>
  chart.template({ dashboard: { enabled: true, ...values } });
beforeAll(async () => {
  chart = await openChart();
  usual = await withDashboard();
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => chart?.remove());

test("it renders to the objects of the components", async () => {
  const all = { ingress: { enabled: true }, httpRoute: { enabled: true } };
  expect(comparable(await withDashboard(all))).toEqual(
    comparable(await siteWith("dashboard", "dashboard-ingress", "dashboard-httproute")),
  );
});

test("it and its routes are absent by default", async () => {
  const off = await chart.template({
    dashboard: { ingress: { enabled: true }, httpRoute: { enabled: true } },
  });
  const { come, gone } = addedAndRemoved(usual, off);
  expect(come).toEqual([]);
  expect(gone).toEqual(
    [
      ...["ConfigMap denrei-dashboard-kubeconfig", `ConfigMap ${dashboardSettingsName}`],
      ...["Deployment", "PodDisruptionBudget", "Service", "ServiceAccount"].map(
        (kind) => `${kind} denrei-dashboard`,
      ),
    ].sort(),
  );
});

const container = "spec.template.spec.containers.0";
const settings = `ConfigMap ${dashboardSettingsName}: data`;
const chosen: readonly (readonly [values: Values, fields: Values])[] = [
  [
    { url: "https://d.example.org", oidc: { issuer: "https://login.example.org/realms/a", clientId: "d" } },
    {
      [`${settings}.DENREI_DASHBOARD_URL`]: "https://d.example.org",
      [`${settings}.DENREI_OIDC_ISSUER`]: "https://login.example.org/realms/a",
      [`${settings}.DENREI_OIDC_CLIENT_ID`]: "d",
    },
  ],
  [
    { settings: { DENREI_OIDC_SCOPES: "openid groups", DENREI_GITHUB_URL: "https://github.example.org" } },
    {
      [`${settings}.DENREI_OIDC_SCOPES`]: "openid groups",
      [`${settings}.DENREI_GITHUB_URL`]: "https://github.example.org",
    },
  ],
  [
    { replicas: 5, resources: { limits: { memory: "1Gi" } } },
    {
      "Deployment denrei-dashboard: spec.replicas": 5,
      [`Deployment denrei-dashboard: ${container}.resources.limits.memory`]: "1Gi",
    },
  ],
  [
    { kubeconfig: "apiVersion: v1\nkind: Config\n" },
    { "ConfigMap denrei-dashboard-kubeconfig: data.kubeconfig": "apiVersion: v1\nkind: Config\n" },
  ],
];

test.for(chosen.map(([values, fields]) => ({ name: JSON.stringify(values), values, fields })))(
  "$name changes only its own fields",
  async ({ values, fields }) => {
    expect(changedFields(comparable(usual), comparable(await withDashboard(values)))).toEqual(fields);
  },
);

test("its Secret can have another name, and a public client needs no client secret", async () => {
  const deployment = (objects: readonly Manifest[]) =>
    find<Workload>(objects, "Deployment", "denrei-dashboard").spec.template.spec;
  const secrets = (objects: readonly Manifest[]) =>
    deployment(objects).volumes?.flatMap(({ secret }) => (secret ? [secret.secretName] : []));
  expect(secrets(usual)).toEqual(["denrei-dashboard-tls", "denrei-dashboard-secrets"]);
  expect(secrets(await withDashboard({ existingSecret: "mine" }))).toEqual(["denrei-dashboard-tls", "mine"]);
  const secretOf = (objects: readonly Manifest[]) =>
    deployment(objects).containers[0]?.env?.find(({ name }) => name === "DENREI_OIDC_CLIENT_SECRET");
  expect(secretOf(usual)?.value).toBe("/etc/denrei/dashboard/client-secret");
  expect(secretOf(await withDashboard({ oidc: { publicClient: true } }))?.value).toBe("");
});

test("its routes have the host of its URL and the controller's annotations", async () => {
  const objects = await withDashboard({
    url: "https://d.example.org",
    ingress: { enabled: true, className: "public", tlsSecret: "", annotations: { a: "1" } },
    httpRoute: { enabled: true, parentRefs: [{ name: "gate" }] },
  });
  const ingress = find(objects, "Ingress", "denrei-dashboard");
  expect(ingress).toMatchObject({
    metadata: { annotations: { a: "1" } },
    spec: { ingressClassName: "public", rules: [{ host: "d.example.org" }] },
  });
  expect(ingress).not.toHaveProperty("spec.tls");
  expect(find(objects, "HTTPRoute", "denrei-dashboard")).toMatchObject({
    spec: { hostnames: ["d.example.org"], parentRefs: [{ name: "gate" }] },
  });
  const withTls = await withDashboard({ url: "https://d.example.org", ingress: { enabled: true } });
  expect(find(withTls, "Ingress", "denrei-dashboard")).toMatchObject({
    spec: { tls: [{ hosts: ["d.example.org"], secretName: "denrei-dashboard-public-tls" }] },
  });
});

test("a change of its settings replaces only its pods", async () => {
  const checksums = (objects: readonly Manifest[]) =>
    new Map(
      objects
        .filter(({ kind }) => kind === "Deployment")
        .map((object) => [
          identity(object as Manifest & { metadata: { name: string } }),
          (object as Workload).spec.template.metadata.annotations?.["checksum/settings"],
        ]),
    );
  const before = checksums(usual);
  const after = checksums(await withDashboard({ url: "https://d.example.org" }));
  const replaced = [...after].filter(([name, sum]) => before.get(name) !== sum).map(([name]) => name);
  expect(replaced).toEqual(["Deployment denrei-dashboard"]);
});

test.for(
  [
    { enabled: "yes" },
    { url: "http://plain.example.org" },
    { url: "https://d.example.org/path" },
    { oidc: { issuer: "login.example.org" } },
    { oidc: { clientSecret: "secret" } },
    { settings: { DENREI_OIDC_ISSUER: "https://login.example.org" } },
    { ingres: {} },
  ].map((values) => ({ name: JSON.stringify(values), values })),
)("the schema rejects $name", async ({ values }) => {
  await expect(withDashboard(values)).rejects.toThrow(/values don't meet the specifications of the schema/);
});
