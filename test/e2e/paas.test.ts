/** The PaaS: a branch is built and runs, and runs anew when somebody pushes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { Deployment } from "../../functions/paas/charts/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { has } from "../harness/world.ts";

const timeout = 120_000;

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ gateways: 3 });
});
afterAll(() => paas?.stop());

test("from a branch to a running application", { timeout }, async () => {
  await paas.application("web");
  await paas.remoteSync("web", { branch: "main" });
  const sync = await paas.kit.until(RemoteSync, { name: "web" }, has("Ready", "True"));
  const main = await paas.github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
  expect(sync.status?.revision).toBe(main.commit.sha);
  const app = await paas.kit.until(Application, { name: "web" }, has("Ready", "True"));
  expect(app.spec.image).toBe(sync.status?.latestImage);
});
void Build; void Image; void Deployment;
