/** When `denrei up` has a dashboard, and what it says when it has none. */
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { UsageError } from "../usage.ts";
import type { DemoOptions } from "./act.ts";
import { dashboardOf, songAct } from "./songdemo.ts";

afterEach(() => vi.unstubAllEnvs());

const login = fileURLToPath(new URL("../../../test/demo/login.ts", import.meta.url));
const up: DemoOptions = { mode: "up", act: "song" };
const inOwnCluster = { KUBECONFIG: "/somebody/elses", NATS_URL: "nats://127.0.0.1:4222" };
const issuer = { DENREI_OIDC_ISSUER: "https://login.example.com", DENREI_OIDC_CLIENT_ID: "denrei" };

test.each([
  ["a program that plays a login", { ...up, login }, {}, { plan: { program: login } }],
  ["no such program", up, {}, { notice: /^No dashboard: --login is to name a program that plays a login/ }],
  ["nobody who wants one", { ...up, login, dashboard: false }, {}, {}],
  ["a demo", { ...up, mode: "demo", login }, {}, {}],
  ["a cluster and an issuer", up, { ...inOwnCluster, ...issuer }, { plan: { program: undefined } }],
  ["a cluster without an issuer", { ...up, login }, inOwnCluster, { notice: /DENREI_OIDC_ISSUER/ }],
] as const)("with %s", (_, options, env, { plan, notice }: { plan?: object; notice?: RegExp }) => {
  for (const name of [...Object.keys(inOwnCluster), ...Object.keys(issuer)]) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const found = dashboardOf(options);
  expect(Object.keys(found)).toEqual(Object.keys({ ...(plan && { plan }), ...(notice && { notice }) }));
  if (plan) expect(found.plan).toMatchObject(plan);
  if (notice) expect(found.notice).toMatch(notice);
  expect(songAct(options).cast.dashboard).toEqual(found.plan);
});

test("a program that is not there is a wrong command line", () => {
  vi.stubEnv("KUBECONFIG", undefined);
  expect(() => songAct({ ...up, login: "/no/such/program" })).toThrow(UsageError);
});
