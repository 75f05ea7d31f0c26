/** Metadata-only lists, watches, and bookmarks of a real API server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiRequest, metadataOnly, resourcePath } from "../../bus/kube/client.ts";
import { Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import type { WatchEvent } from "../../bus/kube/watchstream.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { createNamespace } from "../harness/namespaces.ts";

const namespace = "quiet";
/** Content that must not be transferred. */
const hidden = "hunter2-hunter2";
let environment: LocalTestEnvironment;

beforeAll(async () => {
  environment = await startLocalTestEnvironment({ crds: [] });
  await createNamespace(environment.client, namespace);
});
afterAll(() => environment?.stop());

const create = (name: string) =>
  environment.client.create(
    Secret,
    {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name, labels: { seen: "yes" } } },
      data: { password: btoa(hidden) },
    } as unknown as KubeObject,
    { fieldManager: "test" },
  );

const list = (query: { limit: number; continue?: string | undefined }) =>
  environment.client.list(Secret, namespace, query, undefined, metadataOnly.list);

/** The first events of a watch. */
async function watched(from: ApiRequest["query"], count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const query = { ...from, allowWatchBookmarks: true, timeoutSeconds: 60 };
  const path = resourcePath(Secret, namespace);
  for await (const event of await environment.client.watch({ path, query, accept: metadataOnly.watch })) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

test("lists only metadata: no items if empty, all items over several pages", async () => {
  expect((await list({ limit: 1 })).items).toEqual([]);
  for (const name of ["one", "two", "three"]) await create(name);
  const names: string[] = [];
  let next: string | undefined;
  do {
    const page = await list({ limit: 2, continue: next });
    for (const item of page.items) {
      names.push(item.metadata.name);
      expect(item).toMatchObject({ metadata: { namespace, labels: { seen: "yes" } } });
    }
    expect(JSON.stringify(page)).not.toContain(btoa(hidden));
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
  expect(names.sort()).toEqual(["one", "three", "two"]);
});

test("watches changes and deletions from its position, without content", async () => {
  const { metadata } = await list({ limit: 1 });
  const { metadata: made } = await create("told");
  await environment.client.mergePatch(
    Secret,
    { namespace, name: "told" },
    { metadata: { labels: { seen: "again" } }, stringData: { more: hidden } },
    { fieldManager: "test" },
  );
  await environment.client.delete(Secret, { namespace, name: "told" }, {});
  const events = await watched({ resourceVersion: metadata.resourceVersion }, 3);
  expect(events.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  expect(events.map(({ object }) => object.metadata.uid)).toEqual(Array(3).fill(made.uid));
  expect(events[1]?.object.metadata.labels).toEqual({ seen: "again" });
  expect(JSON.stringify(events)).not.toContain(btoa(hidden));
});

test("a bookmark has a resource version", async () => {
  const { items } = await list({ limit: 10 });
  // The bookmark after the initial objects is the only one that does not take a minute.
  const all = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
  const events = await watched(all, items.length + 1);
  expect(events.map(({ type }) => type)).toEqual([...items.map(() => "ADDED"), "BOOKMARK"]);
  const newest = Math.max(...items.map(({ metadata }) => Number(metadata.resourceVersion)));
  expect(Number(events.at(-1)?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
});
