import { expect, test } from "vitest";
import { externalKind } from "../../../bus/kube/kind.ts";
import { UnlistedKindError } from "../charts/chart.ts";
import { listingProblem, withAdvice } from "./kindadvice.ts";

const widget = externalKind({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets" });
const unlisted = new UnlistedKindError("document 1", "example.com/v1", "Widget", "not listed");
const serving = (served?: typeof widget) => ({ kind: () => Promise.resolve(served) });

test("asks for a CRD of a kind that the API server does not serve", async () => {
  const { message } = await withAdvice(unlisted, [], serving());
  expect(message).toContain("the API server does not serve it. Install its CRD");
});

test("gives no advice while the API server does not answer", async () => {
  const live = { kind: () => Promise.reject(new Error("503: not now")) };
  await expect(withAdvice(unlisted, [], live)).rejects.toThrow("503: not now");
  await expect(listingProblem(widget, live)).rejects.toThrow("503: not now");
});

test("corrects an unserved version, with the line that lists the kind", async () => {
  const live = serving({ ...widget, version: "v2" });
  const line = "- { group: example.com, version: v2, kind: Widget, plural: widgets }";
  expect((await withAdvice(unlisted, [], live)).message).toContain(line);
  expect((await withAdvice(unlisted, [], live)).message).toContain(
    "serves it as example.com/v2: use that version",
  );
  expect(await listingProblem(widget, live)).toContain(
    `The API server knows it as ${line}: correct the line`,
  );
});

test("does not correct a valid line", async () => {
  expect(await listingProblem(widget, serving(widget))).toBeUndefined();
});
