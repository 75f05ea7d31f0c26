import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchedFolders, watchSaves } from "./watch.ts";

const patience = { timeout: 30_000, interval: 20 };

test("what can not be watched is told, once, and what else is saved is noticed all the same", async () => {
  const root = mkdtempSync(join(tmpdir(), "test-saves-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of watchedFolders) mkdirSync(join(root, folder));
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const saved: string[] = [];
  const troubles: string[] = [];
  await watchSaves({
    root,
    signal: stopping.signal,
    onSaved: (paths) => saved.push(...paths),
    onTrouble: ({ message }) => troubles.push(message),
  });

  symlinkSync("circle.ts", join(root, "functions/circle.ts"));
  await expect.poll(() => troubles, patience).toEqual([expect.stringMatching(/^ELOOP: .*circle\.ts/)]);
  symlinkSync("ring.ts", join(root, "functions/ring.ts"));
  writeFileSync(join(root, "functions/a.ts"), "");
  await expect.poll(() => saved, patience).toContain("functions/a.ts");
  expect(troubles).toHaveLength(1);
});
