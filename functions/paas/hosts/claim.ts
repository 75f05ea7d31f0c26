/**
 * A host belongs to the Application that claims it first. A claim is a cluster-scoped object whose name follows from the host, and
 * only its creation by the API server counts: when two Applications claim a host at once, one is refused. Earlier reads only
 * decide which Application yields.
 */
import { BlockedError, type Context, type Stored } from "denrei";
import { Application } from "../kinds/application.ts";
import { HostClaim } from "../kinds/hostclaim.ts";
import { retryMillis } from "../retry.ts";
import { claimName, wildcardsOver } from "./names.ts";
import {
  type HostsConfig,
  isAllowed,
  isBefore,
  isHolder,
  notAllowed,
  permissionHint,
  type Refusal,
  serves,
} from "./policy.ts";
import { type ServedHost, servedHosts } from "./servedroutes.ts";

type App = Stored<Application>;
type Claim = Stored<HostClaim>;

/** Result of claiming hosts. */
export interface Claims {
  readonly granted: readonly string[];
  readonly refusals: readonly Refusal[];
}

/** Retries, each after another claim appeared or disappeared. */
const maxTries = 5;

/** Claims hosts for an Application. For each host that it already has, this costs one read from the bus. */
export async function claimHosts(
  app: App,
  hosts: readonly string[],
  config: HostsConfig,
  ctx: Context,
): Promise<Claims> {
  const granted: string[] = [];
  const refusals: Refusal[] = [];
  let served: Promise<readonly ServedHost[]> | undefined;
  const others = () => (served ??= servedHosts(ctx));
  for (const host of hosts) {
    const refusal =
      notAllowed(config, ctx.key.namespace, host) ?? (await claimHost(app, host, { config, others }, ctx));
    if (refusal === undefined) granted.push(host);
    else refusals.push(refusal);
  }
  return { granted, refusals };
}

interface Known {
  readonly config: HostsConfig;
  readonly others: () => Promise<readonly ServedHost[]>;
}

async function claimHost(app: App, host: string, known: Known, ctx: Context): Promise<Refusal | undefined> {
  const name = claimName(host);
  // A claim that the recorded status does not include must be confirmed by the API server.
  const before = serves(app, host) ? await ctx.read.get(HostClaim, name) : undefined;
  if (before && isOf(before, app)) return undefined;
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await ctx.live.get(HostClaim, name);
    if (found !== undefined) {
      if (isOf(found, app)) return undefined;
      if (await isHeld(found, ctx)) return taken(host, ownerText(found));
      await ctx.delete(HostClaim, found);
    }
    const refusal = await refusalWithoutClaim(app, host, known, ctx);
    if (refusal) return refusal;
    if (await createClaim(app, host, ctx)) return undefined;
  }
  throw new Error(`the HostClaim ${name} changed during each of ${maxTries} attempts to claim ${host}`);
}

async function createClaim(app: App, host: string, ctx: Context): Promise<boolean> {
  const { namespace = "", name, uid } = app.metadata;
  try {
    await ctx.create(HostClaim, {
      metadata: { name: claimName(host) },
      spec: { host, namespace, application: name, uid },
    });
    return true;
  } catch (error) {
    if (error instanceof BlockedError && error.reason === "NameTaken") return false;
    throw error;
  }
}

const isOf = ({ spec }: Claim, { metadata }: App): boolean => spec.uid === metadata.uid;

/** Whether the Application of a claim still exists: if its finalizer was removed, its claims outlive it. */
async function isHeld({ spec }: Claim, ctx: Context): Promise<boolean> {
  const owner = await ctx.live.get(Application, spec.application, spec.namespace);
  return owner?.metadata.uid === spec.uid;
}

/** Finds the owner of an unclaimed host: a wildcard's owner, another system's route, or an Application older than claims. */
async function refusalWithoutClaim(
  app: App,
  host: string,
  { config, others }: Known,
  ctx: Context,
): Promise<Refusal | undefined> {
  const namespace = app.metadata.namespace ?? "";
  const wildcards = isAllowed(config, namespace, host) ? [] : wildcardsOver(host);
  for (const wildcard of wildcards) {
    const claim = await ctx.live.get(HostClaim, claimName(wildcard));
    if (claim !== undefined && claim.spec.namespace !== namespace && (await isHeld(claim, ctx)))
      return covered(host, wildcard, ownerText(claim), namespace);
  }
  for (const other of await others()) {
    if (other.namespace === namespace || isOlderThan(app, host, other)) continue;
    const where = `the ${other.kind} ${other.namespace}/${other.name}`;
    if (other.host === host) return taken(host, where);
    if (wildcards.includes(other.host)) return covered(host, other.host, where, namespace);
  }
  const holder = await olderHolder(app, host, config, ctx);
  return holder && taken(host, applicationText(holder.metadata.namespace ?? "", holder.metadata.name));
}

const isOlderThan = (app: App, host: string, other: ServedHost): boolean =>
  serves(app, host) && (app.metadata.creationTimestamp ?? "") <= other.creationTimestamp;

/** An Application that has served the host since before claims existed, and takes precedence. It claims the host at its next reconcile. */
async function olderHolder(
  app: App,
  host: string,
  config: HostsConfig,
  { key, read }: Context,
): Promise<App | undefined> {
  for (const { namespace, name } of await read.find("host", host)) {
    if (namespace === key.namespace && name === key.name) continue;
    const other = await read.get(Application, name, namespace);
    if (other === undefined || !isHolder(other, host) || notAllowed(config, namespace, host)) continue;
    if (!serves(app, host) || isBefore(other, app)) return other;
  }
  return undefined;
}

/** Releases claims. Delete the routes to these hosts first. */
export async function releaseHosts(app: App, hosts: readonly string[], ctx: Context): Promise<void> {
  for (const host of hosts) {
    const claim = await ctx.live.get(HostClaim, claimName(host));
    if (claim && isOf(claim, app)) await ctx.delete(HostClaim, claim);
  }
}

/** Combines refusals into one error, with the first one's reason. */
export function refusalOfHosts([first, ...rest]: readonly Refusal[]): BlockedError | undefined {
  if (first === undefined) return undefined;
  const message = [first, ...rest].map((refusal) => refusal.message).join("; ");
  return new BlockedError(first.reason, message, retryMillis);
}

const applicationText = (namespace: string, name: string): string => `the Application ${namespace}/${name}`;
const ownerText = ({ spec }: Claim): string => applicationText(spec.namespace, spec.application);

const taken = (host: string, owner: string): Refusal => ({
  host,
  reason: "HostTaken",
  message: `the host ${host} belongs to ${owner}: have it released there, or use another host`,
});

const covered = (host: string, wildcard: string, owner: string, namespace: string): Refusal => ({
  host,
  reason: "HostTaken",
  message: `the host ${host} is covered by ${wildcard}, which belongs to ${owner}: use another host, or ${permissionHint(namespace, host)}`,
});
