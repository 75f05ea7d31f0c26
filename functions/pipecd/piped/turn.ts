/**
 * Several Pipeds may have one name at PipeCD, where no piped says whose it is. So they are registered one after the other: each
 * announces it, and of those that see each other's announcement the eldest goes first.
 */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { Piped } from "../kinds.ts";
import { WaitingError } from "../server/dependent.ts";
import { isRegistering } from "../server/registering.ts";

/** After it, others are looked for again: nobody tells. Milliseconds. */
const againMillis = 2_000;

const ageOf = ({ metadata: { creationTimestamp = "", uid } }: Stored<Piped>): string =>
  `${creationTimestamp} ${uid}`;

/**
 * Throws a {@link WaitingError} while another one of that name is being registered. To be called before the announcement, and
 * after it: two that have begun at once see each other then.
 */
export async function awaitTurn(piped: Stored<Piped>, ctx: Context): Promise<void> {
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
    againMillis,
    ageOf(first) < ageOf(piped)
      ? [{ type: "Registered", status: "False", reason: "NameShared", message }]
      : undefined,
  );
}
