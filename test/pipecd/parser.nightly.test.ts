/**
 * Compares Denrei with PipeCD's own packages on the same configurations. With `DENREI_RECORD=1` it writes the record of how
 * PipeCD reads the values, which the unit tests use.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentOf as documentFile } from "../../functions/pipecd/config/document.ts";
import { controlPlaneConfig, pipedConfig } from "../../functions/pipecd/config.ts";
import { ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { documentOf } from "./documents.ts";
import { changed } from "./parser/changes.ts";
import { checkedFields, type FieldName, rendered } from "./parser/fields.ts";
import { buildParser, type Parser, type Question } from "./parser/parser.ts";
import { nastyPieces, oddPieces, pieces } from "./parser/pieces.ts";
import { recorded, recordedFile } from "./parser/recorded.ts";
import { checkedValues } from "./parser/values.ts";

let folder: string;
let parser: Parser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "denrei-parser-"));
  parser = await buildParser(folder);
  // Go's caches may be empty.
}, 900_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const names = Object.keys(checkedFields) as FieldName[];
const problemsOf = async (questions: readonly Question[]): Promise<string[]> =>
  (await parser.read(questions)).map(({ problem = "" }) => problem);

test("the record matches how PipeCD reads each value", async () => {
  const read: Record<string, Record<string, string>> = {};
  for (const name of names) {
    const values = checkedValues[name];
    const problems = await problemsOf(values.map((value) => checkedFields[name].ask(value)));
    read[name] = Object.fromEntries(values.map((value, index) => [value, problems[index] ?? ""]));
  }
  if (process.env.DENREI_RECORD) await writeFile(recordedFile, `${JSON.stringify(read, undefined, 2)}\n`);
  expect(read).toEqual(recorded());
});

const random = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count });
const textOf = (parts: readonly string[], maxLength = 9): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength }).map((found) => found.join(""));

/** A known value with added, removed, or replaced characters. */
const edited = (values: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...values),
      fc.array(fc.tuple(fc.nat(80), fc.nat(1), fc.constantFrom("", ...nastyPieces)), {
        minLength: 1,
        maxLength: 2,
      }),
    )
    .map(([value, edits]) =>
      edits.reduce((text, [at, removed, added]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + added + text.slice(place + removed);
      }, value),
    );

test.each(names)("PipeCD rejects no %s that Denrei accepts", async (name) => {
  const found = [...random(textOf(pieces[name]), 5000), ...random(edited(checkedValues[name]), 5000)];
  const values = [...new Set(found)];
  const accepted = values.filter((value) => checkedFields[name].problemOf(value) === undefined);
  const problems = await problemsOf(accepted.map((value) => checkedFields[name].ask(value)));
  const refused = accepted.flatMap((value, index) => (problems[index] ? [[value, problems[index]]] : []));
  expect(accepted).not.toEqual([]);
  expect(refused).toEqual([]);
});

test("PipeCD reads the exact rendered strings, as values and as keys", async () => {
  const texts = [...new Set(random(textOf(oddPieces), 20_000))];
  const spec = { list: texts, map: Object.fromEntries(texts.map((text) => [text, text])) };
  const [reading] = await parser.read([{ text: documentFile("ControlPlane", spec) }]);
  expect(reading?.read?.spec).toEqual(spec);
});

const renderedPiped = (file: string): Question => ({
  text: pipedConfig(documentOf(Piped, file).spec, "C", { pipedID: "id" }),
  ...(file.startsWith("v1") && { v1: true }),
});

test("PipeCD starts with the samples of its version", async () => {
  const planes = ["c", "c-controlplane-full"].map((file) => ({
    text: controlPlaneConfig(documentOf(ControlPlane, file).spec, "C"),
  }));
  const pipeds = ["c", "c-piped-full", "v1", "v1-piped-full"].map(renderedPiped);
  const questions = [...planes, ...pipeds];
  expect(await problemsOf(questions)).toEqual(questions.map(() => ""));
});

test.each([
  ["ControlPlane", "c-controlplane-full"],
  ["Piped", "c-piped-full"],
  ["Piped", "v1-piped-full"],
] as const)("PipeCD refuses no change of the %s %s that Denrei accepts", async (kind, file) => {
  const { spec } = kind === "Piped" ? documentOf(Piped, file) : documentOf(ControlPlane, file);
  const changes = random(changed(spec), 5000);
  const v1 = file.startsWith("v1") ? ({ v1: true } as const) : {};
  const accepted = changes.flatMap((change) => {
    const { text } = { text: undefined, ...rendered(kind, change.spec) };
    return text === undefined ? [] : [{ what: change.what, question: { text, ...v1 } }];
  });
  const problems = await problemsOf(accepted.map(({ question }) => question));
  const refused = accepted.flatMap(({ what }, index) => (problems[index] ? [[what, problems[index]]] : []));
  expect(accepted.length).toBeGreaterThan(1000);
  expect(accepted.length).toBeLessThan(changes.length);
  expect(refused).toEqual([]);
});
