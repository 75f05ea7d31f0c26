/** What a PipeCD object asks for, compared with what runs and with what PipeCD has registered. */
import type { Stored } from "denrei/kinds";
import type { Watched } from "../api/watch.ts";
import { Differences } from "../ui/differences/differences.tsx";
import { driftOf } from "./drift.ts";
import { driftText as text } from "./text.ts";
import type { Workload } from "./tree.tsx";

const withConfig: readonly string[] = ["ControlPlane", "Piped"];

export function Compared({
  of: object,
  workloads,
  stack,
}: {
  of: Stored;
  workloads: Watched<Workload>;
  /** All PipeCD objects of the namespace. */
  stack: readonly Stored[];
}) {
  const drift = driftOf(object, { workloads, stack });
  if (drift === undefined) return null;
  return (
    <Differences of={drift}>
      {withConfig.includes(object.kind) && <p class="quiet">{text.configNotCompared}</p>}
    </Differences>
  );
}
