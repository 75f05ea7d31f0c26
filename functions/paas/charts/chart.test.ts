import { expect, test } from "vitest";
import { chartApplication } from "./chart.ts";
import { siteSchema } from "./site.ts";

const stored = {
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: {
    name: "web",
    namespace: "team-a",
    uid: "u-1",
    resourceVersion: "7",
    generation: 3,
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { domains: ["web.example.com"], image: "registry.example.com/web:1", replicas: 1 },
  status: { message: "x" },
};

test("passes nothing to charts that changes while an application stays the same", () => {
  const annotations = {
    "modoki.tsuzu.dev/refreshed-at": "2026-01-01T00:00:00Z",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    team: "a",
  };
  const labels = { "modoki.tsuzu.dev/pull-request-id": "7" };
  expect(
    chartApplication({ ...stored, metadata: { ...stored.metadata, annotations, labels } }),
  ).toStrictEqual({
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "Application",
    metadata: { name: "web", namespace: "team-a", uid: "u-1", labels, annotations: { team: "a" } },
    spec: stored.spec,
  });
});

test("passes empty labels and annotations by default", () => {
  expect(chartApplication(stored).metadata).toMatchObject({ labels: {}, annotations: {} });
});

test("passes the pinned image as the image", () => {
  const pinnedImage = "registry.example.com/web@sha256:aa";
  expect(chartApplication({ ...stored, spec: { ...stored.spec, pinnedImage } }).spec).toStrictEqual({
    ...stored.spec,
    image: pinnedImage,
  });
});

test("fills in defaults of a site's configuration, and keeps unknown keys", () => {
  expect(siteSchema.parse({ team: { colour: "red" } })).toStrictEqual({
    scheme: "https",
    noAppImage: "modokipaas/no-app",
    podSecurity: "baseline",
    progressDeadlineSeconds: 300,
    terminationGracePeriodSeconds: 30,
    serviceDomain: "svc.cluster.local",
    oauth2ServiceName: "oauth2-proxy",
    oauth2ServiceNamespace: "modoki-operator-system",
    team: { colour: "red" },
  });
});

test.each([
  [{ gateway: { name: "public" } }, ["gateway", "namespace"]],
  [{ scheme: "ftp" }, ["scheme"]],
  [{ ingress: { annotations: { a: 1 } } }, ["ingress", "annotations", "a"]],
  [{ terminationGracePeriodSeconds: 5 }, ["terminationGracePeriodSeconds"]],
])("refuses the configuration %j", (site, path) => {
  expect(siteSchema.safeParse(site).error?.issues.map((issue) => issue.path)).toEqual([path]);
});
