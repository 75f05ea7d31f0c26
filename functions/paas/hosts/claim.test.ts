import { expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Application } from "../kinds/application.ts";
import type { HostClaim } from "../kinds/hostclaim.ts";
import { labels } from "../names.ts";
import { claimHosts, releaseHosts } from "./claim.ts";
import { hostIndex } from "./desired.ts";
import { claimName } from "./names.ts";
import type { HostsConfig } from "./policy.ts";

type App = Stored<Application>;
const host = "shop.example.com";

interface Given {
  readonly created?: number;
  readonly domains?: string[];
  readonly serves?: boolean;
  readonly preview?: boolean;
}

/** The Application `namespace/name`. A smaller `created` is older. */
function application(
  at: string,
  { created = 5, domains = [host], serves = false, preview = false }: Given = {},
): App {
  const [namespace = "", name = ""] = at.split("/");
  return {
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "Application",
    metadata: {
      namespace,
      name,
      uid: `uid of ${at}`,
      resourceVersion: "1",
      creationTimestamp: `2026-01-0${created}T00:00:00Z`,
      ...(preview && { labels: { [labels.pipeline]: "web" } }),
    },
    spec: { domains, replicas: 1 },
    ...(serves && { status: { domains } }),
  };
}

const claimOf = (app: App, of = host): Stored<HostClaim> => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "HostClaim",
  metadata: { name: claimName(of), uid: `claim ${of}`, resourceVersion: "1" },
  spec: {
    host: of,
    namespace: app.metadata.namespace ?? "",
    application: app.metadata.name,
    uid: app.metadata.uid,
  },
});

/** A cluster in memory. `stale`: claims on the bus. `rival`: gets the claim while another one is being created. */
function cluster({
  apps = [],
  claims = [],
  routes = [],
  stale = claims,
  rival,
}: {
  readonly apps?: readonly App[];
  readonly claims?: readonly Stored<HostClaim>[];
  readonly routes?: readonly Stored[];
  readonly stale?: readonly Stored<HostClaim>[];
  readonly rival?: App;
}) {
  const there = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  const application = (namespace?: string, name?: string) =>
    [...apps, ...(rival ? [rival] : [])].find(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
  let racing = rival;
  const contextOf = (app: App) =>
    ({
      key: { namespace: app.metadata.namespace, name: app.metadata.name },
      read: {
        get: async (kind: { kind: string }, name: string, namespace: string) =>
          kind.kind === "HostClaim"
            ? stale.find(({ metadata }) => metadata.name === name)
            : application(namespace, name),
        find: async (_: string, value: string) =>
          apps
            .filter((one) => hostIndex.host(one).includes(value))
            .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name })),
      },
      live: {
        get: async (kind: { kind: string }, name: string, namespace: string) =>
          kind.kind === "HostClaim" ? there.get(name) : application(namespace, name),
        list: async (kind: { kind: string }) => {
          const found = routes.filter((route) => route.kind === kind.kind);
          // A cluster without the Gateway API.
          if (found.length === 0 && kind.kind !== "Ingress") throw new ApiError("GET /", 404, {}, undefined);
          return found;
        },
      },
      create: async (_: unknown, { spec }: HostClaim) => {
        if (racing) there.set(claimName(spec.host), claimOf(racing, spec.host));
        racing = undefined;
        if (there.has(claimName(spec.host))) throw new BlockedError("NameTaken", "taken");
        there.set(claimName(spec.host), { ...claimOf(app, spec.host), spec });
      },
      delete: async (_: unknown, object: KubeObject) => void there.delete(object.metadata.name),
    }) as unknown as Context;
  return {
    claim: (app: App, config: Partial<HostsConfig> = {}, hosts: readonly string[] = [host]) =>
      claimHosts(app, hosts, { reserved: [], allowed: {}, ...config }, contextOf(app)),
    release: (app: App) => releaseHosts(app, [host], contextOf(app)),
    owner: (of = host) => there.get(claimName(of))?.spec.uid,
  };
}

const granted = { granted: [host], refusals: [] };
const takenFrom = (text: string) => ({
  granted: [],
  refusals: [{ host, reason: "HostTaken", message: expect.stringContaining(text) }],
});
const [x, y] = [application("team-x/shop"), application("team-y/shop")];

const ingress = (namespace: string, of: string, created: number): Stored => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: {
    namespace,
    name: "other",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: `2026-01-0${created}T00:00:00Z`,
  },
  spec: { rules: [{ host: of }] },
});

test.each(["HTTPRoute", "GRPCRoute", "TLSRoute"])(
  "does not grant the host of another system's %s in another namespace",
  async (kind) => {
    const apiVersion = "gateway.networking.k8s.io/v1";
    const route = { ...ingress("team-y", host, 1), apiVersion, kind, spec: { hostnames: [host] } };
    expect(await cluster({ apps: [x], routes: [route] }).claim(x)).toEqual(
      takenFrom(`the ${kind} team-y/other`),
    );
    const own = { ...route, metadata: { ...route.metadata, namespace: "team-x" } };
    expect(await cluster({ apps: [x], routes: [own] }).claim(x)).toEqual(granted);
  },
);

test("claims a free host, and changes nothing on repetition", async () => {
  const { claim, owner } = cluster({ apps: [x] });
  for (let time = 0; time < 2; time++) expect(await claim(x)).toEqual(granted);
  expect(owner()).toBe(x.metadata.uid);
});

test("does not get a host whose claim is created between its read and its own attempt", async () => {
  const { claim, owner } = cluster({ apps: [y], rival: x });
  expect(await claim(y)).toEqual(takenFrom("the Application team-x/shop"));
  expect(owner()).toBe(x.metadata.uid);
});

test("does not accept a claim that only the bus has for a host that was never served", async () => {
  const { claim } = cluster({ apps: [x, y], claims: [claimOf(x)], stale: [claimOf(y)] });
  expect(await claim(y)).toEqual(takenFrom("the Application team-x/shop"));
});

test.each([
  ["no longer exists", []],
  ["was recreated", [{ ...x, metadata: { ...x.metadata, uid: "another" } }]],
])("takes over the claim of an Application that %s", async (_, apps) => {
  const { claim, owner } = cluster({ apps, claims: [claimOf(x)] });
  expect(await claim(y)).toEqual(granted);
  expect(owner()).toBe(y.metadata.uid);
});

test.each<[string, App, App]>([
  [
    "the older one",
    application("team-y/a", { created: 1, serves: true }),
    application("team-x/b", { created: 2, serves: true }),
  ],
  [
    "the first by name at the same age",
    application("team-a/a", { serves: true }),
    application("team-b/a", { serves: true }),
  ],
  [
    "the one that serves it",
    application("team-y/a", { created: 2, serves: true }),
    application("team-x/b", { created: 1 }),
  ],
  [
    "the one that is not a preview",
    application("team-y/a", { created: 2, serves: true }),
    application("team-x/b", { created: 1, serves: true, preview: true }),
  ],
])("grants a host that two Applications served before claims existed to %s", async (_, first, second) => {
  const { claim, owner } = cluster({ apps: [second, first] });
  expect(await claim(second)).toEqual(takenFrom(`the Application ${first.metadata.namespace}/a`));
  expect(owner()).toBeUndefined();
  expect(await claim(first)).toEqual(granted);
});

test("ignores Applications that are being deleted or have no permission", async () => {
  const elder = application("team-x/shop", { created: 1, serves: true });
  const deleted = { ...elder, metadata: { ...elder.metadata, deletionTimestamp: "2026-01-09T00:00:00Z" } };
  expect(await cluster({ apps: [deleted, y] }).claim(y)).toEqual(granted);
  const config = { reserved: [host], allowed: { "team-y": [host] } };
  expect(await cluster({ apps: [elder, y] }).claim(y, config)).toEqual(granted);
});

test("respects the wildcard of another namespace, unless the site allows the host", async () => {
  const wild = application("team-x/wild", { domains: ["*.example.com"] });
  const of = { apps: [wild, y], claims: [claimOf(wild, "*.example.com")] };
  expect(await cluster(of).claim(y)).toEqual(
    takenFrom("covered by *.example.com, which belongs to the Application team-x/wild"),
  );
  expect(await cluster(of).claim(x), "the same namespace").toEqual(granted);
  expect(await cluster(of).claim(y, { allowed: { "team-y": [host] } })).toEqual(granted);
  expect(await cluster({ ...of, apps: [y] }).claim(y), "whose owner is gone").toEqual(granted);
});

test("leaves hosts under a wildcard to their owners", async () => {
  const wild = application("team-y/wild", { domains: ["*.example.com"] });
  const { claim, owner } = cluster({ apps: [x, wild], claims: [claimOf(x)] });
  const config = { allowed: { "team-y": ["*.example.com"] } };
  expect((await claim(wild, config, ["*.example.com"])).granted).toEqual(["*.example.com"]);
  expect(owner()).toBe(x.metadata.uid);
});

test.each([
  ["has the host", ingress("grafana", host, 9), y, "the Ingress grafana/other"],
  ["covers it", ingress("grafana", "*.example.com", 9), y, "covered by *.example.com"],
  [
    "is older",
    ingress("grafana", host, 1),
    application("team-y/shop", { created: 2, serves: true }),
    "the Ingress",
  ],
])("respects the Ingress of another system that %s", async (_, route, app, text) => {
  expect(await cluster({ apps: [app], routes: [route] }).claim(app)).toEqual(takenFrom(text));
});

test.each([
  ["of the same namespace", ingress("team-y", host, 1), y],
  [
    "that is younger than the owner's route",
    ingress("grafana", host, 3),
    application("team-y/shop", { created: 2, serves: true }),
  ],
  ["for all hosts", ingress("grafana", "", 1), y],
])("ignores an Ingress %s", async (_, route, app) => {
  expect(await cluster({ apps: [app], routes: [route] }).claim(app)).toEqual(granted);
});

test("releases a claim only for its own Application", async () => {
  const { release, owner } = cluster({ apps: [x, y], claims: [claimOf(x)] });
  await release(y);
  expect(owner()).toBe(x.metadata.uid);
  await release(x);
  expect(owner()).toBeUndefined();
});
