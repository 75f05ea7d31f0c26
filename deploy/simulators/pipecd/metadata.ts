/** Metadata of a call: its headers in the order received, and the credentials in them. */
import { Panic, RpcError, unauthenticated } from "./status.ts";

/** Names are in lower case; a name can occur more than once. */
export type Metadata = readonly (readonly [name: string, value: string])[];

/** The first value of a name; PipeCD ignores further ones. */
export const firstOf = (metadata: Metadata, name: string): string | undefined =>
  metadata.find(([one]) => one === name)?.[1];

/** The error for a caller without valid credentials. */
export const unauthenticatedError = (): RpcError => new RpcError(unauthenticated, "Unauthenticated");

/** Parses cookies. In v0.57.0 a pair without `=` crashes the process; v0.9.0 rejects it, and also a second `=`. */
export function cookiesOf(metadata: Metadata, era: "c" | "l0"): ReadonlyMap<string, string> {
  const header = firstOf(metadata, "cookie");
  if (header === undefined) throw unauthenticatedError();
  return new Map(
    header.split(";").map((text) => {
      const pair = text.trim();
      const at = pair.indexOf("=");
      if (at < 0 && era === "c") throw new Panic("index out of range [1] with length 1");
      if (era === "l0" && pair.split("=").length !== 2) throw unauthenticatedError();
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

/** The token in the cookie header, which may be malformed otherwise. */
export const tokenIn = (metadata: Metadata): string | undefined =>
  /(?:^|;)\s*token=([^;\s]*)/.exec(firstOf(metadata, "cookie") ?? "")?.[1];

const schemes = ["ID-TOKEN", "PIPED-TOKEN", "API-KEY"];

/** The credentials behind the scheme in `authorization`. Another known scheme is treated like a wrong key. */
export function credentialsOf(metadata: Metadata, scheme: string): string {
  const header = firstOf(metadata, "authorization");
  if (header === undefined) throw new RpcError(unauthenticated, "missing credentials in authorization");
  const [found, data, ...rest] = header.split(" ");
  if (found === undefined || !schemes.includes(found) || !data || rest.length > 0) {
    throw new RpcError(unauthenticated, "credentials is malformed");
  }
  if (found !== scheme) throw unauthenticatedError();
  return data;
}

/** Parses `<project>,<piped>,<key>`. */
export function pipedTokenOf(metadata: Metadata): { project: string; piped: string; key: string } {
  const [project, piped, key, ...rest] = credentialsOf(metadata, "PIPED-TOKEN").split(",");
  if (!project || !piped || !key || rest.length > 0) throw unauthenticatedError();
  return { project, piped, key };
}
