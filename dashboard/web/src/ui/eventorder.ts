/** The times and counts of Kubernetes Events. Pure. */
import type { Stored } from "denrei/kinds";
import type { EventObject } from "../api/kubernetes.ts";

/** When an event was last observed. */
export const timeOf = ({
  series,
  eventTime,
  deprecatedLastTimestamp,
  metadata,
}: Stored<EventObject>): string | undefined =>
  series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata.creationTimestamp;

/** How often an event was observed. */
export const countOf = ({ series, deprecatedCount }: EventObject): number =>
  series?.count ?? deprecatedCount ?? 1;

/** Sorts events, newest first. Some of their times have microseconds and others seconds, so they are not compared as text. */
export const newestEvents = (events: readonly Stored<EventObject>[]): readonly Stored<EventObject>[] =>
  events.toSorted((a, b) => millisOf(b) - millisOf(a));

const millisOf = (event: Stored<EventObject>): number => Date.parse(timeOf(event) ?? "") || 0;
