/** The modules of a worker add to its cold start, which every function scaled to zero has. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));

test("a worker does not load Node's fetch", () => {
  const script = `await import(${JSON.stringify(worker)}); console.log(JSON.stringify(process.moduleLoadList));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  const loaded = JSON.parse(output) as string[];
  expect(loaded).toContain("NativeModule http");
  expect(loaded.filter((name) => name.includes("deps/undici"))).toEqual([]);
});
