/** `denrei demo` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { run, testFolder } from "./program.ts";
import { said } from "./song.ts";

await programs(...platformPrograms);

/** The lines of a table, from its command to the next empty line. */
const table = (stdout: string, kinds: string): string[] =>
  stdout.split(`$ kubectl get ${kinds}\n`)[1]?.split("\n\n")[0]?.trimEnd().split("\n") ?? [];

const ending = ["Zun", "Zun", "Zun", "Zun", "Doko"];
/** More words would take more than ten seconds. */
const mostWords = 20;

test("prints a whole song of few random words, and leaves nothing behind", async () => {
  const here = testFolder();
  const { code, signal, stdout, stderr } = await run(["demo", "--workers", "2"], { env: here.env });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(stdout).toContain("Starting a local platform:");
  expect(stdout).toMatch(/^ {2}kube-apiserver +ready after \d/m);
  expect(stdout).toContain("Hikawa sings on 2 replicas:");
  const words = said(stdout).map(([word]) => word);
  expect(words.slice(-6)).toEqual([...ending, "Kiyoshi!"]);
  const count = words.length - 1;
  expect(count).toBeLessThanOrEqual(mostWords);
  for (const [, by] of said(stdout)) expect(by).toMatch(/^worker-[12]$/);
  const columns = stdout.split("\n").filter((line) => line.includes("   worker-"));
  expect(new Set(columns.map((line) => line.indexOf("worker-"))).size).toBe(1);
  expect(table(stdout, "hikawas")).toEqual([
    expect.stringMatching(/^NAME +INTERVAL +SAID +KIYOSHIED +AGE$/),
    expect.stringMatching(new RegExp(`^hikawa-sample +500 +${count} +true +\\d+s$`)),
  ]);
  expect(table(stdout, "zundokos").at(-1)).toMatch(
    new RegExp(`^hikawa-sample-zundoko-${String(count).padStart(3, "0")} +Doko +\\d+s$`),
  );
  expect(table(stdout, "kiyoshis")[1]).toMatch(/^hikawa-sample-kiyoshi +Kiyoshi! +\d+s$/);
  expect(stdout).toMatch(/\nnpm start \(denrei up\) keeps .*\n\nStopping everything\.\n$/);
  expect(here.runs()).toEqual([]);
  expect(here.processes()).toEqual([]);
});
