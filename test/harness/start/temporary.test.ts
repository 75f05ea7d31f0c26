import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { remover } from "./temporary.ts";

test("keeps the folder until the last local platform in it has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "test-remover-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The last one is also the last that the remover checks: it skips those that have just ended.
  const last = join(folder, "denrei-last");
  const others = Array.from({ length: 3000 }, (_, index) => join(folder, `denrei-${index}`));
  for (const run of [last, ...others]) {
    mkdirSync(run);
    writeFileSync(join(run, "owner.json"), "");
  }
  const removing = spawn("/bin/sh", ["-c", remover, folder], { stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(removing, "exit");
  removing.stdin.end();
  for (const run of others) {
    rmSync(run, { recursive: true });
    await new Promise(setImmediate);
  }
  expect({ existing: existsSync(join(last, "owner.json")), exitCode: removing.exitCode }).toEqual({
    existing: true,
    exitCode: null,
  });
  rmSync(last, { recursive: true });
  await ended;
  expect(existsSync(folder)).toBe(false);
});
