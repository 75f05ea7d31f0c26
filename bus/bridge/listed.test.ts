import { setImmediate as turn } from "node:timers/promises";
import pino from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import type { KubeClient } from "../kube/client.ts";
import { externalKind, type Kind } from "../kube/kind.ts";
import { followListed } from "./listed.ts";

const kindNamed = (kind: string): Kind =>
  externalKind({ group: "example.com", version: "v1", kind, plural: `${kind.toLowerCase()}s` });

/** Follows a ConfigMap whose key `kinds` names kinds, separated by spaces. */
function following(first: string | undefined) {
  let version = 0;
  let text = first;
  const events: string[] = [];
  let broken: Error | undefined;
  const stopping = new AbortController();
  const client = {
    list: async () => {
      if (broken) throw broken;
      const metadata = { name: "site", uid: "u", resourceVersion: String(version) };
      return { metadata, items: text === undefined ? [] : [{ metadata, data: { kinds: text } }] };
    },
  } as unknown as Pick<KubeClient, "list">;
  let refusing = false;
  const done = followListed({
    client,
    platformNamespace: "denrei",
    lists: [
      {
        fn: "maker",
        listed: {
          configMap: "site",
          rightsCommand: "print rights",
          kindsIn({ kinds = "" }) {
            if (kinds === "invalid") throw new Error("not a list");
            return kinds.split(" ").filter(Boolean).map(kindNamed);
          },
        },
      },
    ],
    signal: stopping.signal,
    log: pino({ level: "silent" }),
    everyMillis: 1,
    async prepare(fn, kinds) {
      if (refusing) throw new Error("no bus");
      events.push(`${fn}: ${kinds.map(({ kind }) => kind).join(" ")}`);
    },
    enter({ kind }) {
      events.push(`+${kind}`);
      return async (why) => void events.push(`-${kind} ${why}`);
    },
  });
  const stop = async () => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  return {
    events,
    stop,
    list(next: string | undefined) {
      version++;
      text = next;
    },
    breakReads(error: Error | undefined) {
      broken = error;
    },
    refusePreparing(value: boolean) {
      refusing = value;
    },
    until: (...expected: string[]) => vi.waitFor(() => expect(events).toEqual(expected), { timeout: 30_000 }),
  };
}

test("kinds are entered once they are prepared for, and left when they are no longer listed", async () => {
  const bridge = following("A B");
  await bridge.until("maker: A B", "+A", "+B");
  bridge.list("B C");
  const first = ["maker: A B", "+A", "+B", "maker: B C", "-A unlisted", "+C"];
  await bridge.until(...first);
  bridge.list(undefined);
  await bridge.until(...first, "maker: ", "-B unlisted", "-C unlisted");
});

test("a list that is not valid, or cannot be read, changes nothing", async () => {
  const bridge = following("A");
  await bridge.until("maker: A", "+A");
  bridge.list("invalid");
  bridge.breakReads(new Error("forbidden"));
  for (let looks = 0; looks < 20; looks++) await turn();
  bridge.breakReads(undefined);
  bridge.list("A B");
  await bridge.until("maker: A", "+A", "maker: A B", "+B");
});

test("no kind is entered before it is prepared for", async () => {
  const bridge = following(undefined);
  await bridge.until("maker: ");
  bridge.refusePreparing(true);
  bridge.list("A");
  for (let looks = 0; looks < 20; looks++) await turn();
  expect(bridge.events).toEqual(["maker: "]);
  bridge.refusePreparing(false);
  await bridge.until("maker: ", "maker: A", "+A");
});

test("all are left when the bridge stops, and stay listed", async () => {
  const bridge = following("A");
  await bridge.until("maker: A", "+A");
  await bridge.stop();
  expect(bridge.events.at(-1)).toBe("-A stopped");
});
