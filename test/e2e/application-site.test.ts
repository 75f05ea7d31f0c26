/** Settings in the site's ConfigMap apply to all Applications, also when they change. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { gatewayCrds } from "../gatewayapi/crds.ts";
import { Deployment, HTTPRoute, Ingress, Service } from "../harness/children.ts";
import { type Paas, platformNamespace, startPaas } from "../harness/paas.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { hastenTimer, storedDelay } from "../harness/timers.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"] });
});
afterAll(() => paas?.stop());

const at = (name: string) => ({ namespace: "default", name });
const until = (name: string, condition: (app: Stored<Application>) => boolean, deadlineMillis = 90_000) =>
  paas.environment.until(Application, at(name), condition, deadlineMillis);
const isReady = has("Ready", "True");
const site = (text: string) => paas.site({ "config.yaml": text });
const noSite = () =>
  paas.environment.client.delete(ConfigMap, { namespace: platformNamespace, name: "modoki" }, {});
const kindsOf = ({ status }: Stored<Application>) => status?.resources?.map(({ kind }) => kind);
const uidOf = async (kind: typeof Deployment | typeof Service, name: string) =>
  (await paas.environment.client.get(kind as typeof Deployment, at(name))).metadata.uid;

/** Triggers retries until it is ready: the API server serves a new kind a moment after its CRD is installed. */
async function readyByRetry(name: string): Promise<Stored<Application>> {
  const isReadyNow = async () => {
    await hastenTimer(paas, "modoki-application", at(name));
    return isReady(await paas.environment.client.get(Application, at(name)));
  };
  await expect.poll(isReadyNow, { timeout: 90_000, interval: 500 }).toBe(true);
  return until(name, isReady);
}

test("invalid settings change nothing, every Application reports them, and all continue once they are valid", async () => {
  await paas.application("before", { image: "before:1" });
  await until("before", isReady);
  await site("site: { scheme: gopher }");
  const stopped = await until("before", has("Ready", "False", "SiteConfigInvalid"));
  expect(stopped.status).toMatchObject({
    status: "failed",
    message: expect.stringContaining("config.yaml: site.scheme"),
    currentImage: "before:1",
    readyReplicas: 1,
  });
  expect(conditionOf(stopped, "Rendered")).toMatchObject({ status: "False", reason: "SiteConfigInvalid" });
  expect(conditionOf(stopped, "Applied")?.status, "what was applied is there").toBe("True");
  expect(kindsOf(stopped)).toEqual(["Deployment", "Service", "Ingress"]);
  await paas.application("meanwhile", { image: "meanwhile:1" });
  const first = await until("meanwhile", has("Ready", "False", "SiteConfigInvalid"));
  expect(first.status?.conditions?.map(({ type }) => type)).not.toContain("RolledOut");
  expect(first.status?.urls, "it is reached nowhere").toBeUndefined();
  await paas.patch(Application, "before", { spec: { image: "before:2" } });
  await until("before", ({ metadata, status }) => status?.observedGeneration === metadata.generation);
  expect((await paas.environment.client.get(Deployment, at("before"))).metadata.generation).toBe(1);
  await site("site: { scheme: http }");
  const healed = await until(
    "before",
    (app) =>
      isReady(app) && app.status?.currentImage === "before:2" && app.status.url?.startsWith("http:") === true,
  );
  expect(healed.status).toMatchObject({ status: "deployed", message: "", url: "http://before.example.com" });
  expect(healed.status?.conditions?.map(({ type }) => type)).not.toContain("Stalled");
  await until("meanwhile", isReady);
});

test("reports lost pods while the settings are invalid", async () => {
  await site("");
  await paas.application("watched", { image: "watched:1" });
  await until("watched", isReady);
  await site("sight: {}");
  await until("watched", has("Ready", "False", "SiteConfigInvalid"));
  // The settings keep the function from restoring it.
  await paas.patch(Deployment, "watched", { spec: { replicas: 0 } });
  const lost = await until("watched", ({ status }) => status?.readyReplicas === 0);
  expect(conditionOf(lost)).toMatchObject({ status: "False", reason: "SiteConfigInvalid" });
  await site("");
  await until("watched", (app) => isReady(app) && app.status?.readyReplicas === 1);
});

test("switches from Ingress to HTTPRoute: deletes nothing before the kind is installed, then only the Ingress", async () => {
  await site("");
  await paas.application("routed", { image: "routed:1" });
  await until("routed", isReady);
  const [deployment, service] = [await uidOf(Deployment, "routed"), await uidOf(Service, "routed")];
  await site("site: { gateway: { name: public, namespace: gateways } }");
  const missing = await until("routed", has("Applied", "False", "KindNotInstalled"));
  expect(missing.status).toMatchObject({ status: "error", message: expect.stringContaining("HTTPRoute") });
  expect(conditionOf(missing)).toMatchObject({ status: "False", reason: "KindNotInstalled" });
  expect(conditionOf(missing, "RolledOut")?.status, "the pods are well").toBe("True");
  await paas.environment.client.get(Ingress, at("routed"));
  // Meanwhile, a new Application gets all of its other objects.
  await paas.application("routeless", { image: "routeless:1" });
  await until("routeless", has("RolledOut", "True"));

  for (const name of ["routed", "routeless"])
    expect(await storedDelay(paas, "modoki-application", at(name))).toBeLessThanOrEqual(30_000);

  const signal = AbortSignal.timeout(60_000);
  await installCrds(paas.environment.client, await gatewayCrds(), { fieldManager: "test", signal });
  const [routed] = await Promise.all(["routed", "routeless"].map(readyByRetry));
  expect(routed && kindsOf(routed)).toEqual(["Deployment", "Service", "HTTPRoute"]);
  expect(routed?.status?.message).toBe("");
  await paas.environment.untilGone(Ingress, at("routed"));
  expect((await paas.environment.client.get(HTTPRoute, at("routed"))).spec.hostnames).toEqual([
    "routed.example.com",
  ]);
  expect([await uidOf(Deployment, "routed"), await uidOf(Service, "routed")]).toEqual([deployment, service]);
  await expect
    .poll(async () => (await paas.events("routed")).filter(({ reason }) => reason === "Pruned"))
    .toMatchObject([{ note: "deleted the Ingress routed, which the chart no longer renders" }]);
});

test("a Gateway that does not accept the route keeps an Application from being ready", async () => {
  await site("site: { gateway: { name: public, namespace: gateways } }");
  await paas.application("refused", { image: "refused:1" });
  await until("refused", isReady);
  const answer = (status: "True" | "False", reason: string) =>
    paas.environment.client.request({
      method: "PATCH",
      path: resourcePath(HTTPRoute, "default", "refused", "status"),
      contentType: "application/merge-patch+json",
      body: {
        status: {
          parents: [
            {
              controllerName: "example.com/gateways",
              parentRef: { name: "public", namespace: "gateways" },
              conditions: [
                {
                  type: "Accepted",
                  status,
                  reason,
                  message: "as the listener allows",
                  lastTransitionTime: "2026-01-01T00:00:00Z",
                },
              ],
            },
          ],
        },
      },
    });
  await answer("False", "NotAllowedByListeners");
  const refused = await until("refused", has("Ready", "False", "RouteNotAccepted"));
  expect(refused.status).toMatchObject({
    status: "error",
    message:
      "the Gateway gateways/public does not accept the HTTPRoute refused: NotAllowedByListeners: as the listener allows",
  });
  expect(conditionOf(refused, "RolledOut")?.status).toBe("True");
  await answer("True", "Accepted");
  expect((await until("refused", isReady)).status).toMatchObject({ status: "deployed", message: "" });
});

// Last, because each change of the site renders all Applications.
test("a change reaches every Application, and deleting the ConfigMap restores the defaults", async () => {
  await site("");
  const names = Array.from({ length: sized(12, 40) }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => paas.application(name, { replicas: 0 })));
  await Promise.all(names.map((name) => until(name, isReady)));
  const classes = async () =>
    new Set((await paas.environment.list(Ingress)).map(({ spec }) => spec.ingressClassName ?? "the default"));
  await site("site: { ingress: { className: outer } }");
  await expect.poll(classes, { timeout: 90_000 }).toEqual(new Set(["outer"]));
  await noSite();
  await expect.poll(classes, { timeout: 90_000 }).toEqual(new Set(["the default"]));
});
