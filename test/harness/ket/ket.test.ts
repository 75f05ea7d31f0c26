import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigMap } from "../../../bus/kube/kind.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import { type Ket, startKet } from "./index.ts";

const functions = [new URL("../../fixtures/functions/probe.ts", import.meta.url)];
const fixtures = fileURLToPath(new URL("../../fixtures/cases/probe", import.meta.url));

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({ functions, fixtures });
});
afterAll(() => ket?.stop());

test("a case is applied, becomes as it is expected, and is deleted", async () => {
  await ket.apply("steady", async ({ given, found }) => {
    expect(given.map(({ metadata }) => metadata)).toMatchObject([
      { name: "steady", namespace: ket.namespace },
    ]);
    expect(found).toMatchObject([{ status: { value: 3 } }, undefined]);
    expect(await ket.list(Probe)).toHaveLength(1);
  });
  expect(await ket.list(Probe)).toEqual([]);
});

test("a case that does not become as expected tells what there is to know, and is deleted", async () => {
  const error: Error = await ket.apply("givenup", undefined, 5_000).then(
    () => new Error("none"),
    (error) => error,
  );
  // The differences, then each object with all that is known of it.
  const parts = [
    'the case "givenup" did not become as expected within 5000 ms:',
    "Probe given-up .status.value: expected 3, found nothing",
    'Probe given-up .status.conditions[type=Ready].status: expected "True", found "False"',
    `ConfigMap ${ket.namespace}/beside\n  object:`,
    "text: beside",
    `Probe ${ket.namespace}/given-up\n  object:`,
    "reason: ToldSo",
    "  Events:\n    Warning ToldSo: the probe was told to give up",
    "info probing",
    "TerminalError: the probe was told to give up",
    `  queue:\n    probe ${ket.namespace}/given-up: dead letter: ToldSo: the probe was told to give up (1 attempts)`,
  ];
  const places = parts.map((part) => error.message.indexOf(part));
  expect(places, error.message).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(await ket.list(Probe)).toEqual([]);
  expect((await ket.list(ConfigMap)).filter(({ metadata }) => metadata.name === "beside")).toEqual([]);
});
