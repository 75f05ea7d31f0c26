/** Applications whose children come and go while workers are killed (-9): every child is listed, and none is left over. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { childKinds, HTTPRoute } from "../../functions/paas/charts/kinds.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { changedSince, killAtRandom } from "../harness/crowd.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { random } from "../harness/random.ts";
import { sized } from "../harness/size.ts";
import { has } from "../harness/world.ts";

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
/** With a login there are two more children, without one they go. */
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
      kinds.map(async (kind) => (await paas.kit.list(kind)).map((child) => ({ ...child, kind: kind.kind }))),
    )
  ).flat();
const textOf = ({ kind, metadata }: Stored): string => `${kind}/${metadata.name} ${metadata.uid}`;

/** What an Application controls, as `Kind/name uid`. */
const ownedBy = async ({ metadata: { uid } }: Stored<Application>): Promise<string[]> =>
  (await childrenOf())
    .filter((child) => controllerOf(child)?.uid === uid)
    .map(textOf)
    .sort();

const listedBy = ({ status }: Stored<Application>): string[] =>
  (status?.resources ?? []).map(({ kind, name, uid }) => `${kind}/${name} ${uid}`).sort();

/** Children that no Application lists although they were there before it was looked, and still are. */
async function unlisted(): Promise<string[]> {
  const before = await childrenOf();
  const apps = await paas.kit.list(Application);
  const after = new Set((await childrenOf()).map(textOf));
  return before
    .filter((child) => {
      const app = apps.find(({ metadata }) => metadata.uid === controllerOf(child)?.uid);
      const { kind, metadata } = child;
      return app && !app.status?.resources?.some((one) => one.kind === kind && one.name === metadata.name);
    })
    .map(textOf)
    .filter((text) => after.has(text));
}

test("whenever a worker dies, all that there is is listed, and in the end there is nothing else", async () => {
  const names = Array.from({ length: 6 }, (_, index) => `killed-${index}`);
  await Promise.all(names.map((name) => paas.application(name, { image: "killed:1", replicas: 0 })));
  const next = random(7);
  let begun = 0;
  let looks = 0;
  /** Each of them changes every now and then, and ends with a login or without one. */
  const changed = Promise.all(
    names.map(async (name) => {
      for (let change = 0; change < sized(8, 24) || begun <= 3 || looks <= 20; change++) {
        await paas.patch(Application, name, { spec: login(next() < 0.5 ? "on" : "off") });
        await sleep(1000 * next());
      }
    }),
  );
  let going = true;
  const looked = (async () => {
    const found = new Set<string>();
    for (; going; looks++) for (const text of await unlisted()) found.add(text);
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
  expect(await looked, "what is made is listed before").toEqual([]);
  expect(kills).toBeGreaterThan(3);
  for (const [index, name] of names.entries()) {
    // One whose workers died three times over it is left alone until its spec changes, so it has to change.
    const spec = { image: "killed:2", ...login(index % 2 === 0 ? "on" : "off") };
    await paas.patch(Application, name, { spec });
    const app = await paas.kit.until(Application, at(name), isDeployed, 120_000);
    expect(app.status?.resources?.map(({ kind }) => kind)).toEqual(index % 2 === 0 ? withLogin : plain);
    expect(await ownedBy(app), "nothing is left over, and all of it is there").toEqual(listedBy(app));
  }
}, 300_000);

test("what a worker has made before it died is listed or taken away by the next one", async () => {
  await paas.application("halfway", { image: "halfway:1", replicas: 0, ...login("on") } as never);
  const whole = await paas.kit.until(Application, at("halfway"), isDeployed);
  expect(whole.status?.resources).toHaveLength(5);
  for (const worker of paas.workers) await worker.kill();
  // As one leaves it that dies between making children and listing what they have become.
  const announced = whole.status?.resources?.map(({ uid: _, ...resource }) => resource);
  await paas.kit.client.mergePatch(
    Application,
    at("halfway"),
    { status: { resources: announced } },
    { fieldManager: "test", subresource: "status" },
  );
  // Before the next one looks, two of them are not wanted any more.
  await paas.patch(Application, "halfway", { spec: login("off") });
  for (const worker of paas.workers) await worker.start();
  const app = await paas.kit.until(
    Application,
    at("halfway"),
    (found) => isDeployed(found) && found.status?.resources?.length === 3,
  );
  expect(listedBy(app)).toEqual(listedBy(whole).filter((text) => !text.includes("oauth2")));
  expect(await ownedBy(app)).toEqual(listedBy(app));
});

test("what a worker has announced before it died is made by the next one", async () => {
  for (const worker of paas.workers) await worker.kill();
  await paas.application("announced", { image: "announced:1", replicas: 0 });
  const entry = { apiVersion: "v1", kind: "Service", namespace: "default" };
  await paas.kit.client.mergePatch(
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
  const app = await paas.kit.until(Application, at("announced"), isDeployed);
  expect(app.status?.resources?.map(({ kind }) => kind)).toEqual(plain);
  expect(await ownedBy(app)).toEqual(listedBy(app));
});
