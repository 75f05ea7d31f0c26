/** The deployed dashboard: its identity, settings, and network. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { processSettings, readSettings, type SettingName } from "../../bus/config/config.ts";
import { loadKubeconfig } from "../../bus/kube/kubeconfig.ts";
import { certificateManifests } from "../../deploy/generate/certificates.ts";
import { separateLayout } from "../../deploy/generate/layout.ts";
import { authorizationFile } from "../../deploy/generate/manifestfiles.ts";
import { withoutHashes } from "../../deploy/helm/sources.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { functions } from "../../functions/index.ts";
import manifest from "../../package.json" with { type: "json" };
import {
  type Binding,
  containerOf,
  find,
  isWorkload,
  type Manifest,
  type Service,
  type Workload,
} from "./manifests.ts";
import { allows, type Place } from "./network.ts";
import { siteWith } from "./overlays.ts";

const name = "denrei-dashboard";
let objects: Manifest[];
let dashboard: Workload;
beforeAll(async () => {
  objects = withoutHashes(await siteWith("dashboard", "dashboard-ingress", "dashboard-httproute"));
  dashboard = find<Workload>(objects, "Deployment", name);
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

/** Its environment, including that from ConfigMaps. */
function environment(): Record<string, string> {
  const { env = [], envFrom = [] } = containerOf(dashboard);
  const shared = envFrom.map(({ configMapRef }) => find(objects, "ConfigMap", configMapRef.name).data ?? {});
  return Object.assign({}, ...shared, Object.fromEntries(env.map((one) => [one.name, one.value ?? name])));
}
/** The volume mounted at this path. */
function volumeOf(path = "") {
  const mount = containerOf(dashboard).volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
  return dashboard.spec.template.spec.volumes?.find(({ name }) => name === mount?.name);
}

describe("it has no identity", () => {
  test("in Kubernetes: its service account has no rights, and its pods no token", () => {
    const { serviceAccountName, automountServiceAccountToken } = dashboard.spec.template.spec;
    expect([serviceAccountName, automountServiceAccountToken]).toEqual([name, false]);
    find(objects, "ServiceAccount", name);
    const bindings = objects.filter((object): object is Binding => /RoleBinding$/.test(object.kind));
    expect(bindings.length).toBeGreaterThan(functions.length);
    expect(bindings.flatMap(({ subjects }) => subjects.map((one) => one.name))).not.toContain(name);
  });

  test("in its kubeconfig, which has a server and a certificate authority but no user", async () => {
    const { KUBECONFIG = "" } = environment();
    expect(volumeOf(KUBECONFIG)).toMatchObject({
      projected: {
        sources: [
          { configMap: { name: "denrei-dashboard-kubeconfig" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        ],
      },
    });
    const folder = await mkdtemp(join(tmpdir(), "test-dashboard-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { cert } = createCertificateAuthority();
    const at = KUBECONFIG.slice(0, KUBECONFIG.lastIndexOf("/"));
    const text = find(objects, "ConfigMap", "denrei-dashboard-kubeconfig").data?.kubeconfig ?? "";
    await writeFile(join(folder, "kubeconfig"), text.replaceAll(at, folder));
    await writeFile(join(folder, "ca.crt"), cert);
    const access = await loadKubeconfig({ path: join(folder, "kubeconfig") }).read("cached");
    expect(access).toMatchObject({ server: "https://kubernetes.default.svc", headers: {} });
    expect(access.tls).toEqual({ ca: Buffer.from(cert) });
  });

  test("except on the bus, with a certificate from denrei certificates", () => {
    const secrets = certificateManifests(separateLayout(functions), "denrei") as unknown as Manifest[];
    const mounted = volumeOf(environment().NATS_CERT)?.secret?.secretName ?? "";
    const text = find(secrets, "Secret", mounted).data?.["tls.crt"] ?? "";
    expect(new X509Certificate(Buffer.from(text, "base64")).subject).toBe(`CN=${name}`);
    expect(authorizationFile(separateLayout(functions), { cluster: "default" })).toContain(
      `user: "CN=${name}"`,
    );
  });
});

test("it gets only settings that it reads, with valid values and mounted files", () => {
  const variables = environment();
  const files = ["NATS_CA", "NATS_CERT", "NATS_KEY", "DENREI_DASHBOARD_KEYS", "DENREI_OIDC_CLIENT_SECRET"];
  for (const file of files) expect([file, volumeOf(variables[file])?.secret]).not.toEqual([file, undefined]);
  expect(volumeOf(variables.DENREI_DASHBOARD_KEYS)?.secret).toMatchObject({
    secretName: "denrei-dashboard-secrets",
  });
  // The files are not on this machine.
  const here = { ...variables, ...Object.fromEntries(files.map((file) => [file, import.meta.filename])) };
  const names: readonly SettingName[] = [
    ...processSettings,
    ...(["dashboardAddress", "dashboardUrl", "dashboardKeys"] as const),
    ...(["oidcIssuer", "oidcClientId", "oidcClientSecret", "oidcScopes"] as const),
  ];
  expect(readSettings(names, {}, here)).toMatchObject({
    dashboardAddress: "0.0.0.0:8082",
    dashboardUrl: "https://denrei.example.com",
    oidcIssuer: "https://login.example.com",
    oidcClientId: "denrei-dashboard",
    httpAddress: "0.0.0.0:8080",
    replica: name,
  });
});

test("it has two replicas of the version in package.json, and one may be evicted at a time", () => {
  expect(dashboard.spec.replicas).toBe(2);
  const { image, args, securityContext, lifecycle } = containerOf(dashboard);
  expect([image, args]).toEqual([`denrei:${manifest.version}`, ["dashboard"]]);
  expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
  const { terminationGracePeriodSeconds } = dashboard.spec.template.spec;
  const goodbye = lifecycle?.preStop.sleep.seconds ?? 0;
  expect(goodbye).toBeGreaterThan(0);
  // A process exits within ten seconds.
  expect(goodbye + 10).toBeLessThan(terminationGracePeriodSeconds);
  expect(find(objects, "PodDisruptionBudget", name)).toMatchObject({ spec: { maxUnavailable: 1 } });
});

test("Ingress and HTTPRoute have the host of its URL and lead to its port", () => {
  const { DENREI_DASHBOARD_URL: url = "", DENREI_DASHBOARD_ADDRESS: address = "" } = environment();
  const port = Number(address.split(":")[1]);
  expect(containerOf(dashboard).ports).toContainEqual({ name: "web", containerPort: port });
  expect(find<Service>(objects, "Service", name).spec.ports).toMatchObject([{ port: 80, targetPort: "web" }]);
  const { host } = new URL(url);
  expect(find(objects, "Ingress", name)).toMatchObject({
    spec: {
      tls: [{ hosts: [host] }],
      rules: [
        { host, http: { paths: [{ path: "/", backend: { service: { name, port: { name: "web" } } } }] } },
      ],
    },
  });
  expect(find(objects, "HTTPRoute", name)).toMatchObject({
    spec: { hostnames: [host], rules: [{ backendRefs: [{ name, port: 80 }] }] },
  });
});

describe("on a network that enforces policies", () => {
  const pod = ({ metadata: { namespace = "" }, spec }: Workload): Place => ({
    namespace,
    labels: spec.template.metadata.labels,
    address: "10.244.1.7",
  });
  const at = (address: string): Place => ({ address });
  const elsewhere = (namespace: string): Place => ({ namespace, labels: {}, address: "10.244.2.8" });

  test("it is reachable from outside only on its browser port", () => {
    for (const from of [at("203.0.113.7"), elsewhere("ingress-nginx")])
      expect([8080, 8081, 8082].filter((port) => allows(objects, from, pod(dashboard), port))).toEqual([
        8082,
      ]);
    expect(allows(objects, elsewhere("monitoring"), pod(dashboard), 8080)).toBe(true);
  });

  test("it reaches the bus, the API server, the issuer, and DNS, but no other pod", () => {
    const reaches = (to: Place, port: number, protocol = "TCP") =>
      allows(objects, pod(dashboard), to, port, protocol);
    expect(reaches(pod(find<Workload>(objects, "StatefulSet", "nats")), 4222)).toBe(true);
    expect([443, 6443].map((port) => reaches(at("10.96.0.1"), port))).toEqual([true, true]);
    expect(reaches(at("203.0.113.9"), 443)).toBe(true);
    const dns = { ...elsewhere("kube-system"), labels: { "k8s-app": "kube-dns" } };
    expect(reaches(dns, 53, "UDP")).toBe(true);
    for (const port of [80, 3306, 8080])
      expect([port, reaches(elsewhere("team-a"), port)]).toEqual([port, false]);
    // Clouds serve a node's credentials here.
    for (const port of [80, 443]) expect(reaches(at("169.254.169.254"), port)).toBe(false);
    for (const other of objects.filter(isWorkload).filter(({ kind }) => kind === "Deployment"))
      expect([other.metadata.name, reaches(pod(other), 8080)]).toEqual([other.metadata.name, false]);
  });
});
