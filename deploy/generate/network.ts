/**
 * Who may speak to whom: nobody, but for what the platform needs and what functions declare. Namespaces of others are those
 * that their projects' documentation uses; a site patches what is different there.
 */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { natsName } from "./certificates.ts";
import { labelsOf, workloadName } from "./rbac.ts";
import { dashboardPort, httpPort, webhooksPort } from "./workloads.ts";

type Manifest = Record<string, unknown>;

/** Ports of a NATS server: for clients, for each other, for who looks, and for Prometheus. */
const natsPorts = { clients: 4222, peers: 6222, monitor: 8222, metrics: 7777 } as const;

/** Where KEDA and Prometheus are. */
const others = { keda: "keda", monitoring: "monitoring" } as const;

/** OTLP, over gRPC and over HTTP. */
const tracePorts = [4317, 4318];

/** Private addresses (RFC 1918, RFC 6598, RFC 4193) and those of a link, where clouds keep credentials. */
const shared = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const link = "169.254.0.0/16";
const shared6 = "fc00::/7";

/** What runs beside the bus; the dashboard only where it is wanted. */
const processes = ["bridge", "gateway", "dashboard", "worker"] as const;

/** The policies of the platform's namespace. */
export function networkPolicies(functions: readonly ReconcileFunction[], namespace: string): Manifest[] {
  const named = (name: string, spec: object): Manifest => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf("denrei-network") },
    spec,
  });
  const github = functions.filter(({ outbound }) => outbound.github);
  const byPorts = Map.groupBy(
    functions.filter(({ outbound }) => outbound.podPorts !== undefined),
    ({ outbound }) => outbound.podPorts?.join("-"),
  );
  return [
    named("denrei-nothing-else", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }),
    named("denrei-names", {
      podSelector: {},
      policyTypes: ["Egress"],
      egress: [
        {
          to: [
            { ...inNamespace("kube-system"), podSelector: { matchLabels: { "k8s-app": "kube-dns" } } },
            // A cache on the node itself: https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
            { ipBlock: { cidr: "169.254.20.10/32" } },
          ],
          ports: ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 })),
        },
      ],
    }),
    named("denrei-nats", {
      podSelector: nats,
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        { from: [{ podSelector: ours(...processes) }], ports: tcp(natsPorts.clients) },
        { from: [{ podSelector: nats }], ports: tcp(natsPorts.peers) },
        { from: [inNamespace(others.keda)], ports: tcp(natsPorts.monitor) },
        { from: [inNamespace(others.monitoring)], ports: tcp(natsPorts.metrics) },
      ],
      egress: [{ to: [{ podSelector: nats }], ports: tcp(natsPorts.peers) }],
    }),
    named("denrei-bus", {
      podSelector: ours(...processes),
      policyTypes: ["Egress"],
      egress: [{ to: [{ podSelector: nats }], ports: tcp(natsPorts.clients) }],
    }),
    named("denrei-metrics", {
      podSelector: ours(...processes),
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [inNamespace(others.monitoring)], ports: tcp(httpPort) }],
      egress: [{ to: [inNamespace(others.monitoring)], ports: tcp(...tracePorts) }],
    }),
    named("denrei-api-server", {
      podSelector: ours("bridge", "dashboard", "worker"),
      policyTypes: ["Egress"],
      // It is no pod. Policies see where its service leads to, which in most clusters is a private address.
      egress: [{ to: [...shared, shared6].map((cidr) => ({ ipBlock: { cidr } })), ports: tcp(443, 6443) }],
    }),
    named("denrei-webhooks", {
      podSelector: ours("gateway"),
      policyTypes: ["Ingress"],
      // Of whatever leads in from outside; who has no secret is turned away by the gateway.
      ingress: [{ ports: tcp(webhooksPort) }],
    }),
    named("denrei-dashboard", {
      podSelector: ours("dashboard"),
      policyTypes: ["Ingress", "Egress"],
      // Of whatever leads in from outside; who is not logged in is sent to the issuer.
      ingress: [{ ports: tcp(dashboardPort) }],
      // The issuer, and GitHub. An issuer within is reached as the API server is, unless a site says where that is.
      egress: [theInternet],
    }),
    ...(github.length === 0
      ? []
      : [
          named("denrei-github", {
            podSelector: workersOf(github),
            policyTypes: ["Egress"],
            egress: [theInternet],
          }),
        ]),
    ...[...byPorts].map(([ports, of]) =>
      named(`denrei-pods-${ports}`, {
        podSelector: workersOf(of),
        policyTypes: ["Egress"],
        egress: [{ to: [{ namespaceSelector: {} }], ports: tcp(...(of[0]?.outbound.podPorts ?? [])) }],
      }),
    ),
  ];
}

function tcp(...ports: readonly number[]) {
  return ports.map((port) => ({ protocol: "TCP", port }));
}

const theInternet = {
  to: [
    { ipBlock: { cidr: "0.0.0.0/0", except: [...shared, link] } },
    { ipBlock: { cidr: "::/0", except: [shared6, "fe80::/10"] } },
  ],
  ports: tcp(443),
};

const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
});

const nats = { matchLabels: { "app.kubernetes.io/name": natsName } };

const ours = (...components: readonly string[]) => ({
  matchLabels: { "app.kubernetes.io/part-of": "denrei" },
  matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values: components }],
});

const workersOf = (functions: readonly ReconcileFunction[]) => ({
  matchExpressions: [
    { key: "app.kubernetes.io/name", operator: "In", values: functions.map(workloadName).sort() },
  ],
});
