import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchSaves } from "./watch.ts";

const pollOptions = { timeout: 30_000, interval: 20 };

test("reports an unwatchable file once, and still detects other saves", async () => {
  const root = mkdtempSync(join(tmpdir(), "test-saves-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "functions"));
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const saved: string[] = [];
  const errors: string[] = [];
  await watchSaves({
    root,
    signal: stopping.signal,
    onSaved: (paths) => saved.push(...paths),
    onError: ({ message }) => errors.push(message),
  });

  symlinkSync("circle.ts", join(root, "functions/circle.ts"));
  await expect.poll(() => errors, pollOptions).toEqual([expect.stringMatching(/^ELOOP: .*circle\.ts/)]);
  symlinkSync("ring.ts", join(root, "functions/ring.ts"));
  writeFileSync(join(root, "functions/a.ts"), "");
  await expect.poll(() => saved, pollOptions).toContain("functions/a.ts");
  expect(errors).toHaveLength(1);
});
