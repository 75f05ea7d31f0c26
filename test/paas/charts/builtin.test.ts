import { describe, expect, test } from "vitest";
import { builtinChart } from "../../../functions/paas/charts/builtin.ts";
import type { ChartApplication } from "../../../functions/paas/charts/chart.ts";
import { siteSchema } from "../../../functions/paas/charts/site.ts";
import {
  application,
  deployment,
  gateway,
  ingress,
  labels,
  objects,
  render,
  route,
  service,
} from "./expected.ts";

const pod = async (app: ChartApplication, site?: object) =>
  (await objects(app, site))[0]?.spec.template?.spec ?? { containers: [] };
const container = async (app: ChartApplication, site?: object) => (await pod(app, site)).containers[0];

test("renders a Deployment, a Service, and an HTTPRoute behind a Gateway", async () => {
  expect(await render(application())).toEqual([deployment, service, route]);
});

test("renders an Ingress of the default class without a Gateway", async () => {
  expect(await render(application(), {})).toEqual([deployment, service, ingress]);
});

describe("the pods", () => {
  test("get all settings of the application", async () => {
    const app = application({
      command: ["node"],
      args: ["server.js"],
      port: 3000,
      serviceAccount: "web-runtime",
      imagePullSecret: "registry",
      imagePullSecrets: [{ name: "registry" }, { name: "mirror" }],
      env: [{ name: "COLOUR", value: "red" }],
      envFrom: [{ secretRef: { name: "web-env" } }],
      resources: { requests: { cpu: 1, memory: "256Mi" }, limits: { memory: "512Mi" } },
      healthCheck: { path: "/healthz", initialDelaySeconds: 7, timeoutSeconds: 2 },
    });
    const found = await pod(app, { gateway, defaultResources: { limits: { cpu: "2" } } });
    expect(found).toMatchObject({
      serviceAccountName: "web-runtime",
      imagePullSecrets: [{ name: "registry" }, { name: "mirror" }],
    });
    const probe = { httpGet: { path: "/healthz", port: "http" }, timeoutSeconds: 2 };
    expect(found.containers).toEqual([
      {
        name: "main",
        image: "registry.example.com/web@sha256:aa",
        command: ["node"],
        args: ["server.js"],
        env: [
          { name: "PORT", value: "3000" },
          { name: "COLOUR", value: "red" },
        ],
        envFrom: [{ secretRef: { name: "web-env" } }],
        ports: [{ name: "http", containerPort: 3000, protocol: "TCP" }],
        resources: { requests: { cpu: 1, memory: "256Mi" }, limits: { memory: "512Mi" } },
        startupProbe: { ...probe, initialDelaySeconds: 7, periodSeconds: 2, failureThreshold: 120 },
        readinessProbe: { ...probe, periodSeconds: 5, failureThreshold: 3 },
        livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
        lifecycle: { preStop: { sleep: { seconds: 5 } } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT"] },
        },
      },
    ]);
  });

  test("change with the image's digest, and not with unrelated fields", async () => {
    const template = async (app: ChartApplication) => (await objects(app))[0]?.spec.template;
    const before = await template(application());
    expect(await template(application({ domains: ["other.example.com"], replicas: 5 }))).toEqual(before);
    expect(await template(application({ image: "registry.example.com/web@sha256:bb" }))).not.toEqual(before);
  });

  test.each([undefined, ""])("run only the placeholder without an image (%j)", async (image) => {
    const app = application({
      image,
      command: ["node"],
      args: ["server.js"],
      env: [{ name: "COLOUR", value: "red" }],
      envFrom: [{ secretRef: { name: "web-env" } }],
      healthCheck: { path: "/healthz" },
    });
    const found = await container(app, { gateway, noAppImage: "registry.example.com/empty:1" });
    expect(found).toEqual({
      ...deployment.spec.template.spec.containers[0],
      image: "registry.example.com/empty:1",
    });
  });

  test("get the site's default resources", async () => {
    const defaultResources = { requests: { memory: "64Mi" } };
    expect(await container(application(), { gateway, defaultResources })).toMatchObject({
      resources: defaultResources,
    });
  });

  test("keep the application's own PORT", async () => {
    const env = [{ name: "PORT", value: "9" }];
    expect(await container(application({ env }))).toMatchObject({ env });
  });

  test("scale to 0, and default to one", async () => {
    expect((await objects(application({ replicas: 0 })))[0]?.spec.replicas).toBe(0);
    const { replicas: _, ...spec } = application().spec;
    const silent = { ...application(), spec } as ChartApplication;
    expect((await objects(silent))[0]?.spec.replicas).toBe(1);
  });

  test.each([
    [8080, { drop: ["ALL"] }],
    [80, { drop: ["ALL"], add: ["NET_BIND_SERVICE"] }],
  ])("drop all capabilities at the level restricted, on port %i", async (port, capabilities) => {
    const found = await pod(application({ port }), { gateway, podSecurity: "restricted" });
    expect(found.securityContext).toEqual({
      seccompProfile: { type: "RuntimeDefault" },
      runAsNonRoot: true,
    });
    expect(found.containers[0]?.securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities });
  });

  test("of a preview carry its labels, and no others of the application", async () => {
    const preview = {
      "modoki.tsuzu.dev/app-pipeline": "site",
      "modoki.tsuzu.dev/pull-request-id": "7",
    };
    const [found] = await objects(application({}, { labels: { ...preview, team: "a" } }));
    expect(found?.metadata.labels).toEqual({ ...labels, ...preview });
    expect(found?.spec.template?.metadata.labels).toEqual({ ...labels, ...preview });
    expect(found?.spec.selector).toEqual(deployment.spec.selector);
  });
});

test("does not render after an abort", async () => {
  const reason = new Error("the worker stops");
  await expect(
    builtinChart.render(application(), siteSchema.parse({}), AbortSignal.abort(reason)),
  ).rejects.toBe(reason);
});
