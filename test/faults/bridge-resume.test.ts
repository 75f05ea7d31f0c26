/** Bridges that stop and start: they resume at their position, list nothing again, and lose nothing. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type Bridged, type BridgeReplica, startBridged, startChurn } from "../harness/bridged.ts";
import { sized } from "../harness/size.ts";

let bridged: Bridged;
let bridge: BridgeReplica;
let lives = 0;

const startBridge = () => bridged.bridge(`bridge-${++lives}`);

beforeAll(async () => {
  bridged = await startBridged();
  bridge = await startBridge();
  await Promise.all(Array.from({ length: 20 }, (_, i) => bridged.create(`note-${i}`)));
  await bridged.untilAgreed(Note);
});
afterAll(() => bridged?.stop());
beforeEach(async () => {
  if (bridge.pid === undefined) bridge = await startBridge();
});

/** Waits until everything so far is on the bus, and the position of every kind covers it. */
async function untilSettled(): Promise<string> {
  for (const kind of [Secret, ConfigMap]) await bridged.untilSettled(kind);
  return bridged.untilSettled(Note);
}

/** The positions at which the bridge resumed. */
const resumedAt = (): string => String(bridge.logged("leading", Note)[0]?.resourceVersion);

const nothing = { lists: 0, added: 0, modified: 0, deleted: 0 };

test.each([
  ["an orderly stop", "SIGTERM"],
  ["a kill -9", "SIGKILL"],
] as const)(
  "after %s the next start lists nothing and publishes only what changed meanwhile",
  async (_, signal) => {
    const tag = signal.toLowerCase();
    await bridged.create(`gone-${tag}`);
    const saved = await untilSettled();
    const before = bridged.history.all.length;
    await bridge.stop(signal);
    await bridged.create(`made-${tag}`);
    await bridged.change("note-0");
    await bridged.remove(`gone-${tag}`);
    bridge = await startBridge();
    await bridged.untilSettled(Note);
    expect(Number(resumedAt())).toBeGreaterThanOrEqual(Number(saved));
    expect(
      bridged.history.all
        .slice(before)
        .map(({ change, at }) => `${change} ${at.name}`)
        .sort(),
    ).toEqual([`added made-${tag}`, `deleted gone-${tag}`, "modified note-0"]);
    expect(await bridge.counts(Note)).toEqual({ lists: 0, added: 1, modified: 1, deleted: 1 });
    for (const kind of [Secret, ConfigMap]) expect(await bridge.counts(kind)).toEqual(nothing);
    expect(bridge.logged("listed")).toEqual([]);
  },
);

test("a bridge that saw no changes leaves the position to the next one", async () => {
  const saved = await untilSettled();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await bridge.stop(signal);
    bridge = await startBridge();
    // Only the first position it writes itself could be wrong.
    await bridged.position(Note, ({ holder, state }) => holder === `bridge-${lives}` && state === "watching");
    expect(Number(resumedAt())).toBeGreaterThanOrEqual(Number(saved));
  }
  await bridge.stop();
  bridge = await startBridge();
  await bridged.change("note-1");
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toEqual({ ...nothing, modified: 1 });
  expect(bridge.logged("listed")).toEqual([]);
});

test("a kill -9 during a burst loses nothing and publishes nothing twice", async () => {
  const churn = startChurn(
    bridged,
    Array.from({ length: 10 }, (_, i) => `burst-${i}`),
  );
  for (let kills = 0; kills < sized(1, 2); kills++) {
    await churn.more(100);
    await bridge.kill();
    bridge = await startBridge();
  }
  await churn.more(50);
  await churn.stop();
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: 0 });
  expect(bridged.history.disorder()).toEqual([]);
});
