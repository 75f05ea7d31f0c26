/**
 * PipeCD accepts several applications at one place, and each of them deploys. So an Application waits while another one of its
 * namespace has the place, or is older and wants it. Each announces the place before it registers, and then lists the others
 * again: of two that start at the same time, at least one sees the other. Applications that swap places would wait for each
 * other forever, so the oldest of them gives up its place.
 */
import type { Context, Stored } from "denrei";
import { Application } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { WaitingError, waitPollMillis } from "../server/dependent.ts";
import { configFilenameOf } from "./desiredapplication.ts";
import { type FileLocation, isSameFile, type Place } from "./place.ts";

type App = Stored<Application>;

/** Reason of the condition Ready while an Application waits for its place. */
export const placeTaken = "PlaceTaken";

/** Whether an Application waits for a place that another one has. */
export const isWaitingForPlace = ({ status }: Pick<Application, "status">): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === placeTaken) === true;

const ageOf = ({ metadata: { creationTimestamp = "", uid } }: App): string => `${creationTimestamp} ${uid}`;

/** How another Application claims a place. */
type Claim = "registered" | "announced" | "desired" | undefined;

function claimOf({ spec, status, metadata }: App, mine: App, place: Place, profile: Profile): Claim {
  const isHere = (stored: Parameters<typeof isSameFile>[0] | undefined) =>
    stored !== undefined && isSameFile(stored, place);
  const { applicationID, registered, registering, former = [] } = status ?? {};
  if ((applicationID !== undefined && isHere(registered)) || former.some((one) => isHere(one.registered)))
    return "registered";
  if (isHere(registering)) return "announced";
  if (metadata.deletionTimestamp !== undefined || spec.projectID !== place.projectID) return undefined;
  if (spec.pipedRef.objectName !== mine.spec.pipedRef.objectName) return undefined;
  const { repository, path } = spec;
  const desired = {
    pipedID: place.pipedID,
    repository,
    path,
    configFilename: configFilenameOf(spec, profile),
  };
  return isHere(desired) ? "desired" : undefined;
}

/**
 * The cycle of Applications that wait for each other's places, starting with `mine`: each waits for the next one, and the last one
 * for `mine`. Undefined if `mine` is in no cycle, or if one of the others is not ready to move. `pipedIDs` has the name of the
 * Piped as its key.
 */
export function cycleOf(
  mine: App,
  all: readonly App[],
  place: Place,
  profile: Profile,
  pipedIDs: ReadonlyMap<string, string | undefined>,
): readonly App[] | undefined {
  const others = all.filter(({ metadata: { uid } }) => uid !== mine.metadata.uid);
  const cycle = [mine];
  let location: FileLocation = place;
  for (;;) {
    if (cycle.length > 1 && isLiveAt(mine, location)) return cycle;
    const holder = others.find((other) => isLiveAt(other, location));
    if (holder === undefined || cycle.includes(holder) || !isStuck(holder)) return undefined;
    cycle.push(holder);
    const { spec } = holder;
    const pipedID = pipedIDs.get(spec.pipedRef.objectName);
    if (pipedID === undefined) return undefined;
    location = { ...spec, pipedID, configFilename: configFilenameOf(spec, profile) };
  }
}

const isLiveAt = ({ status }: App, location: FileLocation): boolean =>
  status?.applicationID !== undefined &&
  status.registered !== undefined &&
  isSameFile(status.registered, location);

/** Whether it waits for a place, and its spec has not changed since. */
const isStuck = (application: App): boolean =>
  isWaitingForPlace(application) &&
  application.metadata.deletionTimestamp === undefined &&
  application.status?.observedGeneration === application.metadata.generation;

export const isOldest = (mine: App, all: readonly App[]): boolean =>
  all.every((other) => ageOf(mine) <= ageOf(other));

/** The Application that blocks the place; undefined if `mine` may take it. `others` are all Applications of the namespace. */
export function blockerOf(
  mine: App,
  others: readonly App[],
  place: Place,
  profile: Profile,
): { readonly other: App; readonly claim: NonNullable<Claim> } | undefined {
  const { registering } = mine.status ?? {};
  const hasAnnounced = registering !== undefined && isSameFile(registering, place);
  for (const other of others.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))) {
    if (other.metadata.uid === mine.metadata.uid) continue;
    const claim = claimOf(other, mine, place, profile);
    if (claim === undefined) continue;
    if (claim === "desired" && (hasAnnounced || ageOf(mine) < ageOf(other))) continue;
    return { other, claim };
  }
  return undefined;
}

/** Throws a {@link WaitingError} while another Application blocks the place. Call it before and after the announcement. */
export async function waitForPlace(mine: App, place: Place, profile: Profile, ctx: Context): Promise<void> {
  const found = blockerOf(mine, await ctx.live.list(Application), place, profile);
  if (found === undefined) return;
  const { other, claim } = found;
  const { registering } = mine.status ?? {};
  const keepsAnnouncement = claim === "announced" && ageOf(mine) < ageOf(other);
  if (registering !== undefined && isSameFile(registering, place) && !keepsAnnouncement)
    await ctx.status(Application, mine, { registering: null }, [
      { type: "Registered", status: "False", reason: placeTaken, message: messageOf(other, place) },
    ]);
  throw new WaitingError(placeTaken, messageOf(other, place), waitPollMillis(mine.status ?? {}, ctx.now()));
}

const messageOf = ({ metadata: { name } }: App, { repository, path, configFilename }: Place): string =>
  `the Application ${name} already uses ${configFilename} in ${repository}/${path} of this agent: delete it, or change the path or configFilename of one of them`;
