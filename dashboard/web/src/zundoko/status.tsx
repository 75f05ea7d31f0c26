/** How far a song is. */

import type { Stored } from "../../../../bus/kube/object.ts";
import type { Hikawa } from "../../../../functions/zundoko/kinds.ts";
import { conditionsOf, Health, Status } from "../ui/status.tsx";

/** One that goes on is as it should be, though it is not ready before its end. */
export function SongStatus({ of: hikawa }: { of: Stored<Hikawa> }) {
  const isSinging =
    hikawa.metadata.deletionTimestamp === undefined &&
    conditionsOf(hikawa).some(({ type, reason }) => type === "Ready" && reason === "Singing");
  if (isSinging && !conditionsOf(hikawa).some(({ type, status }) => type === "Stalled" && status === "True"))
    return <Status tone="busy">Singing</Status>;
  return <Health of={hikawa} />;
}
