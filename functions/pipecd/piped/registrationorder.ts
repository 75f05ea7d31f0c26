/**
 * Several Pipeds may have the same name in PipeCD, which does not record the owner of a piped. So they register one after the other:
 * each announces its registration, and of those that see each other's announcement the oldest goes first.
 */
import type { Context, Stored } from "denrei";
import { Piped } from "../kinds.ts";
import { isRegistering } from "../server/announcement.ts";
import { WaitingError } from "../server/dependent.ts";

/** Poll interval: no event reports that another registration has finished. Milliseconds. */
const pollMillis = 2_000;

const ageOf = ({ metadata: { creationTimestamp = "", uid } }: Stored<Piped>): string =>
  `${creationTimestamp} ${uid}`;

/**
 * Throws a {@link WaitingError} while another Piped of the same name is being registered. Call it before and after the
 * announcement: of two that start at the same time, at least one then sees the other.
 */
export async function waitForTurn(piped: Stored<Piped>, ctx: Context): Promise<void> {
  const { spec, metadata } = piped;
  const rivals = (await ctx.live.list(Piped)).filter(
    (other) =>
      other.metadata.uid !== metadata.uid &&
      other.spec.name === spec.name &&
      other.spec.projectID === spec.projectID &&
      isRegistering(other),
  );
  const [first] = rivals.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
  if (first === undefined) return;
  const message = `the Piped ${first.metadata.name} of the same name is being registered`;
  throw new WaitingError(
    "NameShared",
    message,
    pollMillis,
    ageOf(first) < ageOf(piped)
      ? [{ type: "Registered", status: "False", reason: "NameShared", message }]
      : undefined,
  );
}
