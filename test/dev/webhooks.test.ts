/** `denrei dev --play github`: webhooks come to one address, whichever code receives them, and GitHub is played. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { place, root } from "../cli/program.ts";
import { openKubectl } from "../harness/ket/kubectl.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { project, startDev } from "./project.ts";
import { source } from "./stonecode.ts";

const patience = { timeout: 60_000, interval: 50 };
const saves = 3;

test("what is pasted makes functions busy and brings webhooks; none is lost while code is saved, or the gateway dies", async () => {
  const here = place();
  const mine = project(here);
  mine.addFunctions("ghapp");
  mine.saveCatalog({
    pebble: "stones/pebble.ts",
    githubapp: "ghapp/githubapp.ts",
    installation: "ghapp/installation.ts",
  });
  const args = ["--play", "github", "--github", join(root, "test/demo/github.ts")];
  const { client, printed, running } = await startDev(mine, args);
  const said = (pattern: RegExp): string[] => {
    const line = running.lines.all.find((one) => pattern.test(one)) ?? "";
    return [...(pattern.exec(line) ?? [])].slice(1);
  };

  const [manifestPath = ""] = said(/kubectl apply -f (\S+github\.yaml)/);
  const options = { namespace: "default", deadlineMillis: 60_000, propagation: "Background" } as const;
  await openKubectl({ client, ...options }, { add: () => 0, gone: () => 0 }).applyFile(manifestPath);
  const installation = () => client.get(Installation, { namespace: "acme", name: "acme" });
  await expect.poll(async () => (await installation()).status?.secret, patience).toBeDefined();

  const [url = "", headerPath = "", body = ""] = said(/curl -X PUT (\S+) -H @(\S+) -d '(.+)'/);
  const [name = "", value = ""] = readFileSync(headerPath, "utf8").trim().split(": ");
  const pushed = await fetch(url, { method: "PUT", headers: { [name]: value }, body });
  expect(pushed.status).toBe(201);
  await printed(/ gateway push [0-9a-f]{8} {2}stored, answered 202$/);

  const [hook = "", secretPath = ""] = said(/received at (\S+), with the secret in (\S+)\.$/);
  const secret = readFileSync(secretPath, "utf8").trim();
  const deliver = (): Promise<number | string> =>
    post(hook, hookOf("push", push("acme/web", "main"), undefined, secret)).catch(String);
  const answers: (number | string)[] = [];
  const saving = new AbortController();
  const stream = (async () => {
    for (; !saving.signal.aborted; await sleep(50)) answers.push(await deliver());
  })();
  for (let code = 2; code <= saves + 1; code++) {
    mine.save("stones/pebble.ts", source({ mark: String(code) }));
    await printed(`Code ${code} runs`);
  }
  saving.abort();
  await stream;
  expect(answers.length).toBeGreaterThan(saves);
  expect(new Set(answers)).toEqual(new Set([202]));

  const gateways = () => here.processes().filter((line) => /^\d+ \S*node \S+denrei\.ts gateway$/.test(line));
  // The one before finishes what it has begun.
  await expect.poll(gateways, patience).toHaveLength(1);
  process.kill(Number.parseInt(gateways()[0] ?? "", 10), "SIGKILL");
  await printed(`gateway-1-code-${saves + 1} was ended by SIGKILL; starting it again`);
  await printed(`gateway-1-code-${saves + 1} runs again`);
  expect(await deliver()).toBe(202);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
}, 240_000);

test("without a port that is free it says so and starts nothing", async () => {
  const here = place();
  const mine = project(here);
  const { gatewayPort } = await startDev(mine, ["--gateway"]);
  const second = await mine.start(["dev", "--gateway-port", String(gatewayPort)]).ended;
  expect(second).toMatchObject({ code: 2, stdout: "" });
  expect(second.stderr).toContain(
    `expected a port for webhooks that can be listened at, found ${gatewayPort}: listen EADDRINUSE`,
  );
}, 120_000);
