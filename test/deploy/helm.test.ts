/** The Helm chart: the same objects as the kustomizations', with what a site chooses by values. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { functions } from "../../functions/index.ts";
import { type Chart, comparable, openChart, type Values } from "./chart.ts";
import type { Manifest } from "./manifests.ts";
import { overlay, siteWith } from "./overlays.ts";

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
  // Where there is no kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => chart?.remove());

const ofEachFunction = (values: Values): Values =>
  Object.fromEntries(functions.map(({ name }) => [name, values]));

/** What overlays/kind has other than the base. */
const small = { replicas: 1, resources: { requests: { cpu: "10m", memory: "128Mi" } } };
const kind: Values = {
  image: { pullPolicy: "Never" },
  bridge: small,
  gateway: { ...small, service: { type: "NodePort", nodePort: 30080 } },
  functions: ofEachFunction(small),
  nats: { servers: 1, resources: { requests: { cpu: "10m", memory: "64Mi" } } },
  networkPolicies: { enabled: false },
};

const same: readonly (readonly [string, Values, () => Promise<Manifest[]>])[] = [
  ["overlays/production by default", {}, () => overlay("production")],
  ["overlays/kind", kind, () => overlay("kind")],
  [
    "components keda and httproute",
    { autoscaling: "keda", httpRoute: { enabled: true } },
    () => siteWith("keda", "httproute"),
  ],
  [
    "components hpa and ingress",
    { autoscaling: "hpa", ingress: { enabled: true } },
    () => siteWith("hpa", "ingress"),
  ],
];

describe("renders to the objects of", () => {
  test.for(same)("%s", async ([, values, kustomization]) => {
    expect(comparable(await chart.template(values))).toEqual(comparable(await kustomization()));
  });
});

test("helm lint finds nothing", async () => {
  const { code, output } = await chart.helm(["lint", "--strict", chart.folder]);
  expect([code, output]).toEqual([0, expect.stringContaining("0 chart(s) failed")]);
});
