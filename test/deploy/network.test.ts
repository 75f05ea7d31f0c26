/** The production NetworkPolicies allow all necessary traffic, and little else for a compromised pod. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { defineFunction } from "../../bus/worker/function.ts";
import { separateLayout } from "../../deploy/generate/layout.ts";
import { networkPolicies } from "../../deploy/generate/network.ts";
import { functions } from "../../functions/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { isWorkload, type Manifest, root, type Workload } from "./manifests.ts";
import { allows, type Place } from "./network.ts";
import { overlay, shownSite } from "./overlays.ts";

let objects: Manifest[];
/** A site with the address of its API server. */
let site: Manifest[];
let workloads: Workload[];
beforeAll(async () => {
  objects = await overlay("production");
  site = await shownSite();
  workloads = objects.filter(isWorkload);
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

/** An address for any pod. */
const podAddress = "10.244.1.7";
const pod = ({ metadata: { namespace = "" }, spec }: Workload): Place => ({
  namespace,
  labels: spec.template.metadata.labels,
  address: podAddress,
});
const named = (name: string): Place => {
  const found = workloads.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`expected a workload ${name}`);
  return pod(found);
};
const elsewhere = (namespace: string, labels = {}): Place => ({ namespace, labels, address: podAddress });
const address = (text: string): Place => ({ address: text });
/** Names of the workloads that may connect to a port. */
const who = (to: Place, port: number, within = objects): string[] =>
  workloads
    .filter((workload) => allows(within, pod(workload), to, port))
    .map(({ metadata }) => metadata.name)
    .sort();
const everybody = () => workloads.map(({ metadata }) => metadata.name).sort();
const askers = () => ["denrei-bridge", ...workers()].sort();
const workers = (among = functions) => among.map(({ name }) => `denrei-${name}`).sort();
const portsOf = (name: string) =>
  workloads
    .find(({ metadata }) => metadata.name === name)
    ?.spec.template.spec.containers.flatMap(({ ports }) => ports.map(({ containerPort }) => containerPort));

describe("the bus", () => {
  test("is reachable for all processes, its own servers, and monitoring", () => {
    const nats = named("nats");
    expect(portsOf("nats")?.sort()).toEqual([4222, 6222, 7777, 8222]);
    expect(who(nats, 4222)).toEqual(everybody().filter((name) => name !== "nats"));
    expect(who(nats, 6222)).toEqual(["nats"]);
    for (const port of [7777, 8222]) expect(who(nats, port)).toEqual([]);
    const keda = elsewhere("keda");
    const prometheus = elsewhere("monitoring");
    const open = (from: Place) => portsOf("nats")?.filter((port) => allows(objects, from, nats, port));
    expect(open(keda)).toEqual([8222]);
    expect(open(prometheus)).toEqual([7777]);
    expect(open(elsewhere("team-a", { "app.kubernetes.io/part-of": "denrei" }))).toEqual([]);
    expect(open(address("203.0.113.7"))).toEqual([]);
  });
});

describe("processes", () => {
  test("reach DNS, and are scraped", () => {
    const dns = elsewhere("kube-system", { "k8s-app": "kube-dns" });
    for (const workload of workloads) {
      expect(allows(objects, pod(workload), dns, 53, "UDP")).toBe(true);
      if (workload.metadata.name === "nats") continue;
      expect(portsOf(workload.metadata.name)).toContain(8080);
      expect(allows(objects, elsewhere("monitoring"), pod(workload), 8080)).toBe(true);
      expect(allows(objects, elsewhere("team-a"), pod(workload), 8080)).toBe(false);
    }
  });

  test("reach the API server, except the gateway", () => {
    for (const port of [443, 6443]) expect(who(address("10.96.0.1"), port)).toEqual(askers());
  });

  test("reach only the API server's address when a site sets it", () => {
    expect(who(address("172.18.0.2"), 6443, site)).toEqual(askers());
    for (const [at, port] of [
      ["172.18.0.2", 443],
      ["172.18.0.3", 6443],
      ["10.96.0.1", 443],
    ] as const)
      expect([at, port, who(address(at), port, site)]).toEqual([at, port, []]);
  });

  test("are not reachable from outside, except the gateway", () => {
    for (const from of [address("203.0.113.7"), elsewhere("ingress-nginx")]) {
      const open = workloads.filter((workload) => allows(objects, from, pod(workload), 8081));
      expect(open.map(({ metadata }) => metadata.name)).toEqual(["denrei-gateway"]);
    }
  });
});

const loads = /(?:^(?:import|export)(?! type\b)[^;]*?from |\bawait import\()"(\.[^"]+|denrei(?:\/\w+)?)"/gms;
const { exports: entries } = JSON.parse(readFileSync(join(root, "bus/package.json"), "utf8"));

/** The file of an import of `denrei`, or of a relative one. */
const fileOf = (specifier: string, from: string): string =>
  specifier.startsWith(".")
    ? join(dirname(from), specifier)
    : join(root, "bus", entries[specifier.replace("denrei", ".")]);

/** The modules that a module imports, statically or dynamically, including itself. */
function loadedBy(path: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(path) || !existsSync(path)) return loaded;
  loaded.add(path);
  const text = readFileSync(path, "utf8");
  for (const [, specifier = ""] of text.matchAll(loads)) loadedBy(fileOf(specifier, path), loaded);
  return loaded;
}

describe("functions", () => {
  const catalog = readFileSync(join(root, "functions/components.ts"), "utf8");
  const using = (module: string): string[] =>
    functions
      .filter(({ name }) => {
        const [, path = ""] = new RegExp(`"?${name}"?: \\(\\) => import\\("(.+)"\\)`).exec(catalog) ?? [];
        const loaded = loadedBy(join(root, "functions", path));
        expect(loaded.size).toBeGreaterThan(5);
        return loaded.has(join(root, module));
      })
      .map(({ name }) => `denrei-${name}`)
      .sort();

  test("reach GitHub only when they have code that calls it", () => {
    expect(using("bus/github/call.ts").length).toBeGreaterThan(2);
    expect(who(address("140.82.121.6"), 443)).toEqual(using("bus/github/call.ts"));
    expect(who(address("2606:50c0:8000::153"), 443)).toEqual(using("bus/github/call.ts"));
    // Clouds serve a node's credentials here.
    expect(who(address("169.254.169.254"), 443)).toEqual([]);
    expect(who(address("169.254.169.254"), 80)).toEqual([]);
  });

  test("reach the servers of PipeCD only when they have code that calls them", () => {
    const server = elsewhere("team-a", { app: "server" });
    for (const port of [9081, 9083])
      expect(who(server, port)).toEqual(using("functions/pipecd/api/client.ts"));
    expect(who(server, 9085)).toEqual([]);
  });

  test("reach no other pod", () => {
    for (const port of [80, 443, 3306, 6379, 6443, 8080])
      expect([port, who(elsewhere("team-a"), port, site)]).toEqual([port, []]);
  });

  test("reach other pods only at ports of API servers when the API server's address is not set", () => {
    for (const port of [80, 3306, 6379, 8080]) expect(who(elsewhere("team-a"), port)).toEqual([]);
    for (const port of [443, 6443]) expect(who(elsewhere("team-a"), port)).toEqual(askers());
  });

  test("reach the addresses, and the internet, at the ports that they declare", () => {
    const fn = defineFunction({
      ...{ name: "caller", for: Hikawa, reconcile: async () => undefined },
      outbound: {
        internet: { ports: [25] },
        cidrs: [
          { cidr: "10.20.0.0/16", ports: [5432] },
          { cidr: "::/0", ports: [8443] },
        ],
      },
    });
    const policies = networkPolicies(separateLayout([fn]), "denrei") as unknown as Manifest[];
    const labels = { "app.kubernetes.io/name": "denrei-caller" };
    const reaches = (to: string, port: number) =>
      allows(policies, { namespace: "denrei", labels, address: podAddress }, address(to), port);
    const open = [
      ["203.0.113.7", 25],
      ["2001:db8::7", 25],
      ["10.20.3.4", 5432],
      ["2001:db8::7", 8443],
    ] as const;
    const closed = [
      ["203.0.113.7", 443],
      ["203.0.113.7", 5432],
      ["10.21.0.1", 5432],
      ["10.20.3.4", 25],
      ["169.254.169.254", 25],
      ["fd00:ec2::254", 25],
      ["fd00:ec2::254", 8443],
      ["fe80::1", 8443],
    ] as const;
    for (const [to, port] of open) expect([to, port, reaches(to, port)]).toEqual([to, port, true]);
    for (const [to, port] of closed) expect([to, port, reaches(to, port)]).toEqual([to, port, false]);
  });
});
