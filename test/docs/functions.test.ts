/**
 * The code in docs/functions.md and docs/tutorial.md type-checks and follows the project's style, and a function passes all checks as
 * `denrei new function` has written it.
 */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../cli/program.ts";
import { type Checkout, checkout } from "../harness/checkout.ts";
import { type Edit, edit, stepsOf } from "./steps.ts";

/** Complete modules that docs/functions.md shows as examples. */
function examplesOf(page: string): string[] {
  const [, section = ""] = page.split("\n## Examples of declarations\n");
  const end = section.indexOf("\n## ");
  return [...section.slice(0, end).matchAll(/```ts\n(.*?)```\n/gs)].map(([, text = ""]) => text);
}

/** The files that `denrei new function` reports. */
const pathsIn = (output: string): string[] =>
  [...output.matchAll(/(?<=^(?:wrote|changed) ).+$/gm)].map(([path]) => path);

const timeoutMillis = 900_000;
/** A long name makes generated lines exceed the line limit. */
const [longName, longKind] = [
  "a-name-that-is-as-long-as-one-may-be-xyz",
  "KindWithANameThatIsLongEnoughToBreakLines",
];

const pageText = (name: string) => readFile(join(root, "docs", name), "utf8");

let copy: Checkout;
/** Files of the second function. */
let written: readonly string[];
beforeAll(async () => {
  copy = await checkout();
  const output = await copy.succeed(
    `npm run denrei -- new function ${longName} --for ${longKind} --system zundoko --owns ConfigMap Deployment`,
  );
  written = pathsIn(output);
}, timeoutMillis);
afterAll(() => copy?.remove());

test(
  "the code of the pages type-checks and follows the style",
  async () => {
    const examples = examplesOf(await pageText("functions.md")).map(
      (text, n): Edit => ({ kind: "file", path: `functions/greeting/example${n}.ts`, text }),
    );
    expect(examples.length).toBe(4);
    const template = join(root, "bus/command/init/template/functions/greeting");
    const project = await Promise.all(
      ["kinds.ts", "greeting.ts"].map(
        async (name): Promise<Edit> => ({
          kind: "file",
          path: `functions/greeting/${name}`,
          text: await readFile(join(template, `${name}.template`), "utf8"),
        }),
      ),
    );
    const party = { path: "functions/party/kinds.ts", text: 'export { Party } from "./kinds/party.ts";\n' };
    const edits = stepsOf(await pageText("tutorial.md")).filter(
      (step): step is Edit => "path" in step && step.path.startsWith("functions/"),
    );
    const all: Edit[] = [...project, { kind: "file", ...party }, ...examples, ...edits];
    for (const step of all) edit(copy.path, step);
    await copy.succeed("npm run typecheck");
    await copy.succeed(`npx biome check --error-on-warnings functions/greeting functions/party`);
    for (const folder of ["greeting", "party"])
      await rm(join(copy.path, "functions", folder), { recursive: true });
  },
  timeoutMillis,
);

test(
  "a new function passes unchanged",
  async () => {
    const test = `test/e2e/${longName}.test.ts`;
    const sources = written.filter((path) => path.endsWith(".ts"));
    expect(sources).toEqual(
      expect.arrayContaining([test, `functions/zundoko/${longName}.ts`, "denrei.config.ts"]),
    );
    // With the type check of the test before, the same as `npm test` for these files.
    await copy.succeed("npm run generate -- --check");
    const checked = (await copy.succeed("npx tsc -p . --listFilesOnly")).split("\n");
    expect(sources.filter((path) => !checked.some((one) => one.endsWith(`/${path}`)))).toEqual([]);
    await copy.succeed(`npx biome check --error-on-warnings ${sources.join(" ")}`);
    const checks = (await readdir(join(root, "test/checks"))).filter((name) => name.endsWith(".test.ts"));
    const output = await copy.succeed(`npx vitest run functions/index.test.ts test/checks ${test}`);
    const files = checks.length + 2;
    expect(output).toContain(`Test Files  ${files} passed (${files})`);
  },
  timeoutMillis,
);
