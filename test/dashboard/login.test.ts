/** Logging in, and seeing what RBAC lets see. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { people, type Scene, startScene, team } from "../harness/dashboard.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene?.stop());

test("whoever is logged in sees Applications as they come", async () => {
  const page = await scene.loggedIn(people.alice);
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByText("No Applications here yet").waitFor();
  await scene.kit.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name: "web", namespace: team },
      spec: { domains: ["web.example.com"], replicas: 1 },
    },
    { fieldManager: "test" },
  );
  await page.getByRole("link", { name: "web", exact: true }).waitFor();
  expect(await page.title()).toBe("Applications · Denrei");
});
