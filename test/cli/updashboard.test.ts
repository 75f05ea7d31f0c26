/** `denrei up` with a dashboard in front, as `npm start` has it. */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { logIn } from "../harness/visitor.ts";
import { type Place, place, type Running, run, start } from "./program.ts";
import { song } from "./song.ts";
import { pidOf, printed } from "./up.ts";

const [, ...login] = /up( --login \S+)$/.exec(manifest.scripts.start)?.[1]?.split(" ") ?? [];
const deployments = "/api/kubernetes/apis/apps/v1/namespaces/default/deployments";

const upWith = ({ env }: Place, ...flags: readonly string[]): Running =>
  start(["up", "--workers", "1", ...flags], { env: { ...env, ...song } });

/** Where the guide says that the dashboard is, and who can log in there. */
async function guided(running: Running) {
  const url = /(http:\S+)$/.exec(await printed(running, "The dashboard is at "))?.[1] ?? "";
  const person = async (name: string) => {
    const line = await printed(running, `Log in as ${name}, `);
    return { name, password: /: (\S+)$/.exec(line)?.[1] ?? "" };
  };
  return { url, alice: await person("alice"), bob: await person("bob") };
}

test("people log in at the address that the guide says, also after the dashboard has died, and Ctrl-C leaves nothing", async () => {
  const here = place();
  const running = upWith(here, ...login);
  const { url, alice, bob } = await guided(running);
  for (const person of [alice, bob]) {
    const visitor = await logIn(url, person);
    await expect.poll(() => visitor.ask(deployments), { timeout: 30_000 }).toMatchObject({ status: 200 });
  }
  await expect(logIn(url, { name: "alice", password: bob.password })).rejects.toThrow(
    "expected the issuer to let alice in",
  );
  const session = await logIn(url, alice);
  process.kill(pidOf(here, "denrei.js dashboard"), "SIGKILL");
  await printed(running, /^dashboard-1 was started again \(pid \d+\)/);
  // Sessions are on the bus, and the keys in a file.
  expect((await session.ask("/api/session")).json()).toMatchObject({ user: "alice" });

  running.process.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("where somebody has its usual port, it takes the next one that is free", async () => {
  const other = createServer().listen({ port: 8090, host: "127.0.0.1" });
  const taken = await new Promise<"ours" | "theirs">((resolve) => {
    other.once("listening", () => resolve("ours")).once("error", () => resolve("theirs"));
  });
  onTestFinished(() => void other.close());
  const here = place();
  const running = upWith(here, ...login);
  const { url } = await guided(running);
  expect([taken, Number(new URL(url).port)]).toEqual([taken, expect.toSatisfy((port) => port > 8090)]);
  running.process.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
});

test.for([
  ["a program that plays a login", [], "No dashboard: --login is to name a program that plays a login."],
  ["anybody who wants one", ["--no-dashboard", ...login], undefined],
] as const)("without %s there is none", async ([, flags, notice]) => {
  const here = place();
  const running = upWith(here, ...flags);
  await printed(running, "Hikawa sings on 1 replica:");
  const about = running.lines.all.filter((line) => /dashboard/i.test(line));
  expect(about).toEqual(notice === undefined ? [] : [expect.stringContaining(notice)]);
  expect(here.processes().filter((line) => /denrei\.js dashboard|login\.ts --tls/.test(line))).toEqual([]);
  running.process.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
});

test("a login whose program is not there is a wrong command line", async () => {
  const { code, stdout, stderr } = await run(["up", "--login", "nowhere.ts"]);
  expect(existsSync("nowhere.ts")).toBe(false);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    "denrei: expected --login with the path of a program that plays a login, found nowhere.ts. It comes with a checkout and its development dependencies: npm ci && npm start\n",
  );
});
