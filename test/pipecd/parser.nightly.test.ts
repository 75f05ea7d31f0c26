/**
 * Denrei and PipeCD's own packages on the same configurations. With `DENREI_RECORD=1` it writes how PipeCD reads the values of the
 * record, which the unit tests compare with.
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
import { checkedFields, type FieldName } from "./parser/fields.ts";
import { buildParser, type Parser, type Question } from "./parser/parser.ts";
import { oddPieces, pieces } from "./parser/pieces.ts";
import { recorded, recordedFile } from "./parser/recorded.ts";
import { checkedValues } from "./parser/values.ts";

let folder: string;
let parser: Parser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "denrei-parser-"));
  parser = await buildParser(folder);
  // Go's caches may be cold.
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

test.each(names)("PipeCD refuses no %s that Denrei accepts", async (name) => {
  const values = [...new Set(random(textOf(pieces[name]), 5000))];
  const accepted = values.filter((value) => checkedFields[name].problemOf(value) === undefined);
  const problems = await problemsOf(accepted.map((value) => checkedFields[name].ask(value)));
  const refused = accepted.flatMap((value, index) => (problems[index] ? [[value, problems[index]]] : []));
  expect(accepted).not.toEqual([]);
  expect(refused).toEqual([]);
});

test("PipeCD reads exactly the rendered strings, as values and as keys", async () => {
  const texts = [...new Set(random(textOf(oddPieces), 20_000))];
  const spec = { list: texts, map: Object.fromEntries(texts.map((text) => [text, text])) };
  const [reading] = await parser.read([{ text: documentFile("ControlPlane", spec) }]);
  expect(reading?.read?.spec).toEqual(spec);
});

test("PipeCD starts with the samples of its version", async () => {
  const questions = ["c", "c-controlplane-full"]
    .map((file) => controlPlaneConfig(documentOf(ControlPlane, file).spec, "C"))
    .concat(
      ["c", "c-piped-full"].map((file) => pipedConfig(documentOf(Piped, file).spec, "C", { pipedID: "id" })),
    );
  expect(await problemsOf(questions.map((text) => ({ text })))).toEqual(questions.map(() => ""));
});
