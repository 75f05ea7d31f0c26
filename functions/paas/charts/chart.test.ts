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

test("a chart is told nothing that changes while an application stays what it is", () => {
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

test("labels and annotations are there when there are none", () => {
  expect(chartApplication(stored).metadata).toMatchObject({ labels: {}, annotations: {} });
});

test("a pinned image is the image", () => {
  const pinnedImage = "registry.example.com/web@sha256:aa";
  expect(chartApplication({ ...stored, spec: { ...stored.spec, pinnedImage } }).spec).toStrictEqual({
    ...stored.spec,
    image: pinnedImage,
  });
});

test("a site's configuration has defaults, and keeps what only the site's own chart knows", () => {
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
])("a site's configuration %j is refused", (site, path) => {
  expect(siteSchema.safeParse(site).error?.issues.map((issue) => issue.path)).toEqual([path]);
});
