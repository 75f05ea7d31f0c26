/** The acceptance list of Zundoko on a real control plane, with three replicas. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Condition } from "../../bus/kube/object.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import { saidAtAnnotation } from "../../functions/zundoko/names.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { testCluster } from "../harness/platforms.ts";
import { sized } from "../harness/size.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { startKet } from "../harness/startket.ts";
import { changeBeforeTimer } from "../harness/timers.ts";
import type { Ket } from "../ket/index.ts";

const manager = { fieldManager: "test" };

let ket: Ket;
const create = (object: Hikawa) =>
  ket.client.create(
    Hikawa,
    { ...object, metadata: { ...object.metadata, namespace: ket.namespace } },
    manager,
  );
const at = (name: string) => ({ namespace: ket.namespace, name });
const condition = (object: { status?: { conditions?: Condition[] | undefined } | undefined }, type: string) =>
  object.status?.conditions?.find((one) => one.type === type);
const untilFinished = (name: string) => ket.waitFor({ kind: Hikawa, name }, isFinished, 110_000);

beforeAll(async () => {
  ket = await startKet({
    ...(await testCluster()),
    functions: ["hikawa"],
    fixtures: fileURLToPath(new URL("../fixtures/cases/zundoko", import.meta.url)),
    workers: 3,
    // Random words may take minutes; the tests of the song cover that it ends.
    env: { [wordsVariable]: "Doko,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko" },
    deadlineMillis: 110_000,
  });
});
afterAll(() => ket?.stop());

test("the seed's sample applies unchanged and ends with Kiyoshi", () =>
  ket.apply("sample", async () => {
    await expectFinishedSongs(ket, ["hikawa-sample"]);
    const times = (await ket.list(Zundoko))
      .map(({ metadata }) => Date.parse(metadata.annotations?.[saidAtAnnotation] ?? ""))
      .sort((a, b) => a - b);
    for (const [i, time] of times.entries()) {
      if (i > 0) expect(time - (times[i - 1] ?? 0), "pause between two words").toBeGreaterThanOrEqual(500);
    }
  }));

test("finishes many songs at once on three replicas without gaps and duplicates", async () => {
  const names = Array.from({ length: sized(12, 40) }, (_, i) => `many-${i}`);
  await Promise.all(names.map((name) => create(hikawa(name, 0))));
  await Promise.all(names.map(untilFinished));
  await expectFinishedSongs(ket, names);
});

test("restores a deleted word and a deleted Kiyoshi", async () => {
  await create(hikawa("restored", 0));
  const done = await untilFinished("restored");
  const last = `restored-zundoko-${String(done.status?.numZundokosSaid).padStart(3, "0")}`;
  for (const [kind, name] of [
    [Zundoko as Kind, last],
    [Kiyoshi as Kind, "restored-kiyoshi"],
  ] as const) {
    const before = await ket.client.get(kind, at(name));
    await ket.client.delete(kind, at(name), {});
    await ket.waitFor({ kind, name }, ({ metadata }) => metadata.uid !== before.metadata.uid);
  }
  await expectFinishedSongs(ket, ["restored"]);
});

test("keeps the requested number of words while the next one has to wait", async () => {
  await create(hikawa("asked", 3_600_000));
  await ket.waitFor({ kind: Hikawa, name: "asked" }, ({ status }) => status?.numZundokosSaid === 1);
  const asked = await ket.client.mergePatch(Hikawa, at("asked"), { spec: { numZundokos: 3 } }, manager);
  const seen = await ket.waitFor(
    { kind: Hikawa, name: "asked" },
    (now) => (condition(now, "Ready")?.observedGeneration ?? 0) >= (asked.metadata.generation ?? Number.NaN),
  );
  expect(seen.spec.numZundokos).toBe(3);
});

test("deletes its children with it", async () => {
  await create(hikawa("deleted", 0));
  await untilFinished("deleted");
  await ket.client.delete(Hikawa, at("deleted"), {});
  await ket.waitUntilGone({ kind: Kiyoshi, name: "deleted-kiyoshi" });
  await ket.waitUntilGone({ kind: Zundoko, name: "deleted-zundoko-001" });
});

test("ignores words of an earlier Hikawa with the same name", async () => {
  await create(hikawa("again", 0));
  const first = await untilFinished("again");
  await ket.client.delete(Hikawa, at("again"), {});
  await ket.waitUntilGone({ kind: Hikawa, name: "again" });
  await create(hikawa("again", 0));
  await ket.waitFor(
    { kind: Hikawa, name: "again" },
    (found) => found.metadata.uid !== first.metadata.uid && isFinished(found),
  );
  await expectFinishedSongs(ket, ["again"]);
});

test("never overwrites an existing Kiyoshi of the desired name, and reports it in a condition", async () => {
  await ket.apply("taken", async () => {
    const delay = await changeBeforeTimer({ bus: ket.nats }, "hikawa", at("taken"), () =>
      ket.client.delete(Kiyoshi, at("taken-kiyoshi"), {}),
    );
    expect(delay).toBeLessThanOrEqual(5000);
    await ket.waitFor(
      { kind: Hikawa, name: "taken" },
      (found) => isFinished(found) && !condition(found, "Stalled"),
    );
    await expectFinishedSongs(ket, ["taken"]);
  });
});

test("a name too long for its children's names gives a condition and a dead letter, not a hot loop", async () => {
  const name = "n".repeat(250);
  await create(hikawa(name, 0));
  const found = await ket.waitFor(
    { kind: Hikawa, name },
    {
      status: { conditions: [{ type: "Stalled", status: "True" }] },
    },
  );
  expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "NameTooLong" });
  expect(condition(found, "Ready")?.message).toContain("9 shorter");
});

test.each([
  [{ intervalMillis: -1 }, "spec.intervalMillis"],
  [{ intervalMillis: "soon" }, "spec.intervalMillis"],
  [{}, "spec.intervalMillis"],
  [{ intervalMillis: 0, numZundokos: -3 }, "spec.numZundokos"],
])("rejects an invalid Hikawa with the field's name: %j", async (spec, field) => {
  const object = { ...hikawa("invalid", 0), spec } as Hikawa;
  await expect(create(object)).rejects.toThrow(field);
});

test("rejects an invalid word with the field's name", async () => {
  const object = { ...hikawa("invalid", 0), kind: "Zundoko", spec: { say: "Dozun" } } as unknown as Zundoko;
  await expect(ket.client.create(Zundoko, object, manager)).rejects.toThrow("spec.say");
});
