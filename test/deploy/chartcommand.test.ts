/** `npm run chart`, as people run it. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { root } from "./manifests.ts";

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-chart-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const chart = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(root, "deploy/helm/main.ts"), ...args]);

test("writes the chart in this version, and again in its place", async () => {
  const folder = await scratch();
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const written = async () => {
    await chart("--out", folder);
    return parse(await readFile(join(folder, "Chart.yaml"), "utf8")) as unknown;
  };
  const first = await written();
  expect(first).toMatchObject({ name: "denrei", version, appVersion: version });
  expect(await written()).toEqual(first);
});

test("leaves a folder alone that holds something else", async () => {
  const folder = await scratch();
  await writeFile(join(folder, "notes"), "mine");
  await expect(chart("--out", folder)).rejects.toThrow(/to be empty or to hold a chart, found notes/);
  expect(await readFile(join(folder, "notes"), "utf8")).toBe("mine");
});

test("refuses a name that no cluster has", async () => {
  await expect(chart("--out", await scratch(), "--cluster", "Blue")).rejects.toThrow(/--cluster: expected/);
});
