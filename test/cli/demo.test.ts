/** `denrei demo` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { run, testFolder } from "./program.ts";
import { said, song, words } from "./song.ts";

await programs(...platformPrograms);

/** The lines of a table, from its command to the next empty line. */
const table = (stdout: string, kinds: string): string[] =>
  stdout.split(`$ kubectl get ${kinds}\n`)[1]?.split("\n\n")[0]?.trimEnd().split("\n") ?? [];

test("prints the whole song, and leaves nothing behind", async () => {
  const here = testFolder();
  const { code, signal, stdout, stderr } = await run(["demo", "--workers", "2"], {
    env: { ...here.env, ...song },
  });
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
  expect(here.runs()).toEqual([]);
  expect(here.processes()).toEqual([]);
});
