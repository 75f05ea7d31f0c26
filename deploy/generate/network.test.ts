import { expect, test } from "vitest";
import { defineFunction, type Outbound } from "../../bus/worker/function.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { separateLayout } from "./layout.ts";
import { networkPolicies } from "./network.ts";

const declared = (name: string, outbound: Outbound) =>
  defineFunction({ name, for: Hikawa, outbound, reconcile: async () => undefined });

/** The egress of each policy that exists because of these functions, by name. */
function egressOf(...functions: readonly ReturnType<typeof declared>[]) {
  const names = ({ metadata }: Record<string, unknown>) => (metadata as { name: string }).name;
  const without = new Set(networkPolicies(separateLayout([]), "here").map(names));
  const added = networkPolicies(separateLayout(functions), "here").filter(
    (policy) => !without.has(names(policy)),
  );
  return Object.fromEntries(
    added.map((policy) => [names(policy), (policy.spec as { egress: unknown }).egress]),
  );
}

const tcp = (...ports: (number | string)[]) => ports.map((port) => ({ protocol: "TCP", port }));
const publicAddresses = [
  {
    ipBlock: {
      cidr: "0.0.0.0/0",
      except: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"],
    },
  },
  { ipBlock: { cidr: "::/0", except: ["fc00::/7", "fe80::/10"] } },
];

test("a function without outbound adds no policy", () => {
  expect(egressOf(declared("thing", {}))).toEqual({});
});

test("internet opens its ports at public addresses, 443 by default", () => {
  expect(
    egressOf(declared("web", { internet: true }), declared("mail", { internet: { ports: [25, 465] } })),
  ).toEqual({
    "denrei-outbound-web": [{ to: publicAddresses, ports: tcp(443) }],
    "denrei-outbound-mail": [{ to: publicAddresses, ports: tcp(25, 465) }],
  });
});

test("cidrs open each range at its own ports", () => {
  const cidrs = [
    { cidr: "10.0.0.0/8", ports: [5432] },
    { cidr: "2001:db8::/32", ports: [6379, 6380] },
  ];
  expect(egressOf(declared("store", { cidrs }))).toEqual({
    "denrei-outbound-store": [
      { to: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: tcp(5432) },
      { to: [{ ipBlock: { cidr: "2001:db8::/32" } }], ports: tcp(6379, 6380) },
    ],
  });
});

test.each([
  ["0.0.0.0/0", ["169.254.0.0/16"]],
  ["168.0.0.0/7", ["169.254.0.0/16"]],
  ["::/0", ["fe80::/10", "fd00:ec2::254/128"]],
  ["fc00::/7", ["fd00:ec2::254/128"]],
  ["169.254.169.254/32", undefined],
  ["169.254.0.0/16", undefined],
  ["fd00:ec2::254/128", undefined],
  ["10.0.0.0/8", undefined],
])("%s excludes the addresses of credentials %j", (cidr, except) => {
  const ipBlock = except === undefined ? { cidr } : { cidr, except };
  expect(egressOf(declared("wide", { cidrs: [{ cidr, ports: [80] }] }))).toEqual({
    "denrei-outbound-wide": [{ to: [{ ipBlock }], ports: tcp(80) }],
  });
});

test("pods are reached by numbers and names of ports, in any namespace", () => {
  expect(egressOf(declared("caller", { podPorts: [9081, "grpc"] }))).toEqual({
    "denrei-pods-9081-grpc": [{ to: [{ namespaceSelector: {} }], ports: tcp(9081, "grpc") }],
  });
});

test("a further project's processes reach the bus, by the names of both namespaces", () => {
  const named = (name: string, ...args: Parameters<typeof networkPolicies>) =>
    (networkPolicies(...args) as { metadata: { name: string }; spec: object }[]).find(
      ({ metadata }) => metadata.name === name,
    )?.spec;
  const inPears = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "pears" } } };
  const inHere = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "here" } } };
  const nats = { matchLabels: { "app.kubernetes.io/name": "nats" } };
  const processes = (...values: string[]) => ({
    matchLabels: { "app.kubernetes.io/part-of": "denrei" },
    matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values }],
  });
  const layout = separateLayout([declared("thing", {})]);
  expect(named("denrei-nats", layout, "here", { clients: ["pears"] })).toMatchObject({
    ingress: expect.arrayContaining([
      {
        from: [
          { podSelector: processes("bridge", "dashboard", "worker") },
          { ...inPears, podSelector: processes("bridge", "dashboard", "gateway", "run", "worker") },
        ],
        ports: tcp(4222),
      },
    ]),
  });
  expect(named("denrei-bus", layout, "pears", { bus: "here" })).toMatchObject({
    egress: [{ to: [{ ...inHere, podSelector: nats }], ports: tcp(4222) }],
  });
  expect(named("denrei-bus", layout, "here")).toMatchObject({
    egress: [{ to: [{ podSelector: nats }], ports: tcp(4222) }],
  });
});
