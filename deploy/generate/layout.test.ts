import { expect, test } from "vitest";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import { github } from "../../bus/webhooks/github/github.ts";
import { defineFunction, type ReconcileFunction } from "../../bus/worker/function.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { clusterRoles } from "../authorization.ts";
import { scaledObject } from "./autoscaling.ts";
import { certificateManifests } from "./certificates.ts";
import { type Layout, type LayoutOptions, layoutOf, memoryOf } from "./layout.ts";
import { type ManifestOptions, manifestFiles } from "./manifestfiles.ts";
import { networkPolicies } from "./network.ts";
import { accountsOf, listedManifests, optInManifests, roleManifests } from "./rbac.ts";

const reconcile = async () => undefined;
const reader = defineFunction({
  name: "reader",
  for: Hikawa,
  watches: [{ kind: Secret, keys: () => [] }],
  outbound: { internet: true, podPorts: [80] },
  reconcile,
});
const writer = defineFunction({
  name: "writer",
  for: Hikawa,
  owns: [ConfigMap],
  memoryMebibytes: 700,
  outbound: { podPorts: [81] },
  concurrency: 3,
  reconcile,
});
const hooked = defineFunction({
  name: "hooked",
  for: Hikawa,
  webhooks: [github.on("push", { keys: () => [] })],
  reconcile,
});
const functions = [reader, hooked, writer];
const pair = new Map([["pair", ["writer", "reader"]]]);

const layout = (
  options: LayoutOptions,
  groups = pair,
  some: readonly ReconcileFunction[] = functions,
): Layout => layoutOf(some, groups, options);
const namesIn = ({ workers }: Layout) =>
  workers.map(({ name, functions }) => [name, ...functions.map((fn) => fn.name)].join(" "));
const options: ManifestOptions = {
  by: "a test",
  cluster: "default",
  namespace: "here",
  webhook: { address: { url: "https://127.0.0.1" }, ca: "pem" },
};
const textOf = (of: Layout) => [...manifestFiles(of, options).values()].join("\n");

test("functions share workers in their groups, and in a small installation all others share theirs", () => {
  expect(namesIn(layout({ profile: "standard" }))).toEqual(["pair reader writer", "hooked hooked"]);
  expect(namesIn(layout({ profile: "production" }, new Map()))).toEqual([
    "reader reader",
    "hooked hooked",
    "writer writer",
  ]);
  expect(namesIn(layout({ profile: "small" }))).toEqual(["pair reader writer", "worker hooked"]);
  expect(namesIn(layout({ profile: "small" }, new Map()))).toEqual(["worker reader hooked writer"]);
});

test("workers run their group, all functions, or those without a group", () => {
  const argumentsIn = (of: Layout) =>
    [...textOf(of).matchAll(/args:\n((?: +- .*\n)+)/g)].map(([, list = ""]) =>
      list.match(/[\w-]+(?=\n)/g)?.join(" "),
    );
  expect(argumentsIn(layout({ profile: "standard" }))).toContain("worker pair");
  expect(argumentsIn(layout({ profile: "small" }, new Map()))).toContain("worker all");
  expect(argumentsIn(layout({ profile: "small" }))).toEqual(
    expect.arrayContaining(["worker pair", "worker hooked"]),
  );
});

test("a group has one account with the rights of its functions", () => {
  const group = accountsOf(layout({ profile: "standard" })).filter(({ name }) => name === "denrei-pair");
  const rules = JSON.stringify(roleManifests(group, "here"));
  expect(rules).toContain('"resources":["configmaps"],"verbs":["create","delete","get","patch"]');
  expect(rules).toContain('"name":"denrei-pair-opted-in"');
  expect(rules).not.toMatch(/denrei-(reader|writer)/);
});

test("a group's account is opted in, and gets the kinds that are listed for one of its functions", () => {
  const accounts = accountsOf(layout({ profile: "standard" }));
  const namesOf = (manifests: readonly Record<string, unknown>[]) =>
    manifests.map(({ metadata }) => (metadata as { name: string }).name);
  expect(namesOf(optInManifests(accounts, ["team"], "here"))).toEqual([
    "denrei-bridge-opted-in",
    "denrei-pair-opted-in",
  ]);
  const listed = listedManifests(accounts, writer, { kinds: [ConfigMap], namespace: "here" });
  expect(new Set(namesOf(listed))).toEqual(
    new Set(["denrei-bridge-listed-kinds", "denrei-pair-listed-kinds"]),
  );
});

test("a group is one user with one certificate", () => {
  const grouped = layout({ profile: "standard" });
  const roles = clusterRoles(grouped, "default");
  const role = roles.find(({ name }) => name === "pair");
  expect(roles.map(({ name }) => name)).not.toContain("reader");
  expect(role?.account).toBe("own");
  for (const name of ["reader", "writer"])
    expect(role?.permissions?.publish.some((subject) => subject.includes(`${name}.`))).toBe(true);
  const secrets = certificateManifests(grouped, "here").map(
    ({ metadata }) => (metadata as { name: string }).name,
  );
  expect(secrets).toContain("denrei-pair-tls");
  expect(secrets).not.toContain("denrei-reader-tls");
});

test("a group scales by the backlog of each of its functions", () => {
  const [set] = layout({ profile: "standard" }).workers;
  if (set === undefined) throw new Error("expected a group");
  const { spec } = scaledObject(set, { cluster: "default", namespace: "here" }) as {
    spec: { triggers: { metadata: { stream: string; lagThreshold: string } }[] };
  };
  const thresholds = new Map(spec.triggers.map(({ metadata }) => [metadata.stream, metadata.lagThreshold]));
  expect(thresholds.get("WORK_reader")).toBe("10");
  expect(thresholds.get("WORK_writer")).toBe("3");
});

test("a group reaches what its functions reach", () => {
  const policies = networkPolicies(layout({ profile: "standard" }), "here") as {
    metadata: { name: string };
    spec: { egress?: { ports: { port: number }[] }[]; podSelector: object };
  }[];
  const ports = (name: string) =>
    policies
      .find(({ metadata }) => metadata.name === name)
      ?.spec.egress?.flatMap((rule) => rule.ports.map(({ port }) => port));
  expect(ports("denrei-pods-80-81")).toEqual([80, 81]);
  expect(ports("denrei-outbound-pair")).toEqual([443]);
});

test("a group's memory limit is that of its largest function, and some more for each further one", () => {
  const [set] = layout({ profile: "standard" }).workers;
  expect(set && memoryOf(set)).toBeGreaterThan(700);
  expect(set && memoryOf(set)).toBeLessThan(800);
});

test("without webhooks there is no gateway, and no account, user, certificate, or policy of it", () => {
  const without = layout({ profile: "standard" }, pair, [reader, writer]);
  const certificates = JSON.stringify(certificateManifests(without, "here"));
  expect(textOf(without) + certificates).not.toContain("gateway");
  expect(textOf(layout({ profile: "standard" }))).toContain("name: denrei-gateway");
});

test("one process has the rights of all, its own user, and the Service for webhooks", () => {
  const one = layout({ profile: "small", oneProcess: true });
  const text = textOf(one);
  const names = [
    ...text.matchAll(/kind: (Deployment|ServiceAccount|Service)\nmetadata:\n {2}name: (\S+)/g),
  ].map(([, kind, name]) => `${kind} ${name}`);
  expect(names.filter((name) => !name.includes("dashboard"))).toEqual([
    "ServiceAccount denrei-run",
    "Deployment denrei-run",
    "Service denrei-gateway",
  ]);
  const [account] = accountsOf(one);
  expect(account).toMatchObject({ name: "denrei-run", runs: functions, watches: functions });
  expect(clusterRoles(one, "default").map(({ name }) => name)).toEqual([
    "dashboard",
    "operator",
    "backup",
    "restore",
    "run",
  ]);
});
