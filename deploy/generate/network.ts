import { BlockList } from "node:net";
import { internetPorts, type ReconcileFunction } from "denrei/runtime";
import { natsName } from "./certificates.ts";
import { needWebhook } from "./crds.ts";
import { type Layout, needGateway, type WorkerSet } from "./layout.ts";
import { labelsOf, workloadName } from "./rbac.ts";
import { admissionPort, dashboardPort, httpPort, webhooksPort } from "./workloads.ts";

type Manifest = Record<string, unknown>;

/** Ports of a NATS server: for clients, other servers, monitoring, and Prometheus. */
const natsPorts = { clients: 4222, peers: 6222, monitor: 8222, metrics: 7777 } as const;

const namespaces = { keda: "keda", monitoring: "monitoring" } as const;

/** Ports of OTLP over gRPC and over HTTP. */
const tracePorts = [4317, 4318];

/** Private addresses (RFC 1918, RFC 6598, RFC 4193), and link-local ones, at which clouds serve credentials. */
const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const linkLocalRange = "169.254.0.0/16";
const privateRange6 = "fc00::/7";
const linkLocalRange6 = "fe80::/10";

/** Addresses at which clouds serve credentials: link-local ones, and that of AWS. */
const metadataRanges = [linkLocalRange, linkLocalRange6, "fd00:ec2::254/128"];

/** Values of the component label, by what the pods need. */
interface Components {
  /** The bus. */
  readonly bus: readonly string[];
  /** The API server. */
  readonly apiServer: readonly string[];
  /** Webhooks; empty without a gateway. */
  readonly webhooks: readonly string[];
}

/** Values of the component label of all pods that use a bus, in any layout. */
const busComponents = ["bridge", "dashboard", "gateway", "run", "worker"];

/** The dashboard is optional. */
function componentsOf({ functions, processes }: Layout): Components {
  const hasGateway = needGateway(functions);
  if (processes === "one") {
    const all = ["run", "dashboard"];
    return { bus: all, apiServer: all, webhooks: hasGateway ? ["run"] : [] };
  }
  const webhooks = hasGateway ? ["gateway"] : [];
  return {
    bus: ["bridge", ...webhooks, "dashboard", "worker"],
    apiServer: ["bridge", "dashboard", "worker"],
    webhooks,
  };
}

/** Other namespaces of processes on one bus. */
export interface BusNamespaces {
  /** The namespace of the servers. Default: that of the platform. */
  readonly bus?: string | undefined;
  /** Namespaces of further projects, whose processes use the servers of this one. */
  readonly clients?: readonly string[] | undefined;
}

/** The policies of the platform's namespace. */
export const networkPolicies = (
  layout: Layout,
  namespace: string,
  { bus = namespace, clients = [] }: BusNamespaces = {},
): Manifest[] => {
  const components = componentsOf(layout);
  const servers = { ...(bus !== namespace && inNamespace(bus)), podSelector: nats };
  return [
    ...busPolicies(components, clients),
    ...processPolicies(components, servers),
    ...functionPolicies(layout.workers),
    ...admissionPolicies(layout.functions),
  ].map(({ name, spec }) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf("denrei-network") },
    spec,
  }));
};

interface Policy {
  readonly name: string;
  readonly spec: object;
}

const policy = (name: string, spec: object): Policy => ({ name, spec });

/** Denies everything by default, and allows DNS and the traffic of NATS servers. */
const busPolicies = ({ bus }: Components, clients: readonly string[]): Policy[] => [
  policy("denrei-default-deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }),
  policy("denrei-dns", {
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
  policy("denrei-nats", {
    podSelector: nats,
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [
          { podSelector: podsOf(...bus) },
          ...clients.map((name) => ({ ...inNamespace(name), podSelector: podsOf(...busComponents) })),
        ],
        ports: tcp(natsPorts.clients),
      },
      { from: [{ podSelector: nats }], ports: tcp(natsPorts.peers) },
      { from: [inNamespace(namespaces.keda)], ports: tcp(natsPorts.monitor) },
      { from: [inNamespace(namespaces.monitoring)], ports: tcp(natsPorts.metrics) },
    ],
    egress: [{ to: [{ podSelector: nats }], ports: tcp(natsPorts.peers) }],
  }),
];

/** Traffic of all processes, and of bridge, gateway, and dashboard. */
const processPolicies = ({ bus, apiServer, webhooks }: Components, servers: object): Policy[] => [
  policy("denrei-bus", {
    podSelector: podsOf(...bus),
    policyTypes: ["Egress"],
    egress: [{ to: [servers], ports: tcp(natsPorts.clients) }],
  }),
  policy("denrei-metrics", {
    podSelector: podsOf(...bus),
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [inNamespace(namespaces.monitoring)], ports: tcp(httpPort) }],
    egress: [{ to: [inNamespace(namespaces.monitoring)], ports: tcp(...tracePorts) }],
  }),
  policy("denrei-api-server", {
    podSelector: podsOf(...apiServer),
    policyTypes: ["Egress"],
    // The API server is not a pod. Policies see the endpoint of its Service, in most clusters a private address.
    egress: [
      {
        to: [...privateRanges, privateRange6].map((cidr) => ({ ipBlock: { cidr } })),
        ports: tcp(443, 6443),
      },
    ],
  }),
  ...(webhooks.length === 0
    ? []
    : [
        policy("denrei-webhooks", {
          podSelector: podsOf(...webhooks),
          policyTypes: ["Ingress"],
          // From any source. The gateway rejects requests without a valid signature.
          ingress: [{ ports: tcp(webhooksPort) }],
        }),
      ]),
  policy("denrei-dashboard", {
    podSelector: podsOf("dashboard"),
    policyTypes: ["Ingress", "Egress"],
    // From any source. The dashboard redirects users who are not logged in to the issuer.
    ingress: [{ ports: tcp(dashboardPort) }],
    // For the issuer and GitHub. An issuer inside the cluster is reachable under the rule of the API server,
    // unless a site narrows that rule.
    egress: [internet],
  }),
];

/** The API server is not a pod, so calls of the webhook may come from anywhere. */
const admissionPolicies = (functions: readonly ReconcileFunction[]): Policy[] =>
  needWebhook(functions)
    ? [
        policy("denrei-admission", {
          podSelector: podsOf("admission"),
          policyTypes: ["Ingress"],
          ingress: [
            { ports: tcp(admissionPort) },
            { from: [inNamespace(namespaces.monitoring)], ports: tcp(httpPort) },
          ],
        }),
      ]
    : [];

function functionPolicies(workers: readonly WorkerSet[]): Policy[] {
  const github = workers.filter(({ functions }) => functions.some(({ outbound }) => outbound.github));
  const byPorts = Map.groupBy(
    workers.filter((set) => podPortsOf(set).length > 0),
    (set) => podPortsOf(set).join("-"),
  );
  return [
    ...(github.length === 0
      ? []
      : [
          policy("denrei-github", {
            podSelector: workersOf(github),
            policyTypes: ["Egress"],
            egress: [internet],
          }),
        ]),
    ...[...byPorts].map(([ports, sets]) =>
      policy(`denrei-pods-${ports}`, {
        podSelector: workersOf(sets),
        policyTypes: ["Egress"],
        egress: [{ to: [{ namespaceSelector: {} }], ports: tcp(...sets.slice(0, 1).flatMap(podPortsOf)) }],
      }),
    ),
    ...workers.flatMap(addressPolicy),
  ];
}

/** Ports of pods that workers reach. */
const podPortsOf = ({ functions }: WorkerSet): readonly (number | string)[] => [
  ...new Set(functions.flatMap(({ outbound }) => outbound.podPorts ?? [])),
];

/** Access of workers to addresses outside the cluster. */
function addressPolicy(set: WorkerSet): Policy[] {
  const egress = set.functions.flatMap(({ outbound }) => {
    const ports = internetPorts(outbound);
    return [
      ...(ports.length === 0 ? [] : [{ ...internet, ports: tcp(...ports) }]),
      ...(outbound.cidrs ?? []).map(({ cidr, ports }) => ({
        to: [{ ipBlock: withoutLinkLocal(cidr) }],
        ports: tcp(...ports),
      })),
    ];
  });
  if (egress.length === 0) return [];
  const spec = { podSelector: workersOf([set]), policyTypes: ["Egress"], egress };
  return [policy(`denrei-outbound-${set.name}`, spec)];
}

/** A larger range is not meant to include the addresses at which clouds serve credentials. */
function withoutLinkLocal(cidr: string) {
  const [address = "", length = ""] = cidr.split("/");
  const family = address.includes(":") ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(address, Number(length), family);
  const except = metadataRanges.filter((range) => {
    const [inner = "", innerLength = ""] = range.split("/");
    const isSameFamily = inner.includes(":") === address.includes(":");
    return isSameFamily && Number(length) < Number(innerLength) && list.check(inner, family);
  });
  return except.length === 0 ? { cidr } : { cidr, except };
}

function tcp(...ports: readonly (number | string)[]) {
  return ports.map((port) => ({ protocol: "TCP", port }));
}

const internet = {
  to: [
    { ipBlock: { cidr: "0.0.0.0/0", except: [...privateRanges, linkLocalRange] } },
    { ipBlock: { cidr: "::/0", except: [privateRange6, linkLocalRange6] } },
  ],
  ports: tcp(443),
};

const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
});

const nats = { matchLabels: { "app.kubernetes.io/name": natsName } };

const podsOf = (...components: readonly string[]) => ({
  matchLabels: { "app.kubernetes.io/part-of": "denrei" },
  matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values: components }],
});

const workersOf = (sets: readonly WorkerSet[]) => ({
  matchExpressions: [
    { key: "app.kubernetes.io/name", operator: "In", values: sets.map(workloadName).sort() },
  ],
});
