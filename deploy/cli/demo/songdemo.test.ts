/** When `denrei up` starts a dashboard, and what it prints when it starts none. */
import { afterEach, expect, test, vi } from "vitest";
import { wordsVariable } from "../../../functions/zundoko/words.ts";
import type { DemoOptions } from "./definition.ts";
import type { Preparation } from "./environment.ts";
import { mostWords } from "./shortsong.ts";
import { planDashboard, songDemo } from "./songdemo.ts";

afterEach(() => vi.unstubAllEnvs());

const up: DemoOptions = { mode: "up", name: "song" };
const inExistingCluster = { KUBECONFIG: "/home/user/.kube/config", NATS_URL: "nats://127.0.0.1:4222" };
const issuer = { DENREI_OIDC_ISSUER: "https://login.example.com", DENREI_OIDC_CLIENT_ID: "denrei" };

test.each([
  ["up starts the simulated login", up, {}, { dashboard: true }],
  ["up with --no-dashboard prints nothing", { ...up, dashboard: false }, {}, { dashboard: false }],
  ["demo never starts one", { ...up, mode: "demo" }, {}, { dashboard: false }],
  [
    "up in an existing cluster uses the issuer of the environment",
    up,
    { ...inExistingCluster, ...issuer },
    { dashboard: true },
  ],
  [
    "up in an existing cluster names the missing issuer",
    up,
    inExistingCluster,
    {
      dashboard: false,
      notice:
        "No dashboard: set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID to an issuer that your API server trusts (docs/dashboard.md).",
    },
  ],
] as const)("%s", (_, options, env, plan) => {
  for (const name of [...Object.keys(inExistingCluster), ...Object.keys(issuer)]) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(planDashboard(options)).toEqual(plan);
  expect(songDemo(options).parts.dashboard).toBe(plan.dashboard);
});

/** The words that a demo chooses for its workers; undefined if it leaves them to chance. */
async function chosenWords(options: DemoOptions): Promise<string | undefined> {
  const variables = await songDemo(options).parts.before?.({} as Preparation);
  return variables?.[wordsVariable];
}

test("the demo draws a song of few words, unless the user has chosen the words", async () => {
  vi.stubEnv(wordsVariable, undefined);
  const words = (await chosenWords({ mode: "demo", name: "song" }))?.split(",") ?? [];
  expect(words.length).toBeLessThanOrEqual(mostWords);
  expect(words.slice(-5)).toEqual(["Zun", "Zun", "Zun", "Zun", "Doko"]);
  vi.stubEnv(wordsVariable, "Doko");
  expect(await chosenWords({ mode: "demo", name: "song" })).toBeUndefined();
});

test("up leaves the words to chance", async () => {
  vi.stubEnv(wordsVariable, undefined);
  expect(await chosenWords(up)).toBeUndefined();
});
