/** `npm run screenshots`: the demo `dashboard`, its users, and pictures of all screens. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { root, run, testFolder } from "./program.ts";

await programs(...platformPrograms);

/** Enough for the demo and for six pictures of each screen. */
const longestMillis = 580_000;

/** All screens of dashboard/web/src/screens.ts, with their parts. */
const screens = [
  ...["applications", "builds", "previews", "github", "pipecd", "zundoko", "bus"],
  ...["applications", "builds", "previews", "github", "zundoko"].map((screen) => `${screen}-new`),
  ...["", "-logs", "-history", "-settings"].map((part) => `applications-object${part}`),
  ...["builds", "previews"].flatMap((screen) => ["", "-settings"].map((part) => `${screen}-object${part}`)),
  ...["github-object", "pipecd-controlplanes-object", "zundoko-object"],
  ...["bus-deadletters", "bus-deadletters-hikawa-object", "bus-history", "bus-history-found"],
  ...["bus-causality-found", "bus-runbooks"],
];

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

test("alice may change what bob may only read, every screen has pictures, and the demo ends", {
  timeout: 600_000,
}, async () => {
  const here = testFolder();
  const folder = await mkdtemp(join(tmpdir(), "test-screens-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { code, signal, stdout, stderr } = await run([folder], {
    command: [process.execPath, join(root, "test/screenshots/main.ts")],
    env: here.env,
    longestMillis,
  });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(stdout).toMatch(/^The dashboard is at http:\/\/127\.0\.0\.1:\d+$/m);
  for (const user of ["alice, who may change everything", "bob, who may only read"])
    expect(stdout).toMatch(new RegExp(`^ {2}Log in as ${user} in the namespace denrei-demo: \\S+$`, "m"));
  expect(stdout).toMatch(/alice +sees 4 Applications through the dashboard, and may change them$/m);
  expect(stdout).toMatch(/bob +sees 4 Applications through the dashboard, and may not change them \(403\)$/m);
  // The user in the pictures has connected GitHub.
  expect(stdout).toMatch(
    /alice +has connected the GitHub account octocat, and may create an Installation for acme\/web$/m,
  );
  const names = /took (\d+) pictures: (.*)$/m.exec(stdout);
  const pictures = names?.[2]?.split(", ") ?? [];
  expect(pictures).toHaveLength(Number(names?.[1]));
  const looks = [1280, 768, 320].flatMap((width) => [`${width}-light`, `${width}-dark`]);
  for (const look of looks)
    expect(pictures).toEqual(expect.arrayContaining(screens.map((screen) => `${screen}-${look}.png`)));
  for (const name of pictures)
    expect([name, (await readFile(join(folder, name))).subarray(0, png.length)]).toEqual([name, png]);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
