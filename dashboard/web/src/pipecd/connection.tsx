/** The connection of a Piped to its control plane. */
import type { Piped } from "../../../../functions/pipecd/kinds.ts";
import { Status } from "../ui/status.tsx";

const connections = {
  ONLINE: ["good", "Online"],
  OFFLINE: ["bad", "Offline"],
  UNKNOWN: ["off", "Unknown"],
} as const;

/** PipeCD reports the connection minutes late. */
export function Connection({ of: { status } }: { of: Piped }) {
  const [tone, word] = connections[status?.connection ?? "UNKNOWN"];
  return <Status tone={tone}>{word}</Status>;
}
