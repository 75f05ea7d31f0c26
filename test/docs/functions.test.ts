/**
 * docs/functions.md, followed word by word: each command is run and each file is written, in the order of the page. Beside it
 * another function is begun and left as it is: what `denrei new function` writes passes at once.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../cli/program.ts";
import { type Checkout, checkout } from "../harness/checkout.ts";

/** Something that the page has its reader do. */
type Step = { readonly command: string } | { readonly path: string; readonly text: string };

/** Commands are in blocks of `sh`; a file is named in front of the block with what it becomes. */
function stepsOf(page: string): Step[] {
  const blocks = /(?:`([^`\n]+)` becomes:\n\n)?```(\w+)\n(.*?)```\n/gs;
  return [...page.matchAll(blocks)].flatMap(([, path, language, text = ""]): Step[] => {
    if (path !== undefined) return [{ path, text }];
    return language === "sh" ? [{ command: text.trim() }] : [];
  });
}

/** The files that `denrei new function` tells of. */
const pathsIn = (told: string): string[] =>
  [...told.matchAll(/(?<=^(?:wrote|changed) ).+$/gm)].map(([path]) => path);

const patience = 900_000;
/** A long name makes lines longer than they may be. */
const [begun, itsKind] = [
  "a-name-that-is-as-long-as-one-may-be-xyz",
  "KindWithANameThatIsLongEnoughToBreakLines",
];

let copy: Checkout;
let page: string;
/** What was written or changed when the other function was begun. */
let written: readonly string[];
beforeAll(async () => {
  page = await readFile(join(root, "docs/functions.md"), "utf8");
  copy = await checkout();
  // Whoever has followed the page in this repository may keep what came of it.
  for (const path of ["functions/greeting", "test/e2e/greeting.test.ts", "test/fixtures/cases/greeting"])
    await rm(join(copy.path, path), { recursive: true, force: true });
  const catalog = join(copy.path, "functions/catalog.ts");
  const lines = (await readFile(catalog, "utf8")).split("\n");
  await writeFile(catalog, lines.filter((line) => !line.includes('"./greeting/greeting.ts"')).join("\n"));
  const told = await copy.succeed(
    `npm run denrei -- new function ${begun} --for ${itsKind} --system zundoko --owns ConfigMap Deployment`,
  );
  written = pathsIn(told);
}, patience);
afterAll(() => copy?.remove());

test(
  "what the page says is done, and comes out as it says",
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
    const told = new Map<string, string>();
    for (const step of steps) {
      if ("command" in step) told.set(step.command, await copy.succeed(step.command));
      else {
        await mkdir(dirname(join(copy.path, step.path)), { recursive: true });
        await writeFile(join(copy.path, step.path), step.text);
      }
    }
    expect(told.get(commands.at(-1) ?? "")).toContain("3 passed, 0 failed");
    // The first table names what the first command has written.
    const table = page.slice(page.indexOf("| file |"), page.indexOf("All of it works"));
    const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(copy.path, path)))).toEqual([]);
    for (const path of pathsIn(told.get(commands[0] ?? "") ?? ""))
      expect(
        named.some((one) => path.startsWith(one)),
        path,
      ).toBe(true);
    // The code of the page is as the project's.
    const ofPage = steps.flatMap((step) => ("path" in step && step.path.endsWith(".ts") ? [step.path] : []));
    await copy.succeed(`npx biome check --error-on-warnings ${ofPage.join(" ")}`);
    // What follows from the declaration is as it is told.
    const rights = await readFile(join(copy.path, "deploy/kubernetes/base/functions/greeting.yaml"), "utf8");
    expect(rights.replaceAll(/\s+/g, " ")).toContain(
      "resources: - configmaps verbs: - create - delete - get - patch",
    );
  },
  patience,
);

test(
  "a function that was only begun passes as well",
  async () => {
    const test = `test/e2e/${begun}.test.ts`;
    const sources = written.filter((path) => path.endsWith(".ts"));
    expect(sources).toEqual(
      expect.arrayContaining([test, `functions/zundoko/${begun}.ts`, "functions/catalog.ts"]),
    );
    // What `npm test` does, for these files. The commands of the page include the type check, and what is generated.
    const checked = (await copy.succeed("npx tsc -p . --listFilesOnly")).split("\n");
    expect(sources.filter((path) => !checked.some((one) => one.endsWith(`/${path}`)))).toEqual([]);
    await copy.succeed(`npx biome check --error-on-warnings ${sources.join(" ")}`);
    const told = await copy.succeed(`npx vitest run functions/index.test.ts test/checks ${test}`);
    expect(told).toContain("Test Files  3 passed (3)");
  },
  patience,
);
