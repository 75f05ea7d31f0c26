/** The packages of a release, installed outside this repository. The tests of docs/tutorial.md use all of them in a project. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../cli/program.ts";
import { install, installedPackages, packedPackages, programIn } from "./tarballs.ts";

/** A project that only runs functions. */
let production: string;
beforeAll(async () => {
  production = mkdtempSync(join(tmpdir(), "denrei-production-"));
  await install(production, { dependencies: { denrei: "" } }, await packedPackages());
}, 600_000);
afterAll(() => rmSync(production, { recursive: true, force: true }));

const bytesOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

test("production needs at most 40 packages and 25 MB, none of which compiles manifests or serves pages", () => {
  const packages = installedPackages(production);
  expect(packages).toContain("denrei/package.json");
  expect(packages.length).toBeLessThanOrEqual(40);
  expect(bytesOf(join(production, "node_modules"))).toBeLessThanOrEqual(25_000_000);
  for (const name of ["cdk8s", "hono", "openid-client", "@connectrpc/connect", "@denrei/cli"])
    expect(existsSync(join(production, "node_modules", name))).toBe(false);
});

test("a folder without a project is reported, with how to create one", async () => {
  const { code, stderr } = await run(["worker", "all"], { command: programIn(production), cwd: production });
  expect(code).toBe(2);
  expect(stderr).toContain(`${basename(production)} is not in a Denrei project`);
  expect(stderr).toContain("npx denrei init my-operator");
});
