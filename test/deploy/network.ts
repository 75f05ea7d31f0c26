/** Evaluates NetworkPolicies: both sides must allow a connection. https://kubernetes.io/docs/concepts/services-networking/network-policies/ */
import { BlockList } from "node:net";
import type { Manifest } from "./manifests.ts";

/** A pod with its namespace and labels, or another endpoint with an address. */
export type Place =
  | {
      readonly namespace: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly address: string;
    }
  | { readonly address: string };

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In";
    readonly values: readonly string[];
  }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports: readonly { readonly protocol: string; readonly port: number }[];
}

interface Policy extends Manifest {
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

/** Whether the policies allow a connection from one endpoint to a port of another. */
export function allows(
  objects: readonly Manifest[],
  from: Place,
  to: Place,
  port: number,
  protocol = "TCP",
): boolean {
  const policies = objects.filter((object): object is Policy => object.kind === "NetworkPolicy");
  const on = (subject: Place, type: "Ingress" | "Egress") =>
    policies.filter(
      ({ metadata, spec }) =>
        "labels" in subject &&
        subject.namespace === metadata.namespace &&
        spec.policyTypes.includes(type) &&
        selects(spec.podSelector, subject.labels),
    );
  const passes = (of: readonly Policy[], rulesOf: (policy: Policy) => readonly Rule[], other: Place) =>
    of.length === 0 ||
    of.some((policy) =>
      rulesOf(policy).some(
        ({ from, to, ports }) =>
          ports.some((one) => one.port === port && one.protocol === protocol) &&
          ((from ?? to)?.some((peer) => isPeer(peer, other, policy.metadata.namespace)) ?? true),
      ),
    );
  return (
    passes(on(from, "Egress"), ({ spec }) => spec.egress ?? [], to) &&
    passes(on(to, "Ingress"), ({ spec }) => spec.ingress ?? [], from)
  );
}

function isPeer(
  { podSelector, namespaceSelector, ipBlock }: Peer,
  place: Place,
  home: string | undefined,
): boolean {
  // Kubernetes does not define whether an IP block also matches pods. In many networks it does.
  if (ipBlock !== undefined)
    return (
      within(ipBlock.cidr, place.address) && !ipBlock.except?.some((cidr) => within(cidr, place.address))
    );
  if (!("labels" in place)) return false;
  const names = { "kubernetes.io/metadata.name": place.namespace };
  return (
    (namespaceSelector === undefined ? place.namespace === home : selects(namespaceSelector, names)) &&
    selects(podSelector ?? {}, place.labels)
  );
}

const selects = (
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""));

function within(cidr: string, address: string): boolean {
  const [net = "", bits] = cidr.split("/");
  const family = (text: string) => (text.includes(":") ? "ipv6" : "ipv4");
  // A BlockList would also match an IPv4 address as an IPv6 one.
  if (family(net) !== family(address)) return false;
  const list = new BlockList();
  list.addSubnet(net, Number(bits), family(net));
  return list.check(address, family(address));
}
