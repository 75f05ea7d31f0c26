/** Names of hosts: how they are written, and which of them cover others. Pure. */
import { domainToASCII } from "node:url";
import { digestOf } from "../../../bus/values/digest.ts";
import { hostPattern } from "./pattern.ts";

/** All hosts: that of a route that names none. */
export const anyHost = "*";

/**
 * The one form of a host: in lower case, without the dot at its end and without a port, a name of other letters in Punycode.
 * Other text is returned unchanged.
 */
export function canonicalHost(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === anyHost) return anyHost;
  const [, wildcard = "", name = ""] = /^(\*\.)?(.*?)\.?(?::\d+)?$/s.exec(trimmed) ?? [];
  const host = `${wildcard}${domainToASCII(name)}`;
  return isHost(host) ? host : trimmed;
}

/** Whether it is a host, a wildcard, or {@link anyHost}. */
export const isHost = (text: string): boolean => text === anyHost || hostPattern.test(text);

/** Whether it stands for more than one host. */
export const isWildcard = (host: string): boolean => host.startsWith(anyHost);

/** The wildcards that cover a host, the nearest first: a Gateway's wildcard has any number of labels. */
export function wildcardsOver(host: string): string[] {
  if (host === anyHost) return [];
  const labels = host.replace(/^\*\./, "").split(".");
  const parents = labels.map((_, at) => labels.slice(at + 1).join(".")).slice(0, -1);
  return [...parents.map((parent) => `*.${parent}`), anyHost];
}

/** Whether a pattern of the site's configuration is about a host: it is the same, or a wildcard that covers it. */
export const coversHost = (pattern: string, host: string): boolean =>
  pattern === host || wildcardsOver(host).includes(pattern);

const longestName = 253;

/** Name of the HostClaim of a host. */
export function claimName(host: string): string {
  if (host === anyHost) return "any";
  const name = isWildcard(host) ? host.replace("*", "wildcard") : `host.${host}`;
  return name.length <= longestName ? name : `digest.${digestOf(host)}`;
}
