/** A deletion that waits its whole minute for GitHub. functions/paas/report/send.test.ts has the limit itself. */
import { afterAll, beforeAll, test } from "vitest";
import { AppPipeline } from "../../functions/paas/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { idle, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { has } from "../harness/testobjects.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1, repositories: ["acme/away"] });
});
afterAll(() => paas?.stop());

test("deletes a pipeline after a minute while GitHub is unavailable", async () => {
  const previews = previewsOn(paas);
  await previews.open("away");
  await previews.create("away", { ...idle, report: {} });
  await previews.until("away", has("Reported", "True"));
  paas.github.fault({ path: /\/repos\/acme\/away/ }, { status: 503 });
  await paas.environment.client.delete(AppPipeline, { namespace: "default", name: "away" }, {});
  await paas.environment.untilGone(AppPipeline, { name: "away" }, 150_000);
  await untilNoObjects(paas, "away", 1);
}, 240_000);
