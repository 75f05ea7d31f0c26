/** `denrei up` and `denrei dev --dashboard` with KUBECONFIG, NATS_URL and an issuer: a dashboard of somebody's own cluster. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userRoles } from "../../deploy/generate/users.ts";
import { freePort } from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { people } from "../harness/dashboard.ts";
import { type OwnKit, startOwnKit } from "../harness/kit.ts";
import { grant } from "../harness/rights.ts";
import { logIn } from "../harness/visitor.ts";
import type { PlayedIssuer } from "../issuer/issuer.ts";
import { type Environment, place, run, start } from "./program.ts";
import { song } from "./song.ts";
import { printed } from "./up.ts";

const rbac = "rbac.authorization.k8s.io";
const prefix = "theirs:";
const hikawas = "/api/kubernetes/apis/zundokokiyoshi.kaitoy.github.com/v1beta1/namespaces/default/hikawas";

let kit: OwnKit;
let issuer: PlayedIssuer | undefined;
let url: string;
let env: Environment;
beforeAll(async () => {
  const address = `127.0.0.1:${await freePort()}`;
  url = `http://${address}`;
  kit = await startOwnKit({ controllerManager: "run", issuer: { usernamePrefix: prefix } });
  const site = kit.platform.issuer;
  issuer = await site?.start({ people: Object.values(people), dashboardUrl: url });
  const secretPath = join(kit.platform.directory, "client-secret");
  await writeFile(secretPath, issuer?.clientSecret ?? "", { mode: 0o600 });
  const oidc = {
    DENREI_OIDC_ISSUER: issuer?.url,
    DENREI_OIDC_CLIENT_ID: issuer?.clientId,
    DENREI_OIDC_CLIENT_SECRET: secretPath,
    DENREI_OIDC_CA: site?.caPath,
  };
  const { kubeconfigPath: KUBECONFIG, natsUrl: NATS_URL } = kit.platform;
  env = { ...song, KUBECONFIG, NATS_URL, ...oidc, DENREI_DASHBOARD_ADDRESS: address };
  await grant(kit.client, [
    ...userRoles(functions),
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: "lookers", namespace: "default" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: rbac, kind: "User", name: `${prefix}bob` }],
    },
  ]);
});
afterAll(async () => {
  await kit?.stop();
  await issuer?.stop();
});

test.for([
  ["up", ["up", "--workers", "1"]],
  ["dev", ["dev", "hikawa", "--dashboard"]],
] as const)(
  "%s: their people log in at their issuer, with the rights that they have there",
  async ([, args]) => {
    const here = place();
    const running = start(args, { env: { ...here.env, ...env }, longestMillis: 110_000 });
    expect(await printed(running, "The dashboard is at ")).toBe(`The dashboard is at ${url}`);
    const bob = await logIn(url, people.bob);
    expect((await bob.ask("/api/session")).json()).toMatchObject({ user: `${prefix}bob` });
    // The controller manager puts the role together a moment after its parts are there.
    await expect.poll(() => bob.ask(hikawas), { timeout: 30_000 }).toMatchObject({ status: 200 });
    const carol = await logIn(url, people.carol);
    const refused = await carol.ask(hikawas);
    expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
      403,
      expect.stringContaining(`User "${prefix}carol" cannot list`),
    ]);
    running.process.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
    // Nobody is made up, and nobody is given anything.
    expect(stdout).not.toContain("Log in as");
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  },
);

test("without an issuer there is none, and it is said how there would be one", async () => {
  const here = place();
  const running = start(["up", "--workers", "1"], {
    env: { ...here.env, ...env, DENREI_OIDC_ISSUER: undefined },
  });
  expect(await printed(running, "No dashboard: ")).toBe(
    "No dashboard: set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID, which your API server has to trust (docs/dashboard.md).",
  );
  expect(here.processes().filter((line) => line.includes("denrei.js dashboard"))).toEqual([]);
  running.process.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
});

test("an address that can not be is a wrong setting, and nothing is left of the start", async () => {
  const here = place();
  const { code, stderr } = await run(["up", "--workers", "1"], {
    env: { ...here.env, ...env, DENREI_DASHBOARD_ADDRESS: "nowhere" },
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^denrei: DENREI_DASHBOARD_ADDRESS: expected host:port/);
  expect(here.runs()).toEqual([]);
});
