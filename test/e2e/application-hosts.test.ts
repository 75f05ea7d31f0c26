/** Ownership of hosts: the first Application that claims a host keeps it, and no other one serves it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Application, HostClaim } from "../../functions/paas/kinds.ts";
import { labels } from "../../functions/paas/names.ts";
import { Ingress } from "../harness/children.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type Paas, platformNamespace, startPaas } from "../harness/paas.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const [x, y] = ["team-x", "team-y"];

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"] });
  for (const namespace of [x, y]) await createNamespace(paas.environment.client, namespace);
});
afterAll(() => paas?.stop());

const isReady = has("Ready", "True");
const isTaken = has("Ready", "False", "HostTaken");
const isBarred = has("Ready", "False", "HostNotAllowed");
const isCurrent = (app: Stored<Application>) => app.status?.observedGeneration === app.metadata.generation;
const messageOf = (app: Stored<Application>) => conditionOf(app)?.message;

const create = (namespace: string, name: string, domains: string[], own: Record<string, string> = {}) =>
  paas.create(Application, { metadata: { namespace, name, labels: own }, spec: { domains } });
const until = (namespace: string, name: string, condition: (app: Stored<Application>) => boolean) =>
  paas.environment.until(Application, { namespace, name }, (app) => condition(app) && isCurrent(app));
const domains = (namespace: string, name: string, hosts: string[]) =>
  paas.environment.client.mergePatch(
    Application,
    { namespace, name },
    { spec: { domains: hosts } },
    { fieldManager: "test" },
  );
const remove = (namespace: string, name: string) =>
  paas.environment.client.delete(Application, { namespace, name }, {});
const site = (text: string) => paas.site({ "config.yaml": text });

/** The hosts of an Ingress; empty without an Ingress. */
async function served(namespace: string, name: string): Promise<string[]> {
  try {
    const { spec } = await paas.environment.client.get(Ingress, { namespace, name });
    return spec.rules.map(({ host }) => host);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

test("the first Application keeps a host, and the second gets it as soon as the first releases it", async () => {
  await create(x, "shop", ["shop.example.com", "old.example.com"]);
  await until(x, "shop", isReady);
  await create(y, "thief", ["own.example.com", "shop.example.com"]);
  const thief = await until(y, "thief", isTaken);
  expect(messageOf(thief)).toContain("shop.example.com belongs to the Application team-x/shop");
  expect(thief.status).toMatchObject({
    status: "error",
    domains: ["own.example.com"],
    urls: ["https://own.example.com"],
  });
  expect(await served(y, "thief")).toEqual(["own.example.com"]);
  expect(await served(x, "shop")).toEqual(["shop.example.com", "old.example.com"]);
  expect(isReady(await paas.environment.client.get(Application, { namespace: x, name: "shop" }))).toBe(true);

  await domains(x, "shop", ["old.example.com"]);
  const heir = await until(y, "thief", isReady);
  expect(heir.status?.urls).toEqual(["https://own.example.com", "https://shop.example.com"]);
  expect(await served(y, "thief")).toEqual(["own.example.com", "shop.example.com"]);

  await domains(x, "shop", ["old.example.com", "shop.example.com"]);
  expect(messageOf(await until(x, "shop", isTaken))).toContain("the Application team-y/thief");
  await remove(y, "thief");
  await until(x, "shop", isReady);
  const claim = await paas.environment.client.get(HostClaim, { name: "host.shop.example.com" });
  expect(claim.spec).toMatchObject({ host: "shop.example.com", namespace: x, application: "shop" });
  await expect(paas.environment.client.get(HostClaim, { name: "host.own.example.com" })).rejects.toThrow(
    "404",
  );
});

test("of several Applications that claim a host at once, exactly one serves it", async () => {
  for (let round = 0; round < sized(2, 20); round++) {
    const host = `race-${round}.example.com`;
    const rivals = [x, y, "default"].flatMap((namespace) =>
      [1, 2].map((number) => ({ namespace, name: `race-${round}-${number}` })),
    );
    await Promise.all(rivals.map(({ namespace, name }) => create(namespace, name, [host])));
    const ends = await Promise.all(
      rivals.map(({ namespace, name }) => until(namespace, name, (app) => isReady(app) || isTaken(app))),
    );
    const winners = ends.filter(isReady);
    expect(winners).toHaveLength(1);
    const winner = `${winners[0]?.metadata.namespace}/${winners[0]?.metadata.name}`;
    for (const app of ends.filter(isTaken)) expect(messageOf(app)).toContain(winner);
    const hosts = await Promise.all(rivals.map(({ namespace, name }) => served(namespace, name)));
    expect(hosts.flat()).toEqual([host]);
  }
});

test("wildcards and reserved hosts require the site's permission, and lose their routes when it is withdrawn", async () => {
  await site("hosts: { reserved: [dashboard.example.org, '*.internal.example.org'] }");
  await create(y, "barred", ["*.example.org", "dashboard.example.org", "a.internal.example.org"]);
  const barred = await until(y, "barred", isBarred);
  expect(messageOf(barred)).toMatch(
    /the wildcard \*\.example\.org needs a permission for the namespace team-y/,
  );
  expect(messageOf(barred)).toContain("dashboard.example.org is reserved by the site");
  expect(messageOf(barred)).toContain("hosts.allowed.team-y in the ConfigMap modoki of denrei");
  expect(await served(y, "barred")).toEqual([]);

  const allowed = "hosts: { reserved: [dashboard.example.org], allowed: { team-y: ['*.example.org'] } }";
  await site(allowed);
  await until(y, "barred", isReady);
  expect(await served(y, "barred")).toHaveLength(3);

  // A failing chart leaves everything in place, except routes for hosts that are no longer allowed.
  const attributes = { "modoki.tsuzu.dev/oauth2": "Default" };
  await paas.environment.client.mergePatch(
    Application,
    { namespace: y, name: "barred" },
    { spec: { attributes } },
    { fieldManager: "test" },
  );
  await until(y, "barred", has("Ready", "False", "ChartThrew"));
  expect(await served(y, "barred")).toHaveLength(3);
  await site("");
  await paas.environment.untilGone(Ingress, { namespace: y, name: "barred" });
  await remove(y, "barred");
  await paas.environment.untilGone(Application, { namespace: y, name: "barred" });
});

test("a wildcard owns the hosts below it, also for previews, except those that were claimed before", async () => {
  await create(y, "early", ["early.shop.example.net"]);
  await until(y, "early", isReady);
  await site("hosts: { allowed: { team-x: ['*.shop.example.net'] } }");
  await create(x, "wild", ["*.shop.example.net"]);
  await until(x, "wild", isReady);
  await create(x, "same-team", ["a.shop.example.net"]);
  await until(x, "same-team", isReady);
  expect(await served(y, "early")).toEqual(["early.shop.example.net"]);

  const preview = { [labels.pipeline]: "web", [labels.pullRequest]: "1" };
  await create(y, "preview", ["pr-1-web-abcdef.shop.example.net"], preview);
  await create(y, "deep", ["a.b.shop.example.net"]);
  for (const name of ["preview", "deep"]) {
    const app = await until(y, name, isTaken);
    expect(messageOf(app)).toContain(
      "covered by *.shop.example.net, which belongs to the Application team-x/wild",
    );
    expect(await served(y, name)).toEqual([]);
  }
  await remove(x, "wild");
  for (const name of ["preview", "deep"]) await until(y, name, isReady);
});

test("leaves a host to another system's Ingress in another namespace until that is deleted", async () => {
  const backend = { service: { name: "grafana", port: { number: 80 } } };
  const rules = ["grafana.example.com", "*.grafana.example.com"].map((host) => ({
    host,
    http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
  }));
  const at = { namespace: platformNamespace, name: "grafana" };
  await paas.create(Ingress, { metadata: at, spec: { rules } });
  await create(y, "grafana", ["grafana.example.com"]);
  await create(y, "below", ["a.grafana.example.com"]);
  const found = await until(y, "grafana", isTaken);
  expect(messageOf(found)).toContain("grafana.example.com belongs to the Ingress denrei/grafana");
  expect(messageOf(await until(y, "below", isTaken))).toContain("covered by *.grafana.example.com");
  expect(await served(y, "grafana")).toEqual([]);
  await paas.environment.client.delete(Ingress, at, {});
  await until(y, "grafana", isReady);
  await until(y, "below", isReady);
});

test("claims hosts that only the chart sets", async () => {
  const chart = `
export default ({ app }) => {
  const { name, namespace } = app.metadata;
  const { host, alias } = app.spec.attributes;
  const backend = { service: { name, port: { number: 80 } } };
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
    { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name, annotations: alias
      ? { "nginx.ingress.kubernetes.io/server-alias": alias } : {} },
      spec: { rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] } },
  ];
};`;
  await paas.site({ "chart.js": chart });
  const withAttributes = (namespace: string, name: string, attributes: Record<string, string>) =>
    paas.create(Application, {
      metadata: { namespace, name },
      spec: { domains: [`${name}-${namespace}.example.com`], attributes },
    });
  await withAttributes(x, "charted", { host: "extra.example.com", alias: "alias.example.com" });
  await until(x, "charted", isReady);
  await withAttributes(y, "charted", {
    host: "mine.example.com",
    alias: "Alias.Example.com., extra.example.com",
  });
  const taken = await until(y, "charted", isTaken);
  expect(messageOf(taken)).toContain("alias.example.com belongs to the Application team-x/charted");
  expect(messageOf(taken)).toContain("extra.example.com belongs to the Application team-x/charted");
  const { metadata } = await paas.environment.client.get(Ingress, { namespace: y, name: "charted" });
  expect(metadata.annotations).not.toHaveProperty(["nginx.ingress.kubernetes.io/server-alias"]);
  await remove(x, "charted");
  await until(y, "charted", isReady);
  await paas.site({});
});
