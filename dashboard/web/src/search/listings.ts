/** The objects that the search finds: one list per kind, in the selected namespace. */
import { group as pipecd } from "@denrei/functions/pipecd/names";
import type { KubeObject, Stored } from "denrei/kinds";
import { useEffect, useMemo, useState } from "preact/hooks";
import { lastKnownList } from "../api/lastknown.ts";
import { listOf } from "../api/objects.ts";
import { applications, appPipelines, type Resource, remoteSyncs } from "../api/resource.ts";
import { RequestError } from "../api/session.ts";
import { installations } from "../github/resources.ts";
import { stackIn } from "../pipecd/kinds.ts";
import { hikawas } from "../zundoko/resources.ts";
import { kindText } from "./text.ts";

/** A kind whose objects have screens, and the name of its group. */
export interface SearchedKind {
  readonly resource: Resource;
  readonly name: string;
}

/** In the order of the navigation. */
export const searchedKinds: readonly SearchedKind[] = [
  { resource: applications, name: kindText.applications },
  { resource: remoteSyncs, name: kindText.remoteSyncs },
  { resource: appPipelines, name: kindText.appPipelines },
  { resource: installations, name: kindText.installations },
  ...stackIn({}).map(([resource]) => ({ resource, name: kindText.pipecd(resource.kind) })),
  { resource: hikawas, name: kindText.hikawas },
];

/** The objects of a kind. `absent`: the kind is not installed. */
export interface Listing extends SearchedKind {
  readonly state: "loading" | "listed" | "forbidden" | "absent" | "away";
  /** While loading, and while Kubernetes does not respond, those of the last known list. */
  readonly items: readonly Stored[];
}

/** Lists each kind once. */
export function useListings(namespace: string): readonly Listing[] {
  const scope = useMemo(() => ({ namespace: namespace || undefined }), [namespace]);
  const [listings, setListings] = useState<readonly Listing[]>(() =>
    searchedKinds.map((kind) => ({
      ...kind,
      state: "loading",
      items: lastKnownList(kind.resource, scope)?.items ?? [],
    })),
  );
  useEffect(() => {
    let isCanceled = false;
    const update = (resource: Resource, outcome: Partial<Listing>) => {
      if (isCanceled) return;
      setListings((before) =>
        before.map((listing) => (listing.resource === resource ? { ...listing, ...outcome } : listing)),
      );
    };
    for (const { resource } of searchedKinds)
      listOf<KubeObject>(resource, scope).then(
        (items) => update(resource, { state: "listed", items }),
        (error) => update(resource, failed(error)),
      );
    return () => {
      isCanceled = true;
    };
  }, [scope]);
  return listings;
}

/** The names of the kinds in a state. If PipeCD is in it as a whole, its kinds have one name. */
export function namesIn(listings: readonly Listing[], state: Listing["state"]): readonly string[] {
  const isPipecd = ({ resource }: Listing) => resource.group === pipecd;
  const isWhole = listings.filter(isPipecd).every((listing) => listing.state === state);
  const names = listings
    .filter((listing) => listing.state === state)
    .map((listing) => (isWhole && isPipecd(listing) ? kindText.allOfPipecd : listing.name));
  return [...new Set(names)];
}

function failed(error: unknown): Partial<Listing> {
  if (!(error instanceof RequestError)) throw error;
  if (error.status === 403) return { state: "forbidden", items: [] };
  return error.status === 404 ? { state: "absent", items: [] } : { state: "away" };
}
