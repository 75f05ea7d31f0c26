/** When `denrei up` starts a dashboard, and what it prints when it starts none. */
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { UsageError } from "../usage.ts";
import type { DemoOptions } from "./act.ts";
import { dashboardOf, songAct } from "./songdemo.ts";

afterEach(() => vi.unstubAllEnvs());

/** Any file will do: the program is not started here. */
const login = fileURLToPath(import.meta.url);
const up: DemoOptions = { mode: "up", act: "song" };
const inOwnCluster = { KUBECONFIG: "/home/user/.kube/config", NATS_URL: "nats://127.0.0.1:4222" };
const issuer = { DENREI_OIDC_ISSUER: "https://login.example.com", DENREI_OIDC_CLIENT_ID: "denrei" };

test.each([
  ["up starts the simulated login", { ...up, login }, {}, { plan: { program: login } }],
  [
    "up without a login prints how to get one",
    up,
    {},
    { notice: /^No dashboard: --login is to name a program that plays a login/ },
  ],
  ["up with --no-dashboard prints nothing", { ...up, login, dashboard: false }, {}, {}],
  ["demo never starts one", { ...up, mode: "demo", login }, {}, {}],
  [
    "up in the user's cluster uses the issuer of the environment",
    up,
    { ...inOwnCluster, ...issuer },
    { plan: { program: undefined } },
  ],
  [
    "up in the user's cluster names the missing issuer",
    { ...up, login },
    inOwnCluster,
    { notice: /DENREI_OIDC_ISSUER/ },
  ],
] as const)("%s", (_, options, env, { plan, notice }: { plan?: object; notice?: RegExp }) => {
  for (const name of [...Object.keys(inOwnCluster), ...Object.keys(issuer)]) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const found = dashboardOf(options);
  expect(Object.keys(found)).toEqual(Object.keys({ ...(plan && { plan }), ...(notice && { notice }) }));
  if (plan) expect(found.plan).toMatchObject(plan);
  if (notice) expect(found.notice).toMatch(notice);
  expect(songAct(options).cast.dashboard).toEqual(found.plan);
});

test("rejects a login program that does not exist", () => {
  vi.stubEnv("KUBECONFIG", undefined);
  expect(() => songAct({ ...up, login: "/no/such/program" })).toThrow(UsageError);
});
