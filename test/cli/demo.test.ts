/** `denrei demo`, from nothing to nothing. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { place, run, start } from "./program.ts";
import { said, song, words } from "./song.ts";

await programs(...platformPrograms);

/** The lines of a table, from its command to the next empty line. */
const table = (stdout: string, kinds: string): string[] =>
  stdout.split(`$ kubectl get ${kinds}\n`)[1]?.split("\n\n")[0]?.trimEnd().split("\n") ?? [];

test("two side by side sing to the end, do not meet, and leave nothing", async () => {
  const both = [place(), place()];
  const ended = await Promise.all(
    both.map(({ env }) => run(["demo", "--workers", "2"], { env: { ...env, ...song } })),
  );
  for (const [at, { code, signal, stdout, stderr }] of ended.entries()) {
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
    expect(stdout).toContain("Starting a local platform:");
    expect(stdout).toMatch(/^ {2}kube-apiserver +ready after \d/m);
    expect(stdout).toContain("Hikawa sings on 2 replicas:");
    expect(said(stdout).map(([word]) => word)).toEqual([...words, "Kiyoshi!"]);
    for (const [, by] of said(stdout)) expect(by).toMatch(/^worker-[12]$/);
    const columns = stdout.split("\n").filter((line) => line.includes("   worker-"));
    expect(new Set(columns.map((line) => line.indexOf("worker-"))).size).toBe(1);
    expect(table(stdout, "hikawas")).toEqual([
      expect.stringMatching(/^NAME +INTERVAL +SAID +KIYOSHIED +AGE$/),
      expect.stringMatching(/^hikawa-sample +500 +6 +true +\d+s$/),
    ]);
    expect(table(stdout, "zundokos")).toHaveLength(1 + words.length);
    expect(table(stdout, "kiyoshis")[1]).toMatch(/^hikawa-sample-kiyoshi +Kiyoshi! +\d+s$/);
    expect(both[at]?.runs()).toEqual([]);
    expect(both[at]?.processes()).toEqual([]);
  }
});

test("a reader that leaves ends it: denrei demo | head", async () => {
  const here = place();
  const demo = start(["demo", "--workers", "1"], { env: here.env });
  // Chance would sing for half a minute.
  await demo.lines.until((line) => line.includes("hikawa-sample-zundoko-002"));
  demo.process.stdout?.destroy();
  const { code, signal, stderr } = await demo.ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
