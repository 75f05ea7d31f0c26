/** The PaaS, from GitHub to running pods: a branch, and previews of pull requests. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { has } from "../harness/world.ts";

const sample = new URL("../../functions/paas/sample.yaml", import.meta.url);

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
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

test("the sample objects apply unchanged, and what they say runs", async () => {
  const namespace = "team-a";
  await createNamespace(paas.kit.client, namespace);
  await paas.accounts.optIn(namespace);
  await paas.tokenSecret(namespace);
  const kinds = [Secret, Application, RemoteSync, AppPipeline] as readonly Kind[];
  for (const document of parseAllDocuments(readFileSync(sample, "utf8"))) {
    const object = document.toJS();
    const kind = kinds.find((one) => one.kind === object.kind) as Kind;
    const { spec = {} } = await paas.kit.client.create(kind, object as KubeObject, {
      fieldManager: "kubectl",
    });
    // Nothing was dropped, which the API server does without a word.
    expect(spec).toMatchObject(object.spec ?? {});
  }
  for (const kind of [Application, RemoteSync, AppPipeline] as readonly Kind[])
    await paas.kit.until(kind, { namespace, name: "web" }, has("Ready", "True"));
  const { number } = await paas.github.openPullRequest({ repository: "acme/web", branch: "sample" });
  const { status } = await paas.kit.until(AppPipeline, { namespace, name: "web" }, ({ status }) =>
    Boolean(status?.previews?.some((preview) => preview.number === number && preview.phase === "Ready")),
  );
  const { url = "" } = status?.previews?.find((preview) => preview.number === number) ?? {};
  expect(url).toMatch(new RegExp(`^https://pr-${number}-web-[0-9a-f]{6}\\.preview\\.example\\.com$`));
});
