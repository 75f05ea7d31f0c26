/** What changes, told to a page over one stream. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { functions } from "../../functions/index.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { foreign, type OwnScene, people, startOwnScene, team } from "../harness/dashboard.ts";
import { type EventReader, readEvents } from "../harness/eventreader.ts";
import type { Visitor } from "../harness/visitor.ts";

interface Named {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly managedFields?: unknown;
  };
  readonly spec: { readonly replicas?: number };
}
interface Listed {
  readonly at: number;
  readonly items: readonly Named[];
}
interface Changed {
  readonly at: number;
  readonly type: string;
  readonly object: Named;
}

const crds = crdManifests(functions);
const nameOf = ({ metadata }: Record<string, unknown>) => (metadata as { name: string }).name;
const isSong = (crd: Record<string, unknown>) => nameOf(crd).startsWith("hikawas.");
const songs = `/apis/zundokokiyoshi.kaitoy.github.com/v1beta1/namespaces/${team}/hikawas`;
const pathOf = (namespace: string) => `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${namespace}/applications`;
const applications = pathOf(team);

let scene: OwnScene;
let alice: Visitor;
const readers: EventReader[] = [];
beforeAll(async () => {
  scene = await startOwnScene({ crds: crds.filter((crd) => !isSong(crd)) });
  alice = await scene.visitor(people.alice);
  await create("first");
});
afterAll(async () => {
  for (const reader of readers) reader.close();
  await scene?.stop();
});

async function watch(paths: readonly string[], from?: string, session = alice): Promise<EventReader> {
  const query = new URLSearchParams(paths.map((path): [string, string] => ["of", path]));
  const reader = await readEvents(session, `/api/watch?${query}`, from);
  readers.push(reader);
  return reader;
}

const create = (name: string) =>
  scene.kit.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name, namespace: team },
      spec: { domains: [`${name}.example.com`], replicas: 0 },
    },
    { fieldManager: "test" },
  );
const scale = (name: string, replicas: number) =>
  scene.kit.client.mergePatch(
    Application,
    { namespace: team, name },
    { spec: { replicas } },
    { fieldManager: "test" },
  );
const remove = (name: string) =>
  scene.kit.client.request({ method: "DELETE", path: `${applications}/${name}` });

/** The next changes, in short. */
async function changes(
  reader: EventReader,
  count: number,
): Promise<(readonly [string, string, number | undefined])[]> {
  const found: (readonly [string, string, number | undefined])[] = [];
  while (found.length < count) {
    const { data } = await reader.nextOf<Changed>("change");
    found.push([data.type, data.object.metadata.name, data.object.spec.replicas]);
  }
  return found;
}

test("objects are listed once, then each change is told, in order", async () => {
  const reader = await watch([applications, `/api/v1/namespaces/${team}/pods`]);
  const lists = [await reader.nextOf<Listed>("list"), await reader.nextOf<Listed>("list")];
  expect(lists.map(({ data }) => [data.at, data.items.map(({ metadata }) => metadata.name)]).sort()).toEqual([
    [0, ["first"]],
    [1, []],
  ]);
  // Who has written which field is nothing for a page.
  const [first] = lists.find(({ data }) => data.at === 0)?.data.items ?? [];
  expect(first?.metadata).not.toHaveProperty("managedFields");
  await create("second");
  for (const replicas of [1, 2, 3]) await scale("first", replicas);
  await remove("second");
  expect(await changes(reader, 5)).toEqual([
    ["ADDED", "second", 0],
    ["MODIFIED", "first", 1],
    ["MODIFIED", "first", 2],
    ["MODIFIED", "first", 3],
    ["DELETED", "second", 0],
  ]);
});

test("whoever comes back is told what they have missed, and no list", async () => {
  await create("third");
  const reader = await watch([applications]);
  const { id } = await reader.nextOf<Listed>("list");
  reader.close();
  for (const replicas of [1, 2, 3]) await scale("third", replicas);
  await remove("third");
  const again = await watch([applications], id);
  expect(await changes(again, 4)).toEqual([
    ["MODIFIED", "third", 1],
    ["MODIFIED", "third", 2],
    ["MODIFIED", "third", 3],
    ["DELETED", "third", 3],
  ]);
  expect(again.all.map(({ event }) => event)).toEqual(["change", "change", "change", "change"]);
});

test("whoever comes back too late is told the list again", async () => {
  const reader = await watch([applications], "1");
  const { data } = await reader.nextOf<Listed>("list");
  expect(data.items.map(({ metadata }) => metadata.name)).toEqual(["first"]);
  await scale("first", 7);
  expect(await changes(reader, 1)).toEqual([["MODIFIED", "first", 7]]);
});

test("an API server that is away is told of, and no change is lost or told twice", async () => {
  const { apiserver } = scene.kit.platform;
  const reader = await watch([applications]);
  await reader.nextOf("list");
  for (const replicas of [11, 12]) await scale("first", replicas);
  await changes(reader, 2);
  await apiserver.stop("SIGKILL");
  try {
    const { data } = await reader.nextOf<{ status: number; reason: string }>("trouble");
    expect(data).toMatchObject({ at: 0, status: 503, reason: "Unavailable" });
  } finally {
    await apiserver.start();
  }
  for (const replicas of [13, 14, 15]) await scale("first", replicas);
  // An API server that has begun anew may not know what was before it: then there is a list, of what is now.
  const seen = () =>
    reader.all.flatMap(({ event, data }) => {
      const { object, items = [] } = data as Partial<Changed & Listed>;
      return [object, ...items].flatMap((one) => (one ? [{ event, replicas: one.spec.replicas ?? 0 }] : []));
    });
  while (seen().at(-1)?.replicas !== 15) expect(await reader.next()).toBeDefined();
  const states = seen().map(({ replicas }) => replicas);
  expect(states).toEqual(states.toSorted((one, other) => one - other));
  const told = seen().flatMap(({ event, replicas }) => (event === "change" ? [replicas] : []));
  expect(told.slice(0, 2)).toEqual([11, 12]);
  expect(told.slice(2)).toEqual([13, 14, 15].slice(3 - (told.length - 2)));
  expect(new Set(told).size).toBe(told.length);
  const troubles = reader.all.filter(({ event }) => event === "trouble");
  // Each trouble once, and at the end that there is none.
  const statuses = troubles.map(({ data }) => (data as { status: number }).status);
  expect(statuses.at(-1)).toBe(0);
  expect(statuses.filter((status) => status === 0)).toHaveLength(1);
  expect(new Set(statuses).size).toBe(statuses.length);
});

test("what is refused is told of, and does not keep the rest from coming", async () => {
  const reader = await watch([pathOf(foreign), applications]);
  const events = [await reader.next(), await reader.next()];
  expect(events.map((one) => [one?.event, one?.data]).sort()).toMatchObject([
    ["list", { at: 1 }],
    ["trouble", { at: 0, status: 403, message: expect.stringContaining('User "alice" cannot list') }],
  ]);
});

test("a kind that is not installed is told of; once it is, its objects are", async () => {
  const reader = await watch([songs]);
  expect(await reader.next()).toMatchObject({ event: "trouble", data: { at: 0, status: 404 } });
  await installCrds(scene.kit.client, crds.filter(isSong), {
    fieldManager: "test",
    signal: AbortSignal.timeout(60_000),
  });
  const { data } = await (await watch([songs])).nextOf<Listed>("list");
  expect(data.items).toEqual([]);
  // Whoever has waited is told as well.
  await reader.nextOf("list");
  expect(await reader.next()).toMatchObject({ event: "trouble", data: { at: 0, status: 0 } });
});

test("of one session so many streams are open at once", async () => {
  const bob = await scene.visitor(people.bob);
  const open = Array.from({ length: 16 }, () => watch([applications], undefined, bob));
  const all = await Promise.all(open);
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
  const more = await bob.fetch(`/api/watch?of=${applications}`);
  expect([more.status, more.headers.get("retry-after"), await more.json()]).toMatchObject([
    429,
    "1",
    { reason: "TooMany" },
  ]);
  all[0]?.close();
  await expect
    .poll(async () => (await watch([applications], undefined, bob)).status, { timeout: 60_000 })
    .toBe(200);
});
