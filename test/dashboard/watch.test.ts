/** Watching lists over one stream. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
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

const pathOf = (namespace: string) => `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${namespace}/applications`;
const applications = pathOf(team);

let environment: DashboardEnvironment;
let alice: Visitor;
const readers: EventReader[] = [];
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  alice = await environment.visitor(people.alice);
  await create("first");
});
afterAll(async () => {
  for (const reader of readers) reader.close();
  await environment?.stop();
});

async function watch(paths: readonly string[], from?: string, session = alice): Promise<EventReader> {
  const query = new URLSearchParams(paths.map((path): [string, string] => ["of", path]));
  const reader = await readEvents(session, `/api/watch?${query}`, from);
  readers.push(reader);
  return reader;
}

const create = (name: string) =>
  environment.client.create(
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
  environment.client.mergePatch(
    Application,
    { namespace: team, name },
    { spec: { replicas } },
    { fieldManager: "test" },
  );
const remove = (name: string) =>
  environment.client.request({ method: "DELETE", path: `${applications}/${name}` });

/** The next changes, abbreviated. */
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

test("sends each list once, then each change in order", async () => {
  const reader = await watch([applications, `/api/v1/namespaces/${team}/pods`]);
  const lists = [await reader.nextOf<Listed>("list"), await reader.nextOf<Listed>("list")];
  expect(lists.map(({ data }) => [data.at, data.items.map(({ metadata }) => metadata.name)]).sort()).toEqual([
    [0, ["first"]],
    [1, []],
  ]);
  // managedFields is of no use to a page.
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

test("a client that reconnects receives the changes that it missed, without a list or a repetition", async () => {
  await create("third");
  const reader = await watch([applications]);
  const list = await reader.nextOf<Listed>("list");
  await scale("third", 1);
  const change = await reader.nextOf<Changed>("change");
  reader.close();
  for (const replicas of [2, 3]) await scale("third", replicas);
  await remove("third");
  const all = [
    ["MODIFIED", "third", 1],
    ["MODIFIED", "third", 2],
    ["MODIFIED", "third", 3],
    ["DELETED", "third", 3],
  ];
  for (const [id, missed] of [
    [list.id, all],
    [change.id, all.slice(1)],
  ] as const) {
    const again = await watch([applications], id);
    expect(await changes(again, missed.length)).toEqual(missed);
    expect(again.all.map(({ event }) => event)).toEqual(missed.map(() => "change"));
  }
});

test("a client that reconnects too late gets the list again", async () => {
  const reader = await watch([applications], "1");
  const { data } = await reader.nextOf<Listed>("list");
  expect(data.items.map(({ metadata }) => metadata.name)).toEqual(["first"]);
  await scale("first", 7);
  expect(await changes(reader, 1)).toEqual([["MODIFIED", "first", 7]]);
});

test("reports a forbidden list, and still sends the others", async () => {
  const reader = await watch([pathOf(foreign), applications]);
  const events = [await reader.next(), await reader.next()];
  expect(events.map((one) => [one?.event, one?.data]).sort()).toMatchObject([
    ["list", { at: 1 }],
    [
      "problem",
      { at: 0, status: 403, kind: "Status", message: expect.stringContaining('User "alice" cannot list') },
    ],
  ]);
});

test("limits the open streams of a user", async () => {
  const bob = await environment.visitor(people.bob);
  const open = Array.from({ length: 32 }, () => watch([applications], undefined, bob));
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
