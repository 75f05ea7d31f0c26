/** The order of application lists and pages. Uses a simulated clock, because rows of the same second have no order. */
import { expect, test } from "vitest";
import { equip, report } from "./equipment.ts";
import { setScene } from "./scene.ts";
import { simulatedTarget } from "./target.ts";

let passedMillis = 0;
const scene = setScene(() => simulatedTarget("C", () => Date.now() + passedMillis));
const { web, api } = scene;
const equipment = equip(scene);
report(scene, equipment);

const labels = { env: "test" };
const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary" };
const names = (applications: readonly { readonly name: string }[] = []) =>
  applications.map(({ name }) => name);

test("lists the last changed application first, also across pages", async () => {
  for (const name of ["first", "second", "third"]) {
    await web("addApplication", { name, pipedId: equipment.piped, gitPath, labels });
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
    const { answer } = await api("listApplications", { labels, limit: 1, cursor }, equipment.reader);
    seen.push(...names(answer?.applications));
    cursor = answer?.cursor ?? "";
  }
  expect(seen).toEqual(order);
});
