/** Announcements of writes between replicas, over a real server. */
import { setImmediate as turn } from "node:timers/promises";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { connectBus } from "../../bus/nats/connect.ts";
import { echoSubject } from "../../bus/subjects.ts";
import { type Echoes, openEchoes, type Written } from "../../bus/worker/echoes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const scope = { fn: "singer", cluster: "default" };
const key = { namespace: "default", name: "song" };
const [uid, version, owned] = ["uid", "20", 60_000] as const;
const write: Written = {
  ...{ group: "", kind: "Word", namespace: "default", name: "song-1" },
  ...{ uid, resourceVersion: version },
};
const polling = { timeout: 30_000, interval: 5 };
let local: LocalBus;

beforeAll(async () => {
  local = await startLocalBus();
});
afterAll(() => local?.stop());

/** The echoes of a replica whose subscription is active. */
async function replica(name: string): Promise<Echoes> {
  const { nc } = await connectBus({ url: local.natsUrl, name });
  const echoes = openEchoes(nc, scope);
  onTestFinished(() => nc.close());
  await nc.flush();
  return echoes;
}

/** Sends a message of another version, and waits until a later one has arrived. */
async function unreadableTo(echoes: Echoes): Promise<void> {
  const { nc } = await connectBus({ url: local.natsUrl, name: "former" });
  onTestFinished(() => nc.close());
  const former = openEchoes(nc, scope);
  nc.publish(echoSubject(scope), JSON.stringify({ wrote: [["default/song", uid, version, owned]] }));
  const marker = { ...key, name: "marker" };
  former.announce(marker, write, owned);
  await expect.poll(() => echoes.has(marker, uid, version), polling).toBe(true);
}

// Fake time: announcements expire only when a test advances it.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const replicas = () => Promise.all([replica("writer"), replica("other")]);
const untilAnnounced = (echoes: Echoes) => expect.poll(() => echoes.written(key), polling).toEqual([write]);

test("all replicas treat the event of an announced write as an echo, but not a later version", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  for (const echoes of [writer, other])
    expect(["19", version, "21"].map((one) => echoes.has(key, uid, one))).toEqual([true, true, false]);
});

test("a version announced without ownership must be read, but is not an echo", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, 0);
  await untilAnnounced(other);
  for (const echoes of [writer, other]) {
    expect(echoes.written(key)).toEqual([write]);
    expect(echoes.has(key, uid, version)).toBe(false);
  }
});

test("after a pause a replica keeps its own announcements as valid, and no others", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  // A replica also receives its own announcements; this later one shows that it has.
  other.announce(key, { ...write, uid: "other", resourceVersion: "1" }, owned);
  await expect.poll(() => writer.has(key, "other", "1"), polling).toBe(true);
  for (const echoes of [writer, other]) echoes.forget("paused");
  expect([writer, other].map((echoes) => echoes.has(key, uid, version))).toEqual([true, false]);
});

test("after a lost connection a replica has no echoes, but still reads the announced versions", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  for (const echoes of [writer, other]) {
    echoes.forget("disconnected");
    expect(echoes.has(key, uid, version)).toBe(false);
    expect(echoes.written(key)).toEqual([write]);
  }
});

test("a write for one key is not an echo for another key", async () => {
  const [writer, other] = await replicas();
  const another = { ...key, name: "another" };
  writer.announce(key, write, owned);
  writer.announce(another, { ...write, resourceVersion: "22" }, owned);
  await expect.poll(() => other.has(another, uid, "22"), polling).toBe(true);
  for (const echoes of [writer, other]) {
    expect(echoes.has(key, uid, version)).toBe(true);
    expect(echoes.has(key, uid, "22")).toBe(false);
    expect(echoes.has({ ...key, name: "third" }, uid, version)).toBe(false);
  }
});

/** The messages that replicas publish about writes. */
async function announcements(): Promise<readonly { wrote: Written[]; ended: string[] }[]> {
  const { nc } = await connectBus({ url: local.natsUrl, name: "listener" });
  onTestFinished(() => nc.close());
  const messages: { wrote: Written[]; ended: string[] }[] = [];
  nc.subscribe(echoSubject(scope), {
    callback(_, message) {
      const found = message.json<{ wrote?: Written[]; ended: string[] }>();
      if (found.wrote !== undefined) messages.push({ wrote: found.wrote, ended: found.ended });
    },
  });
  await nc.flush();
  return messages;
}

const versions = (wrote: readonly Written[]) => wrote.map(({ resourceVersion }) => resourceVersion);

test("the first write of a reconcile is announced at once, and the rest together at its end", async () => {
  const messages = await announcements();
  const writer = await replica("writer");
  writer.begin(key);
  writer.announce(key, write, owned);
  await expect.poll(() => messages.length, polling).toBe(1);
  writer.announce(key, { ...write, uid: "second", resourceVersion: "21" }, owned);
  await turn();
  writer.announce(key, { ...write, uid: "third", resourceVersion: "22" }, owned);
  writer.end(key);
  await expect.poll(() => messages.length, polling).toBe(2);
  expect(messages.map(({ wrote, ended }) => [versions(wrote), ended])).toEqual([
    [[version], []],
    [["21", "22"], ["default/song"]],
  ]);
});

test("a later write of a reconcile that goes on is announced, too", async () => {
  const [writer, other] = await replicas();
  writer.begin(key);
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  writer.announce(key, { ...write, uid: "second" }, owned);
  await expect.poll(() => other.has(key, "second", version), polling).toBe(true);
});

test("a write that was not announced before a lost connection must be read, but is not an echo", async () => {
  const [writer, other] = await replicas();
  writer.begin(key);
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  const next = { ...write, uid: "second" };
  writer.announce(key, next, owned);
  writer.forget("disconnected");
  writer.end(key);
  await expect.poll(() => other.written(key), polling).toEqual([write, next]);
  expect(other.has(key, "second", version)).toBe(false);
});

describe("an event during a reconcile", () => {
  /** A replica that knows that another one reconciles the key, and a question about a write that was not announced. */
  async function asked() {
    const [writer, other] = await replicas();
    // It has not missed announcements, so it retracts none.
    vi.advanceTimersByTime(60_000);
    writer.begin(key);
    writer.announce(key, write, owned);
    await untilAnnounced(other);
    return { writer, other, answer: other.willHave(key, "second", version) };
  }

  test("waits for the announcement that makes it an echo", async () => {
    const { writer, answer } = await asked();
    writer.announce(key, { ...write, uid: "second" }, owned);
    writer.end(key);
    expect(await answer).toBe(true);
  });

  test("waits for no more than the end of the reconcile", async () => {
    const { writer, answer } = await asked();
    writer.end(key);
    expect(await answer).toBe(false);
  });

  test("waits for a limited time", async () => {
    const { answer } = await asked();
    vi.advanceTimersByTime(1000);
    expect(await answer).toBe(false);
  });

  test("waits in the replica that reconciles, too", async () => {
    const { writer } = await asked();
    const answer = writer.willHave(key, "second", version);
    writer.announce(key, { ...write, uid: "second" }, owned);
    expect(await answer).toBe(true);
  });
});

test("without a reconcile, an event does not wait", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  expect(await other.willHave(key, "second", version)).toBe(false);
});

describe("a replica that begins a reconcile retracts announcements that it may have missed", () => {
  /** Whether a write is still an echo to its writer after a third replica has begun to reconcile the key. */
  async function isEchoAfterBegin(
    prepare: (third: Echoes) => unknown,
    afterMillis = 60_000,
  ): Promise<boolean> {
    const [writer, third] = await replicas();
    vi.advanceTimersByTime(afterMillis);
    await prepare(third);
    writer.announce(key, write, owned);
    await untilAnnounced(third);
    third.begin(key);
    // This message arrives after the retraction.
    third.announce(key, { ...write, uid: "next" }, owned);
    await expect.poll(() => writer.has(key, "next", version), polling).toBe(true);
    expect(third.has(key, uid, version)).toBe(writer.has(key, uid, version));
    return writer.has(key, uid, version);
  }

  test.each<[string, (third: Echoes) => unknown]>([
    ["a lost connection", (third) => third.forget("disconnected")],
    ["an unreadable message", (third) => unreadableTo(third)],
  ])("after %s", async (_, prepare) => {
    expect(await isEchoAfterBegin(prepare)).toBe(false);
  });

  test("after its start", async () => {
    expect(await isEchoAfterBegin(() => undefined, 0)).toBe(false);
  });

  test.each<[string, (third: Echoes) => unknown]>([
    ["long after its start", () => undefined],
    ["after a pause", (third) => third.forget("paused")],
  ])("but not %s", async (_, prepare) => {
    expect(await isEchoAfterBegin(prepare)).toBe(true);
  });
});

test("retracted writes are no longer echoes for any replica", async () => {
  const [writer, other] = await replicas();
  writer.announce(key, write, owned);
  await untilAnnounced(other);
  writer.retract(key);
  await expect.poll(() => other.has(key, uid, version), polling).toBe(false);
  expect(writer.has(key, uid, version)).toBe(false);
});
