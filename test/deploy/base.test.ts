/** The rendered kustomize base is consistent and matches the code. */
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readSettings, variableOf } from "../../bus/config/config.ts";
import { optInLabel } from "../../bus/kube/domain.ts";
import { busProcessSettings, processSettings } from "../../bus/process/run.ts";
import { collectorOf, tracingVariables } from "../../bus/process/tracing.ts";
import { kindsOf } from "../../bus/worker/function.ts";
import { render } from "../../deploy/helm/kustomize.ts";
import { versions } from "../../deploy/local/index.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { functions } from "../../functions/index.ts";
import manifest from "../../package.json" with { type: "json" };
import { runHere } from "../cli/here.ts";
import { programs } from "../harness/programs.ts";
import {
  type Binding,
  base,
  containerOf,
  find,
  isWorkload,
  type Manifest,
  type PodTemplate,
  type Role,
  type Service,
  type Workload,
} from "./manifests.ts";
import { baseObjects } from "./overlays.ts";

const { "nats-server": server } = await programs("nats-server");

const run = promisify(execFile);
const webhookSettings = ["webhookAddress", "webhookPath", "webhookSecrets"] as const;

let objects: Manifest[];
beforeAll(async () => {
  objects = await baseObjects();
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

const workloads = () => objects.filter(isWorkload);
const deployments = (among: readonly Manifest[]) =>
  among.filter(isWorkload).filter(({ kind }) => kind === "Deployment");
const ours = () => deployments(objects);
/** The ConfigMap that the NATS servers mount. */
const natsConfiguration = (): string => {
  const volumes = find<Workload>(objects, "StatefulSet", "nats").spec.template.spec.volumes;
  return volumes?.find(({ configMap }) => configMap !== undefined)?.configMap?.name ?? "";
};
/** The Secret mounted at this path. */
function mountedSecret(workload: Workload, path = ""): string | undefined {
  const mount = containerOf(workload).volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
  return template(workload).spec.volumes?.find(({ name }) => name === mount?.name)?.secret?.secretName;
}
const ofKind = <T extends Manifest>(kind: string): T[] =>
  objects.filter((object): object is T => object.kind === kind);
const coversSecrets = ({ apiGroups, resources }: Role["rules"][number]): boolean =>
  (apiGroups.includes("") || apiGroups.includes("*")) &&
  (resources.includes("secrets") || resources.includes("*"));
const template = (workload: Workload): PodTemplate => workload.spec.template;

/** The environment of a Deployment's container, including ConfigMaps of the same rendering. */
function environmentOf(workload: Workload, among: readonly Manifest[] = objects): Record<string, string> {
  const { env = [], envFrom = [] } = containerOf(workload);
  const shared = envFrom.map(({ configMapRef }) => find(among, "ConfigMap", configMapRef.name).data ?? {});
  const own = env.map(({ name, value }) => [name, value ?? workload.metadata.name] as const);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

describe("functions", () => {
  test("have a Deployment each, and only bridge and gateway have others", () => {
    const args = ours().map((workload) => containerOf(workload).args?.join(" "));
    const workers = functions.map(({ name }) => `worker ${name}`);
    expect(args.sort()).toEqual(["bridge", "gateway", ...workers].sort());
  });

  test("run as separate service accounts", () => {
    const accounts = ours().map((workload) => template(workload).spec.serviceAccountName ?? "default");
    expect(new Set(accounts).size).toBe(ours().length);
    for (const account of accounts) find(objects, "ServiceAccount", account);
  });

  test("have exactly the rights that `denrei rbac` prints", async () => {
    const { stdout } = await runHere(["rbac", "--json"]);
    const printed: Manifest[] = JSON.parse(stdout).items;
    const rendered = objects.filter(({ kind }) => /Role|ServiceAccount/.test(kind));
    const byName = (list: readonly Manifest[]) =>
      Object.fromEntries(list.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
    expect(byName(rendered)).toEqual(byName(printed));
    const confidential = functions.filter((fn) => kindsOf(fn).some(({ reach }) => reach === "opted-in"));
    const withSecrets = confidential.length === 0 ? 0 : confidential.length + 1;
    // A service account, a role, and a binding each; for Secrets one more role and binding; and the gateway's service account.
    expect(rendered.length).toBe(3 * (functions.length + 1) + 2 * withSecrets + 1);
  });

  test("have access to Secrets only in opted-in namespaces, which include the platform's", () => {
    const covering = ofKind<Role>("ClusterRole")
      .filter(({ rules }) => rules.some(coversSecrets))
      .map(({ metadata }) => metadata.name);
    expect(covering.filter((name) => !name.endsWith("-opted-in"))).toEqual([]);
    const everywhere = ofKind<Binding>("ClusterRoleBinding").map(({ roleRef }) => roleRef.name);
    expect(everywhere.filter((name) => covering.includes(name))).toEqual([]);
    const here = ofKind<Binding>("RoleBinding");
    expect(here.map(({ roleRef }) => roleRef.name).sort()).toEqual(covering.sort());
    for (const { metadata } of here) expect(metadata.namespace).toBe("denrei");
    expect(find(objects, "Namespace", "denrei")).toMatchObject({
      metadata: { labels: { [optInLabel]: "true" } },
    });
  });
});

describe("processes", () => {
  test("get only settings that they read, with valid values", () => {
    const ofCluster = [...processSettings, "namespaces", "watchSeconds"] as const;
    // Shared settings reach all processes, including those that only some read.
    const ofGateway = [...busProcessSettings, "cluster", ...webhookSettings] as const;
    for (const workload of ours()) {
      const names = containerOf(workload).args?.[0] === "gateway" ? ofGateway : ofCluster;
      const known = [...names.map(variableOf), ...tracingVariables];
      const environment = environmentOf(workload);
      for (const variable of Object.keys(environment)) expect(known).toContain(variable);
      // Tracing is off by default.
      expect(collectorOf(environment)).toBeUndefined();
      // The files are not on this machine, but their paths have to be mounted.
      const { NATS_CA, NATS_CERT, NATS_KEY, ...others } = environment;
      for (const path of [NATS_CA, NATS_CERT, NATS_KEY]) expect(mountedSecret(workload, path)).toBeDefined();
      const settings = readSettings(names, {}, others);
      expect(settings).toMatchObject({ httpAddress: "0.0.0.0:8080", replica: workload.metadata.name });
    }
  });

  test("reach the bus: the address is a Service whose pods listen on that port", () => {
    for (const workload of ours()) {
      const { hostname, port } = new URL(environmentOf(workload).NATS_URL ?? "");
      const { spec } = find<Service>(objects, "Service", hostname);
      const target = spec.ports.find((candidate) => candidate.port === Number(port))?.targetPort;
      const pods = workloads().filter((candidate) => matches(spec.selector, template(candidate)));
      expect(pods.map((candidate) => candidate.metadata.name)).toEqual(["nats"]);
      const ports = pods.flatMap((candidate) => containerOf(candidate).ports);
      expect(ports.find(({ name }) => name === target)?.containerPort).toBe(4222);
    }
  });

  test("authenticate to the bus with the certificate of their own user", async () => {
    const { stdout } = await runHere(["certificates", "--json"]);
    const secrets: Manifest[] = JSON.parse(stdout).items;
    const users = ours().map((workload) => {
      const { NATS_CERT } = environmentOf(workload);
      const name = mountedSecret(workload, NATS_CERT) ?? "";
      const certificate = find(secrets, "Secret", name).data?.["tls.crt"] ?? "";
      const { subject } = new X509Certificate(Buffer.from(certificate, "base64"));
      expect(subject).toBe(`CN=${workload.metadata.name}`);
      return subject;
    });
    const { data } = find(objects, "ConfigMap", natsConfiguration());
    for (const user of users) expect(data?.["authorization.conf"]).toContain(`user: "${user}"`);
    expect(new Set(users).size).toBe(ours().length);
    // The certificate of the servers is one of these Secrets, too.
    const nats = find<Workload>(objects, "StatefulSet", "nats");
    const paths = /cert_file: (\S+)/.exec(data?.["nats.conf"] ?? "");
    find(secrets, "Secret", mountedSecret(nats, paths?.[1]) ?? "");
  });

  test("have scrape annotations for the port with metrics", () => {
    for (const workload of ours()) {
      expect(template(workload).metadata.annotations).toEqual({
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(containerOf(workload).ports[0]?.containerPort),
        "prometheus.io/path": "/metrics",
      });
    }
  });

  test("have probes on named container ports", () => {
    for (const workload of workloads()) {
      const { ports, startupProbe, readinessProbe, livenessProbe } = containerOf(workload);
      for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
        expect(ports.map(({ name }) => name)).toContain(httpGet.port);
      }
    }
  });

  test("run the version in package.json", () => {
    for (const workload of ours()) expect(containerOf(workload).image).toBe(`denrei:${manifest.version}`);
  });
});

describe("services and budgets", () => {
  test("target named container ports", () => {
    for (const { metadata, spec } of ofKind<Service>("Service")) {
      const pods = workloads().filter((workload) => matches(spec.selector, template(workload)));
      const ports = pods.flatMap((workload) => containerOf(workload).ports.map(({ name }) => name));
      for (const { targetPort } of spec.ports)
        expect([metadata.name, ports]).toEqual([metadata.name, expect.arrayContaining([targetPort])]);
    }
  });

  test("select existing pods", () => {
    const selectors = objects.flatMap((object) => {
      const { selector } = (object as Manifest & { spec?: { selector?: Selector } }).spec ?? {};
      return selector === undefined ? [] : [{ name: object.metadata.name, selector: plain(selector) }];
    });
    expect(selectors.length).toBeGreaterThan(functions.length + 3);
    for (const { name, selector } of selectors) {
      const pods = workloads().filter((workload) => matches(selector, template(workload)));
      expect(pods.length, `pods that ${name} selects`).toBe(1);
    }
  });
});

describe("the gateway", () => {
  const gateway = () => find<Workload>(objects, "Deployment", "denrei-gateway");

  test("has a service account without rights, whose token is not mounted", () => {
    const { serviceAccountName, automountServiceAccountToken } = template(gateway()).spec;
    expect(automountServiceAccountToken).toBe(false);
    const bindings = [...ofKind<Binding>("ClusterRoleBinding"), ...ofKind<Binding>("RoleBinding")];
    const bound = bindings.flatMap(({ subjects }) => subjects.map(({ name }) => name));
    expect(bound).not.toContain(serviceAccountName);
    const others = ours().filter(({ metadata }) => metadata.name !== "denrei-gateway");
    for (const other of others) expect(bound).toContain(template(other).spec.serviceAccountName);
  });

  test("listens on the target port of its Service, whose port 80 is for webhooks", () => {
    const { port } = new URL(`http://${environmentOf(gateway()).DENREI_WEBHOOK_ADDRESS}`);
    expect(containerOf(gateway()).ports).toContainEqual({ name: "webhooks", containerPort: Number(port) });
    const { spec } = find<Service>(objects, "Service", "denrei-gateway");
    expect(spec.ports).toMatchObject([{ port: 80, targetPort: "webhooks" }]);
  });

  test("does not start without webhook secrets", () => {
    const { DENREI_WEBHOOK_SECRETS } = environmentOf(gateway());
    expect(mountedSecret(gateway(), `${DENREI_WEBHOOK_SECRETS}/github.app`)).toBe("denrei-webhook-secrets");
    const volumes = template(gateway()).spec.volumes ?? [];
    expect(volumes.map(({ secret }) => secret?.optional ?? false)).toEqual(volumes.map(() => false));
    expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  });

  test("keeps serving for some seconds while terminating, and ends within the grace period of its pod", () => {
    const seconds = containerOf(gateway()).lifecycle?.preStop.sleep.seconds ?? 0;
    expect(seconds).toBeGreaterThan(0);
    // A process exits within ten seconds.
    expect(seconds + 10).toBeLessThan(template(gateway()).spec.terminationGracePeriodSeconds);
  });
});

describe("NATS", () => {
  const nats = () => find<Workload>(objects, "StatefulSet", "nats");
  const configuration = () => find(objects, "ConfigMap", natsConfiguration()).data?.["nats.conf"] ?? "";

  test("has the version that all tests use", () => {
    expect(containerOf(nats()).image).toMatch(`nats:${versions["nats-server"]}-`);
  });

  test("accepts its configuration", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "nats.conf");
    const { cert, key } = createCertificateAuthority().server(["nats"]);
    const files = Object.entries({ "tls.crt": cert, "tls.key": key, "ca.crt": cert });
    for (const [name, text] of files) await writeFile(join(folder, name), text);
    const { data = {} } = find(objects, "ConfigMap", natsConfiguration());
    for (const [name, text] of Object.entries(data))
      await writeFile(join(folder, name), text.replaceAll("/etc/nats-tls", folder));
    const { stderr } = await run(server.path, ["-t", "--config", path], {
      env: { ...process.env, POD_NAME: "nats-0" },
    });
    expect(stderr).toContain("is valid");
  });

  test("ends lame duck mode within the grace period of its pod", () => {
    const seconds = /lame_duck_duration: (\d+)s/.exec(configuration())?.[1];
    expect(Number(seconds)).toBeLessThan(template(nats()).spec.terminationGracePeriodSeconds);
  });
});

describe("an overlay", () => {
  test("sets image, namespace, settings, and replicas", async () => {
    const folder = await temporaryFolder();
    const overlay = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      namespace: "elsewhere",
      resources: [relative(folder, base)],
      images: [{ name: "denrei", newName: "registry.example.com/denrei", newTag: "9.9.9" }],
      configMapGenerator: [
        { name: "denrei-settings", behavior: "merge", literals: ["NATS_URL=nats://bus.example.com:4222"] },
      ],
      replicas: [{ name: "denrei-bridge", count: 3 }],
    };
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    const rendered = await render<Manifest>(folder);
    for (const workload of deployments(rendered)) {
      expect(containerOf(workload).image).toBe("registry.example.com/denrei:9.9.9");
      expect(environmentOf(workload, rendered)).toMatchObject({
        NATS_URL: "nats://bus.example.com:4222",
        DENREI_CLUSTER: "default",
      });
    }
    expect(find<Workload>(rendered, "Deployment", "denrei-bridge").spec.replicas).toBe(3);
    const namespaces = rendered.map(({ kind, metadata }) =>
      kind === "Namespace" ? metadata.name : metadata.namespace,
    );
    expect(new Set(namespaces)).toEqual(new Set(["elsewhere", undefined]));
    for (const binding of rendered.filter(({ kind }) => kind.endsWith("RoleBinding"))) {
      expect(binding).toMatchObject({ subjects: [{ namespace: "elsewhere" }] });
    }
  });
});

type Selector = Record<string, string> | { readonly matchLabels: Record<string, string> };

const plain = (selector: Selector): Record<string, string> =>
  typeof selector.matchLabels === "object" ? selector.matchLabels : (selector as Record<string, string>);

const matches = (selector: Record<string, string>, { metadata }: PodTemplate): boolean =>
  Object.entries(selector).every(([label, value]) => metadata.labels[label] === value);

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-base-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
