/** The order of application lists and pages. Uses a simulated clock, because rows of the same second have no order. */
import { expect, test } from "vitest";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { simulatedTarget } from "./target.ts";

let passedMillis = 0;
const environment = openEnvironment(() => simulatedTarget("C", () => Date.now() + passedMillis));
const { web, api } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const labels = { env: "test" };
const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary" };
const names = (applications: readonly { readonly name: string }[] = []) =>
  applications.map(({ name }) => name);

test("lists the last changed application first, also across pages", async () => {
  for (const name of ["first", "second", "third"]) {
    await web("addApplication", { name, pipedId: fixtures.piped, gitPath, labels });
    passedMillis += 2000;
  }
  const [, , first] = (await web("listApplications", { options: {} })).answer?.applications ?? [];
  await web("disableApplication", { applicationId: first?.id ?? "" });
  await web("enableApplication", { applicationId: first?.id ?? "" });
  const order = ["first", "third", "second"];
  expect(names((await web("listApplications", { options: {} })).answer?.applications)).toEqual(order);

  const seen: string[] = [];
  let cursor = "";
  for (const _ of order) {
    const { answer } = await api("listApplications", { labels, limit: 1, cursor }, fixtures.reader);
    seen.push(...names(answer?.applications));
    cursor = answer?.cursor ?? "";
  }
  expect(seen).toEqual(order);
});
