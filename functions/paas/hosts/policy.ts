/** Rules for hosts: permissions of the site, and precedence among Applications that share a host. Pure. */
import { platformNamespace, type Stored, z } from "denrei";
import type { Application } from "../kinds/application.ts";
import { labels, siteName } from "../names.ts";
import { canonicalHost, coversHost, isHost, isWildcard } from "./names.ts";

type App = Stored<Application>;

const expectedHost = "expected a host such as web.example.com, *.example.com for all hosts of a domain, or *";
const hostSchema = z.string().transform(canonicalHost).refine(isHost, expectedHost);

/** The site's settings for hosts. */
export const hostsSchema = z.strictObject({
  /** Hosts that only the namespaces in `allowed` may use, such as those of the platform. */
  reserved: z.array(hostSchema).default([]),
  /** Hosts that need a permission in addition to the first claim, by the namespaces that have it. */
  allowed: z.record(z.string().min(1), z.array(hostSchema)).default({}),
});

/** Hosts that need a permission, and the namespaces that have one. */
export type HostsConfig = z.output<typeof hostsSchema>;

/** Why an Application may not have a host. */
export interface Refusal {
  readonly host: string;
  readonly reason: "HostTaken" | "HostNotAllowed";
  readonly message: string;
}

/** Whether the site explicitly allows a namespace a host. */
export const isAllowed = ({ allowed }: HostsConfig, namespace: string, host: string): boolean =>
  Object.hasOwn(allowed, namespace) &&
  (allowed[namespace]?.some((pattern) => coversHost(pattern, host)) ?? false);

/** How an administrator grants the permission. */
export const permissionHint = (namespace: string, host: string): string =>
  `an administrator can add ${JSON.stringify(host)} to hosts.allowed.${namespace} in the ConfigMap ${siteName} of ${platformNamespace}`;

/** Why a namespace may not have a host, owned or not: wildcards and reserved hosts need a permission. */
export function notAllowed(config: HostsConfig, namespace: string, host: string): Refusal | undefined {
  const refusal = (message: string): Refusal => ({ host, reason: "HostNotAllowed", message });
  if (!isHost(host)) return refusal(`${JSON.stringify(host)} is not a host name`);
  if (isAllowed(config, namespace, host)) return undefined;
  if (isWildcard(host))
    return refusal(
      `the wildcard ${host} needs a permission for the namespace ${namespace}: ${permissionHint(namespace, host)}`,
    );
  const reserved = config.reserved.find((pattern) => coversHost(pattern, host));
  if (reserved === undefined) return undefined;
  return refusal(
    `${host} is reserved by the site (${reserved}), and the namespace ${namespace} has no permission: ${permissionHint(namespace, host)}`,
  );
}

/** The hosts in an Application's spec. */
export const domainsOf = ({ spec }: Pick<Application, "spec">): string[] =>
  (spec?.domains ?? []).map(canonicalHost);

/** Whether the Application's status lists the host among those that it routes. */
export const serves = ({ status }: Application, host: string): boolean =>
  status?.domains?.map(canonicalHost).includes(host) ?? false;

/** Whether an Application that is not being deleted both wants and serves a host. */
export const isHolder = (app: App, host: string): boolean =>
  app.metadata.deletionTimestamp === undefined && domainsOf(app).includes(host) && serves(app, host);

/** Whether the first of two Applications that serve an unclaimed host gets it: the older one does, and previews come last. */
export function isBefore(one: App, other: App): boolean {
  const rank = ({ metadata }: App): string =>
    [
      metadata.labels?.[labels.pipeline] === undefined ? "0" : "1",
      metadata.creationTimestamp ?? "",
      metadata.namespace ?? "",
      metadata.name,
    ].join("\n");
  return rank(one) < rank(other);
}
