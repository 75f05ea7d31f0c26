/** Applications whose children come and go while workers are killed (-9): every child is listed, and none is orphaned. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { inventoryOf } from "../../functions/paas/application/inventory.ts";
import { childKinds, HTTPRoute } from "../../functions/paas/charts/kinds.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { changedSince, killAtRandom } from "../harness/crowd.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { random } from "../harness/random.ts";
import { sized } from "../harness/size.ts";
import { has } from "../harness/testobjects.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({
    functions: ["modoki-application"],
    workers: 2,
    env: { DENREI_ACK_WAIT_SECONDS: "4" },
  });
});
afterAll(() => paas?.stop());

const at = (name: string) => ({ namespace: "default", name });
const isDeployed = (app: Stored<Application>) =>
  has("Ready", "True")(app) && app.status?.observedGeneration === app.metadata.generation;
/** A login adds two children. */
const login = (is: "on" | "off") => ({
  attributes: is === "on" ? { "modoki.tsuzu.dev/oauth2": "default" } : null,
});
const plain = ["Deployment", "Service", "Ingress"];
const withLogin = ["Deployment", "Service", "Ingress", "Service", "Ingress"];
// Its CRD is not installed here.
const kinds = childKinds.filter((kind) => kind !== HTTPRoute);

const childrenOf = async (): Promise<readonly Stored[]> =>
  (
    await Promise.all(
      kinds.map(async (kind) =>
        (await paas.environment.list(kind)).map((child) => ({ ...child, kind: kind.kind })),
      ),
    )
  ).flat();
const textOf = ({ kind, metadata }: Stored): string => `${kind}/${metadata.name} ${metadata.uid}`;

/** The objects that an Application controls, as `Kind/name uid`. */
const ownedBy = async ({ metadata: { uid } }: Stored<Application>): Promise<string[]> =>
  (await childrenOf())
    .filter((child) => controllerOf(child)?.uid === uid)
    .map(textOf)
    .sort();

const listedBy = ({ status }: Stored<Application>): string[] =>
  (status?.resources ?? []).map(({ kind, name, uid }) => `${kind}/${name} ${uid}`).sort();

/** Children that exist before and after the check without being listed by an Application. */
async function unlisted(): Promise<string[]> {
  const before = await childrenOf();
  const apps = await paas.environment.list(Application);
  const after = new Set((await childrenOf()).map(textOf));
  return before
    .filter((child) => {
      const app = apps.find(({ metadata }) => metadata.uid === controllerOf(child)?.uid);
      const { kind, metadata } = child;
      const listed = inventoryOf(app?.status);
      return app && !listed.some((one) => one.kind === kind && one.name === metadata.name);
    })
    .map(textOf)
    .filter((text) => after.has(text));
}

test("every child is listed whenever a worker dies, and no other child remains at the end", async () => {
  const names = Array.from({ length: 6 }, (_, index) => `killed-${index}`);
  await Promise.all(names.map((name) => paas.application(name, { image: "killed:1", replicas: 0 })));
  const next = random(7);
  let begun = 0;
  let checks = 0;
  /** Each Application changes now and then, and ends with or without a login. */
  const changed = Promise.all(
    names.map(async (name) => {
      for (let change = 0; change < sized(8, 24) || begun <= 3 || checks <= 20; change++) {
        await paas.patch(Application, name, { spec: login(next() < 0.5 ? "on" : "off") });
        await sleep(1000 * next());
      }
    }),
  );
  let going = true;
  const unlistedChildren = (async () => {
    const found = new Set<string>();
    for (; going; checks++) for (const text of await unlisted()) found.add(text);
    return [...found];
  })();
  const kills = await killAtRandom(paas.workers, changed, {
    pauseMillis: 400,
    mayKill: changedSince(paas.bus),
    onKill: () => {
      begun++;
    },
  });
  await changed;
  going = false;
  expect(await unlistedChildren, "children are listed before they are created").toEqual([]);
  expect(kills).toBeGreaterThan(3);
  for (const [index, name] of names.entries()) {
    // An Application whose workers died three times is skipped until its spec changes, so change it.
    const spec = { image: "killed:2", ...login(index % 2 === 0 ? "on" : "off") };
    await paas.patch(Application, name, { spec });
    const app = await paas.environment.until(Application, at(name), isDeployed, 120_000);
    expect(app.status?.resources?.map(({ kind }) => kind)).toEqual(index % 2 === 0 ? withLogin : plain);
    expect(await ownedBy(app), "every listed child exists, and nothing else").toEqual(listedBy(app));
  }
}, 300_000);

test("the next worker lists or deletes the children that a dead worker created", async () => {
  await paas.application("halfway", { image: "halfway:1", replicas: 0, ...login("on") } as never);
  const whole = await paas.environment.until(Application, at("halfway"), isDeployed);
  expect(whole.status?.resources).toHaveLength(5);
  for (const worker of paas.workers) await worker.kill();
  // The state after a worker died between creating children and listing their results.
  const announced = whole.status?.resources?.map(({ uid: _, ...resource }) => resource);
  await paas.environment.client.mergePatch(
    Application,
    at("halfway"),
    { status: { resources: null, planned: announced } },
    { fieldManager: "test", subresource: "status" },
  );
  // Two of them are no longer desired when the next worker starts.
  await paas.patch(Application, "halfway", { spec: login("off") });
  for (const worker of paas.workers) await worker.start();
  const app = await paas.environment.until(
    Application,
    at("halfway"),
    (found) => isDeployed(found) && found.status?.resources?.length === 3,
  );
  expect(listedBy(app)).toEqual(listedBy(whole).filter((text) => !text.includes("oauth2")));
  expect(await ownedBy(app)).toEqual(listedBy(app));
});

test("the next worker creates what a dead worker had announced", async () => {
  for (const worker of paas.workers) await worker.kill();
  await paas.application("announced", { image: "announced:1", replicas: 0 });
  const entry = { apiVersion: "v1", kind: "Service", namespace: "default" };
  await paas.environment.client.mergePatch(
    Application,
    at("announced"),
    {
      status: {
        resources: [
          { ...entry, name: "announced" },
          { ...entry, name: "never-made" },
        ],
      },
    },
    { fieldManager: "test", subresource: "status" },
  );
  for (const worker of paas.workers) await worker.start();
  const app = await paas.environment.until(Application, at("announced"), isDeployed);
  expect(app.status?.resources?.map(({ kind }) => kind)).toEqual(plain);
  expect(await ownedBy(app)).toEqual(listedBy(app));
});
