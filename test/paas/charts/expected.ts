/** The expected objects of the built-in chart for a small application, written by hand. */
import { builtinChart } from "../../../functions/paas/charts/builtin.ts";
import type { ChartApplication } from "../../../functions/paas/charts/chart.ts";
import { siteSchema } from "../../../functions/paas/charts/site.ts";

export const application = (
  spec: Partial<ChartApplication["spec"]> = {},
  metadata: Partial<ChartApplication["metadata"]> = {},
): ChartApplication => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: { name: "web", namespace: "team-a", uid: "u-1", labels: {}, annotations: {}, ...metadata },
  spec: { domains: ["web.example.com"], image: "registry.example.com/web@sha256:aa", replicas: 2, ...spec },
});

export const gateway = { name: "public", namespace: "gateways" };
export const render = (app: ChartApplication, site: object = { gateway }): Promise<unknown[]> =>
  builtinChart.render(app, siteSchema.parse(site), AbortSignal.timeout(10_000));

export const labels = {
  "modoki-app": "web",
  "app.kubernetes.io/name": "web",
  "app.kubernetes.io/instance": "web",
  "app.kubernetes.io/managed-by": "modoki",
};
export const metadata = { name: "web", namespace: "team-a", labels };

export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata,
  spec: {
    replicas: 2,
    selector: { matchLabels: { "modoki-app": "web" } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    progressDeadlineSeconds: 300,
    revisionHistoryLimit: 2,
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 30,
        securityContext: { seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "main",
            image: "registry.example.com/web@sha256:aa",
            env: [{ name: "PORT", value: "8080" }],
            ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
            readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 5 },
            lifecycle: { preStop: { sleep: { seconds: 5 } } },
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT"] },
            },
          },
        ],
      },
    },
  },
};

export const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata,
  spec: {
    selector: { "modoki-app": "web" },
    ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: "http" }],
  },
};

export const route = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata,
  spec: {
    parentRefs: [
      { group: "gateway.networking.k8s.io", kind: "Gateway", name: "public", namespace: "gateways" },
    ],
    hostnames: ["web.example.com"],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/" } }],
        backendRefs: [{ group: "", kind: "Service", name: "web", port: 80, weight: 1 }],
      },
    ],
  },
};

export const ingress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata,
  spec: {
    rules: [
      {
        host: "web.example.com",
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              backend: { service: { name: "web", port: { number: 80 } } },
            },
          ],
        },
      },
    ],
    tls: [{ hosts: ["web.example.com"] }],
  },
};

/** The fields of an object that the tests use. */
export interface Rendered {
  kind: string;
  metadata: {
    name: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: Record<string, unknown> & {
    template?: {
      metadata: { labels: Record<string, string> };
      spec: Record<string, unknown> & { containers: Record<string, unknown>[] };
    };
  };
}

export const objects = async (app: ChartApplication, site?: object): Promise<Rendered[]> =>
  (await render(app, site)) as Rendered[];
