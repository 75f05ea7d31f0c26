/** Objects as results. */
import type { AppPipeline, Preview } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { appPipelines } from "../api/resource.ts";
import { objectAddress } from "../bus/addresses.ts";
import { healthOf, humanize } from "../ui/health.ts";
import type { Entry, EntryGroup } from "./entry.ts";
import { type Listing, type SearchedKind, searchedKinds } from "./listings.ts";
import { kindText, previewText } from "./text.ts";

const addressOf = ({ resource }: SearchedKind, namespace: string, name: string): string =>
  objectAddress({ ...resource, namespace, name }) ?? "";

function entryOf(kind: SearchedKind, object: Stored): Entry {
  const { namespace = "", name } = object.metadata;
  const to = addressOf(kind, namespace, name);
  return { id: to, name, detail: namespace, health: healthOf(object), words: kind.resource.kind, to };
}

function previewEntry(pipeline: Entry, { number, headRef, phase }: Preview): Entry {
  return {
    id: `${pipeline.id}#${number}`,
    name: previewText.name(number, headRef),
    detail: `${previewText.of(pipeline.name)}, ${humanize(phase)}`,
    words: `preview ${pipeline.detail}`,
    to: pipeline.to,
  };
}

function previewsOf(listing: Listing): readonly Entry[] {
  return listing.items.flatMap((item) => {
    const { status } = item as Stored<AppPipeline>;
    const pipeline = entryOf(listing, item);
    return (status?.previews ?? []).map((preview) => previewEntry(pipeline, preview));
  });
}

/** The objects of a kind, and behind AppPipelines their previews. */
export function objectGroups(listing: Listing): readonly EntryGroup[] {
  const objects = { name: listing.name, entries: listing.items.map((item) => entryOf(listing, item)) };
  if (listing.resource !== appPipelines) return [objects];
  return [objects, { name: kindText.previews, entries: previewsOf(listing) }];
}

interface Visited {
  readonly kind: SearchedKind;
  readonly namespace: string;
  readonly name: string;
}

/** The object of an address; undefined for other screens. A tab belongs to its object. */
function objectAt(path: string): Visited | undefined {
  const parts = path.split("/");
  for (const end of [parts.length, parts.length - 1]) {
    const [namespace = "", name = ""] = parts.slice(end - 2, end);
    const address = parts.slice(0, end).join("/");
    const kind = searchedKinds.find((known) => addressOf(known, namespace, name) === address);
    if (kind) return { kind, namespace, name };
  }
  return undefined;
}

/** More visited objects than users choose from. */
const maxVisited = 8;

/** The objects among visited paths, the newest first, without the current one and those that no longer exist. */
export function visitedEntries(
  paths: readonly string[],
  currentPath: string,
  listings: readonly Listing[],
  selectedNamespace: string,
): readonly Entry[] {
  const current = objectAt(currentPath);
  const entries = new Map<string, Entry>();
  for (const visited of paths.map(objectAt)) {
    if (visited === undefined) continue;
    const { kind, namespace, name } = visited;
    const to = addressOf(kind, namespace, name);
    if (current && to === addressOf(current.kind, current.namespace, current.name)) continue;
    const listing = listings.find(({ resource }) => resource === kind.resource);
    const object = listing?.items.find(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
    const isListed = listing?.state === "listed" && ["", namespace].includes(selectedNamespace);
    if (object === undefined && isListed) continue;
    entries.set(to, {
      id: `visited:${to}`,
      name,
      detail: kindText.inNamespace(kind.resource.kind, namespace),
      health: object && healthOf(object),
      to,
    });
  }
  return [...entries.values()].slice(0, maxVisited);
}
