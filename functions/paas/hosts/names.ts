/** Host names: canonical form, wildcards, and names of claims. Pure. */
import { domainToASCII } from "node:url";
import { digestOf } from "denrei";
import { hostPattern } from "../kinds/hostpattern.ts";

/** All hosts: the host of a route that names none. */
export const anyHost = "*";

/**
 * The canonical form of a host: in lower case and Punycode, without a trailing dot and without a port. Text that is not a host is
 * returned unchanged.
 */
export function canonicalHost(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === anyHost) return anyHost;
  const [, wildcard = "", name = ""] = /^(\*\.)?(.*?)\.?(?::\d+)?$/s.exec(trimmed) ?? [];
  const host = `${wildcard}${domainToASCII(name)}`;
  return isHost(host) ? host : trimmed;
}

/** Whether the text is a host, a wildcard, or {@link anyHost}. */
export const isHost = (text: string): boolean => text === anyHost || hostPattern.test(text);

/** Whether it matches more than one host. */
export const isWildcard = (host: string): boolean => host.startsWith(anyHost);

/** The wildcards that cover a host, nearest first: a Gateway's wildcard matches any number of labels. */
export function wildcardsOver(host: string): string[] {
  if (host === anyHost) return [];
  const labels = host.replace(/^\*\./, "").split(".");
  const parents = labels.map((_, at) => labels.slice(at + 1).join(".")).slice(0, -1);
  return [...parents.map((parent) => `*.${parent}`), anyHost];
}

/** Whether a pattern of the site's configuration matches a host: it is the same host, or a wildcard that covers it. */
export const coversHost = (pattern: string, host: string): boolean =>
  pattern === host || wildcardsOver(host).includes(pattern);

const longestName = 253;

/** Name of the HostClaim of a host. */
export function claimName(host: string): string {
  if (host === anyHost) return "any";
  const name = isWildcard(host) ? host.replace("*", "wildcard") : `host.${host}`;
  return name.length <= longestName ? name : `digest.${digestOf(host)}`;
}
