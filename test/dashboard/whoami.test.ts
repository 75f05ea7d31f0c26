/** People whose names in Kubernetes are not those that the issuer has for them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnScene, people, startOwnScene, team } from "../harness/dashboard.ts";

let scene: OwnScene;
beforeAll(async () => {
  scene = await startOwnScene({ usernamePrefix: "oidc:" });
});
afterAll(() => scene?.stop());

test("the page names somebody as roles have to name them, and as whom the API server refuses them", async () => {
  const page = await scene.loggedIn(people.alice, team);
  await page.getByText("Logged in as oidc:alice").waitFor();
  await page.getByText('User "oidc:alice" cannot list resource "applications"').waitFor();
  expect(await page.getByRole("heading", { name: `You may not see this in ${team}` }).count()).toBe(1);
});
