/**
 * Follows docs/functions.md: runs each command and writes each file, in the order of the page. A second function stays as
 * `denrei new function` wrote it, to show that it passes unchanged.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../cli/program.ts";
import { type Checkout, checkout } from "../harness/checkout.ts";

/** A command to run, or a file to write. */
type Step = { readonly command: string } | { readonly path: string; readonly text: string };

/** Commands are in `sh` blocks; a file's block follows its path and "becomes:". */
function stepsOf(page: string): Step[] {
  const blocks = /(?:`([^`\n]+)` becomes:\n\n)?```(\w+)\n(.*?)```\n/gs;
  return [...page.matchAll(blocks)].flatMap(([, path, language, text = ""]): Step[] => {
    if (path !== undefined) return [{ path, text }];
    return language === "sh" ? [{ command: text.trim() }] : [];
  });
}

/** Complete modules that the page shows as examples. They need not exist to follow it. */
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

let copy: Checkout;
let page: string;
/** Files of the second function. */
let written: readonly string[];
beforeAll(async () => {
  page = await readFile(join(root, "docs/functions.md"), "utf8");
  copy = await checkout();
  // A developer may have followed the page in this repository.
  for (const path of ["functions/greeting", "test/e2e/greeting.test.ts", "test/fixtures/cases/greeting"])
    await rm(join(copy.path, path), { recursive: true, force: true });
  const catalog = join(copy.path, "denrei.config.ts");
  const lines = (await readFile(catalog, "utf8")).split("\n");
  await writeFile(
    catalog,
    lines.filter((line) => !line.includes('"./functions/greeting/greeting.ts"')).join("\n"),
  );
  const output = await copy.succeed(
    `npm run denrei -- new function ${longName} --for ${longKind} --system zundoko --owns ConfigMap Deployment`,
  );
  written = pathsIn(output);
}, timeoutMillis);
afterAll(() => copy?.remove());

test(
  "each step of the page works, with the result that it states",
  async () => {
    const steps = stepsOf(page);
    const commands = steps.flatMap((step) => ("command" in step ? [step.command] : []));
    expect(commands.map((command) => command.split(" ", 3).join(" "))).toEqual([
      "npm run denrei",
      "npm run generate",
      "npm run typecheck",
      "npx vitest run",
    ]);
    expect(steps.length).toBe(commands.length + 7);
    const outputs = new Map<string, string>();
    const examples = examplesOf(page).map((text, n) => ({ path: `functions/greeting/example${n}.ts`, text }));
    expect(examples.length).toBe(4);
    for (const step of steps) {
      if ("command" in step && step.command === "npm run typecheck")
        for (const { path, text } of examples) await writeFile(join(copy.path, path), text);
      if ("command" in step) outputs.set(step.command, await copy.succeed(step.command));
      else {
        await mkdir(dirname(join(copy.path, step.path)), { recursive: true });
        await writeFile(join(copy.path, step.path), step.text);
      }
    }
    expect(outputs.get(commands.at(-1) ?? "")).toContain("3 passed, 0 failed");
    // The first table lists the files that the first command writes.
    const table = page.slice(page.indexOf("| file |"), page.indexOf("All of it works"));
    const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(copy.path, path)))).toEqual([]);
    for (const path of pathsIn(outputs.get(commands[0] ?? "") ?? ""))
      expect(
        named.some((one) => path.startsWith(one)),
        path,
      ).toBe(true);
    // The page's code follows the project's style.
    const files = [...steps, ...examples];
    const sources = files.flatMap((step) => ("path" in step && step.path.endsWith(".ts") ? [step.path] : []));
    await copy.succeed(`npx biome check --error-on-warnings ${sources.join(" ")}`);
    // The page says which rights follow from the declaration.
    const rights = await readFile(join(copy.path, "deploy/kubernetes/base/functions/greeting.yaml"), "utf8");
    expect(rights.replaceAll(/\s+/g, " ")).toContain(
      "resources: - configmaps verbs: - create - delete - get - patch",
    );
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
    // The same as `npm test` for these files. The page's commands include the type check and the generated files.
    const checked = (await copy.succeed("npx tsc -p . --listFilesOnly")).split("\n");
    expect(sources.filter((path) => !checked.some((one) => one.endsWith(`/${path}`)))).toEqual([]);
    await copy.succeed(`npx biome check --error-on-warnings ${sources.join(" ")}`);
    const output = await copy.succeed(`npx vitest run functions/index.test.ts test/checks ${test}`);
    expect(output).toContain("Test Files  5 passed (5)");
  },
  timeoutMillis,
);
