/**
 * The hosts of objects, those that a chart renders and routes of other systems. Hosts are in fields of Ingress and HTTPRoute, and
 * in annotations of any object. Pure.
 */
import type { ObjectMeta } from "denrei";
import type { ChildObject } from "../charts/validate.ts";
import { anyHost, canonicalHost } from "./names.ts";

/** Further hosts of an Ingress (ingress-nginx), and names that external-dns points to the object's address. */
const hostAnnotations: readonly string[] = [
  "nginx.ingress.kubernetes.io/server-alias",
  "external-dns.alpha.kubernetes.io/hostname",
  "external-dns.alpha.kubernetes.io/internal-hostname",
];

/** The parts of an object that can have hosts. */
export interface Routed {
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, "annotations">;
  readonly spec?: unknown;
}

interface IngressSpec {
  readonly defaultBackend?: unknown;
  readonly rules?: readonly { readonly host?: string }[];
  readonly tls?: readonly { readonly hosts?: readonly string[] }[];
}

/** Kinds of the Gateway API. */
const routesWithHostnames: readonly string[] = ["HTTPRoute", "GRPCRoute", "TLSRoute"];

interface HTTPRouteSpec {
  readonly hostnames?: readonly string[];
}

const listed = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The hosts that an object serves or has a certificate for, without duplicates. `*` matches all hosts that no other route serves. */
export function hostsOf(object: Routed): string[] {
  const annotations = object.metadata.annotations ?? {};
  const noted = hostAnnotations.flatMap((name) => listed(annotations[name] ?? ""));
  return [...new Set([...hostsInSpec(object), ...noted].map(canonicalHost))];
}

function hostsInSpec({ kind, spec }: Routed): string[] {
  if (kind === "Ingress") {
    const { defaultBackend, rules = [], tls = [] } = (spec ?? {}) as IngressSpec;
    return [
      ...(defaultBackend === undefined ? [] : [anyHost]),
      ...rules.map(({ host = anyHost }) => host),
      ...tls.flatMap(({ hosts = [] }) => hosts),
    ];
  }
  if (routesWithHostnames.includes(kind)) {
    const { hostnames = [] } = (spec ?? {}) as HTTPRouteSpec;
    return hostnames.length === 0 ? [anyHost] : [...hostnames];
  }
  return [];
}

/** Whether an object has hosts only in annotations, so that it works without them. */
export const hasHostsOnlyInAnnotations = (object: Routed): boolean => hostsInSpec(object).length === 0;

/** A patch that removes annotations with any of these hosts, along with other hosts in the same annotation. */
export const annotationsToDrop = (
  { metadata: { annotations = {} } }: Routed,
  refused: ReadonlySet<string>,
): Readonly<Record<string, null>> =>
  Object.fromEntries(
    hostAnnotations
      .filter((name) => listed(annotations[name] ?? "").some((host) => refused.has(canonicalHost(host))))
      .map((name) => [name, null]),
  );

/** The object without refused hosts; undefined when it would serve no host. */
export function withoutHosts(object: ChildObject, refused: ReadonlySet<string>): ChildObject | undefined {
  if (!hostsOf(object).some((host) => refused.has(host))) return object;
  const isKept = (host: string) => !refused.has(canonicalHost(host));
  const spec =
    object.kind === "Ingress"
      ? ingressWithout(object.spec as IngressSpec, isKept)
      : object.kind === "HTTPRoute"
        ? routeWithout(object.spec as HTTPRouteSpec, isKept)
        : object.spec;
  if (spec === undefined && object.spec !== undefined) return undefined;
  return {
    ...object,
    metadata: withoutHostAnnotations(object.metadata, isKept),
    ...(spec !== undefined && { spec }),
  };
}

type IsKept = (host: string) => boolean;

function ingressWithout(spec: IngressSpec, isKept: IsKept): IngressSpec | undefined {
  const { defaultBackend, rules = [], tls, ...rest } = spec;
  const kept = rules.filter(({ host = anyHost }) => isKept(host));
  const hasDefault = defaultBackend !== undefined && isKept(anyHost);
  if (kept.length === 0 && !hasDefault) return undefined;
  const certified = tls?.flatMap((entry) => {
    if (entry.hosts === undefined) return [entry];
    const hosts = entry.hosts.filter(isKept);
    return hosts.length === 0 ? [] : [{ ...entry, hosts }];
  });
  return {
    ...rest,
    ...(hasDefault && { defaultBackend }),
    ...(kept.length > 0 && { rules: kept }),
    ...(certified !== undefined && certified.length > 0 && { tls: certified }),
  };
}

/** Without any hostname left, an HTTPRoute would match all hosts, so it is dropped. */
function routeWithout(spec: HTTPRouteSpec, isKept: IsKept): HTTPRouteSpec | undefined {
  const { hostnames: before = [] } = spec;
  if (before.length === 0) return isKept(anyHost) ? spec : undefined;
  const hostnames = before.filter(isKept);
  return hostnames.length === 0 ? undefined : { ...spec, hostnames };
}

function withoutHostAnnotations(metadata: ChildObject["metadata"], isKept: IsKept): ChildObject["metadata"] {
  const { annotations, ...rest } = metadata;
  if (annotations === undefined) return metadata;
  const kept = Object.entries(annotations).flatMap(([name, value]) => {
    if (!hostAnnotations.includes(name)) return [[name, value]];
    const hosts = listed(value).filter(isKept);
    return hosts.length === 0 ? [] : [[name, hosts.join(",")]];
  });
  return { ...rest, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) };
}
