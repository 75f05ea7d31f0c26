/** `denrei up` and `denrei dev --dashboard` with an existing cluster and issuer. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtPage } from "../../deploy/environment/page.ts";
import { userRoles } from "../../deploy/generate/users.ts";
import { freePort } from "../../deploy/local/index.ts";
import type { SimulatedIssuer } from "../../deploy/simulators/login/issuer.ts";
import { functions } from "../../functions/index.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { people } from "../harness/people.ts";
import { grant } from "../harness/rights.ts";
import { logIn } from "../harness/visitor.ts";
import { type Environment, run, start, testFolder } from "./program.ts";
import { song } from "./song.ts";
import { polling, printed } from "./up.ts";

await builtPage();

const rbac = "rbac.authorization.k8s.io";
const hikawas = "/api/kubernetes/apis/zundokokiyoshi.kaitoy.github.com/v1beta1/namespaces/default/hikawas";
let environment: LocalTestEnvironment;
let issuer: SimulatedIssuer | undefined;
let url: string;
let env: Environment;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  const address = `127.0.0.1:${await freePort()}`;
  url = `http://${address}`;
  const site = environment.platform.issuer;
  issuer = await site?.start({ people: Object.values(people), dashboardUrl: url });
  const secretPath = join(environment.platform.directory, "client-secret");
  await writeFile(secretPath, issuer?.clientSecret ?? "", { mode: 0o600 });
  env = {
    ...song,
    KUBECONFIG: environment.platform.kubeconfigPath,
    NATS_URL: environment.platform.natsUrl,
    DENREI_OIDC_ISSUER: issuer?.url,
    DENREI_OIDC_CLIENT_ID: issuer?.clientId,
    DENREI_OIDC_CLIENT_SECRET: secretPath,
    DENREI_OIDC_CA: site?.caPath,
    DENREI_DASHBOARD_ADDRESS: address,
  };
  await grant(environment.client, [
    ...userRoles(functions),
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: "lookers", namespace: "default" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "bob" }],
    },
  ]);
});
afterAll(async () => {
  await issuer?.stop();
  await environment?.stop();
});

test.for([
  ["up", ["up", "--workers", "1"]],
  ["dev", ["dev", "hikawa", "--dashboard"]],
] as const)("%s: users log in at the existing issuer, with their existing permissions", async ([, args]) => {
  const here = testFolder();
  const running = start(args, {
    env: { ...here.env, ...env },
  });
  expect(await printed(running, "The dashboard is at ")).toBe(`The dashboard is at ${url}`);
  const bob = await logIn(url, people.bob);
  expect((await bob.ask("/api/session")).json()).toMatchObject({ user: "bob" });
  // The controller manager aggregates the role after a moment.
  await expect.poll(() => bob.ask(hikawas), polling).toMatchObject({ status: 200 });
  const carol = await logIn(url, people.carol);
  const refused = await carol.ask(hikawas);
  expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
    403,
    expect.stringContaining('User "carol" cannot list'),
  ]);
  running.process.kill("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  // There are no simulated users, and no roles were granted.
  expect(stdout).not.toContain("Log in as");
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("reports an invalid address, and leaves nothing behind", async () => {
  const here = testFolder();
  const { code, stderr } = await run(["up", "--workers", "1"], {
    env: { ...here.env, ...env, DENREI_DASHBOARD_ADDRESS: "nowhere" },
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^denrei: DENREI_DASHBOARD_ADDRESS: expected host:port/);
  expect(here.runs()).toEqual([]);
});
