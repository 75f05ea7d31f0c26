/** The PaaS, from GitHub to running pods: a branch, and previews of pull requests. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { has } from "../harness/world.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ gateways: 3 });
});
afterAll(() => paas?.stop());

test("from a branch to a running application", async () => {
  await paas.application("web");
  await paas.remoteSync("web", { branch: "main" });
  const sync = await paas.kit.until(RemoteSync, { name: "web" }, has("Ready", "True"));
  const main = await paas.github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
  expect(sync.status?.revision).toBe(main.commit.sha);
  const app = await paas.kit.until(Application, { name: "web" }, has("Ready", "True"));
  expect(app.spec.image).toBe(sync.status?.latestImage);
});

test("from a pull request to a running preview, and away again", async () => {
  await paas.pipeline("web");
  await paas.kit.until(AppPipeline, { name: "web" }, has("Ready", "True"));
  const { number } = await paas.github.openPullRequest({ repository: "acme/web", branch: "change" });
  const shown = await paas.kit.until(
    AppPipeline,
    { name: "web" },
    ({ status }) => status?.previews?.[0]?.phase === "Ready",
  );
  const name = `modoki-pipeline-web-pr-${number}`;
  expect(shown.status?.previews).toMatchObject([{ number, application: name }]);
  const { after } = await paas.github.push({ repository: "acme/web", branch: "change" });
  await paas.kit.until(AppPipeline, { name: "web" }, ({ status }) => {
    const [preview] = status?.previews ?? [];
    return preview?.headSHA === after && preview.phase === "Ready";
  });
  await paas.github.closePullRequest({ repository: "acme/web", number });
  await paas.kit.untilGone(Application, { name });
  await paas.kit.untilGone(RemoteSync, { name });
});
