import { expect, onTestFinished, test } from "vitest";
import type { KubeClient, WatchEvent } from "../../../bus/kube/client.ts";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { Zundoko } from "../../../functions/zundoko/kinds.ts";
import { follow } from "./follow.ts";

const object = (name: string, resourceVersion: string): Stored<Zundoko> => ({
  apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1",
  kind: "Zundoko",
  metadata: { name, uid: name, resourceVersion },
  spec: { say: "Zun" },
});
const gone = new ApiError("watch", 410, { reason: "Expired" });

/** An API server that returns these lists and watches in turn; the last watch stays open. */
function server(
  lists: { items: Stored<Zundoko>[]; version: string }[],
  watches: { events: WatchEvent<Zundoko>[]; end?: Error }[],
) {
  const watchedFrom: unknown[] = [];
  const client = {
    async list() {
      const { items, version } = lists.shift() ?? { items: [], version: "?" };
      return { items, metadata: { resourceVersion: version } };
    },
    async watch({ query, signal }: { query: { resourceVersion: string }; signal: AbortSignal }) {
      watchedFrom.push(query.resourceVersion);
      const watch = watches.shift();
      return (async function* () {
        yield* watch?.events ?? [];
        if (watch?.end) throw watch.end;
        if (watches.length === 0) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      })();
    },
  };
  return { client: client as unknown as KubeClient, watchedFrom };
}

async function following({ client }: ReturnType<typeof server>) {
  const changes: string[] = [];
  const errors: (string | undefined)[] = [];
  const stop = new AbortController();
  const { ended } = await follow({
    client,
    kind: Zundoko,
    namespace: "default",
    signal: stop.signal,
    each: (type, { metadata }) => changes.push(`${type} ${metadata.name}`),
    onError: (error) => errors.push(error?.message),
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  return { changes, errors };
}

test("reports new changes only, and resumes where a watch ended", async () => {
  const api = server(
    [{ items: [object("old", "5")], version: "9" }],
    [
      { events: [{ type: "ADDED", object: object("a", "10") }] },
      {
        events: [
          { type: "BOOKMARK", object: object("", "15") },
          { type: "DELETED", object: object("old", "16") },
        ],
      },
      { events: [] },
    ],
  );
  const { changes, errors } = await following(api);
  await expect.poll(() => api.watchedFrom).toEqual(["9", "10", "16"]);
  expect(changes).toEqual(["ADDED a", "DELETED old"]);
  expect(errors).toEqual([]);
});

test("reports a broken connection once, and its recovery", async () => {
  const broken = new Error("other side closed");
  const api = server(
    [{ items: [], version: "9" }],
    [
      { events: [{ type: "ADDED", object: object("a", "10") }], end: broken },
      { events: [], end: broken },
      { events: [{ type: "ADDED", object: object("b", "11") }] },
      { events: [] },
    ],
  );
  const { changes, errors } = await following(api);
  await expect.poll(() => changes, { timeout: 10_000 }).toEqual(["ADDED a", "ADDED b"]);
  expect(api.watchedFrom.slice(0, 3)).toEqual(["9", "10", "10"]);
  expect(errors.at(0)).toBe("other side closed");
  expect(errors.at(-1)).toBeUndefined();
});

test("lists to find changes when the resourceVersion has expired", async () => {
  const api = server(
    [
      { items: [object("kept", "1"), object("removed", "2"), object("changed", "3")], version: "9" },
      {
        items: [object("new-2", "22"), object("new-1", "21"), object("changed", "20"), object("kept", "1")],
        version: "30",
      },
    ],
    [{ events: [], end: gone }, { events: [] }],
  );
  const { changes, errors } = await following(api);
  await expect.poll(() => api.watchedFrom).toEqual(["9", "30"]);
  expect(changes).toEqual(["DELETED removed", "MODIFIED changed", "ADDED new-1", "ADDED new-2"]);
  expect(errors).toEqual([]);
});
