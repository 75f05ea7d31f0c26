/** `denrei new function`: failures leave no files behind. test/docs/functions.test.ts tests the generated code. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Checkout, checkout } from "../harness/checkout.ts";

const timeoutMillis = 900_000;
const denrei = "node bus/command/denrei.js";

let copy: Checkout;
beforeAll(async () => {
  copy = await checkout();
});
afterAll(() => copy?.remove());

/** All files that a new function may affect, with their text. */
async function contents(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const folder of ["functions", "crds", "deploy/kubernetes", "test/e2e", "test/fixtures"]) {
    for (const entry of await readdir(join(copy.path, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      texts.set(path, entry.isFile() ? await readFile(path, "utf8") : "");
    }
  }
  return texts;
}

test(
  "a rejected name, a dry run, and a failed generation change nothing",
  async () => {
    const before = await contents();
    const rejected = await copy.run(`${denrei} new function hikawa --for Scaffolded`);
    expect(rejected).toMatchObject({ code: 2, stdout: "" });
    expect(rejected.stderr).toContain("denrei.config.ts already has the function hikawa");
    expect(await copy.succeed(`${denrei} new function scaffolded --for Scaffolded --dry-run`)).toBe(
      [
        "would write functions/scaffolded/kinds/scaffolded.ts",
        "would write functions/scaffolded/scaffolded.ts",
        "would write test/fixtures/cases/scaffolded/first/given.yaml",
        "would write test/fixtures/cases/scaffolded/first/expect.yaml",
        "would write test/e2e/scaffolded.test.ts",
        "would write functions/scaffolded/kinds.ts",
        "would change denrei.config.ts",
        "",
      ].join("\n"),
    );
    const generator = join(copy.path, "deploy/generate/main.ts");
    const text = await readFile(generator, "utf8");
    await writeFile(generator, `${text}\nthrow new Error("out of order");\n`);
    const failed = await copy.run(`${denrei} new function scaffolded --for Scaffolded`);
    expect(failed.stderr).toContain("out of order");
    expect(failed.code).toBe(1);
    expect(await contents()).toEqual(before);
    await writeFile(generator, text);
  },
  timeoutMillis,
);
