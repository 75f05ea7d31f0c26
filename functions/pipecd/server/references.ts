/** References to other objects, by object name and by the name registered with PipeCD. */
import type { Condition, Context, Kind, KubeObject, Stored } from "denrei";
import { WaitingError } from "./dependent.ts";

type Referenced = KubeObject<
  { readonly name: string; readonly projectID: string },
  | {
      readonly conditions?: readonly Condition[] | undefined;
      readonly pipedID?: string | undefined;
      readonly environmentID?: string | undefined;
      readonly registered?: { readonly name: string; readonly projectID: string } | undefined;
    }
  | undefined
>;

/**
 * The referenced object of the same project, if it is ready. With `isSettled`, being registered with PipeCD is enough. Throws a
 * {@link WaitingError} otherwise: a change of the object triggers a reconcile.
 */
export async function referenced<T extends Referenced>(
  kind: Kind<T>,
  { objectName, name }: { readonly objectName: string; readonly name: string },
  { projectID, isSettled }: { readonly projectID: string; readonly isSettled: boolean },
  ctx: Context,
): Promise<Stored<T>> {
  const found = await ctx.read.get(kind, objectName);
  if (found === undefined)
    throw new WaitingError(
      `${kind.kind}NotFound`,
      `expected the ${kind.kind} ${objectName} in ${ctx.key.namespace}, found none`,
    );
  const { spec, metadata, status } = found;
  const field = kind.kind === "Piped" ? "pipedRef" : "environmentRef";
  if (spec.name !== name)
    throw new WaitingError(
      "ReferenceMismatch",
      `expected spec.${field}.name to be the spec.name of the ${kind.kind} ${objectName}, ${spec.name}, found ${name}`,
    );
  if (spec.projectID !== projectID)
    throw new WaitingError(
      "ReferenceMismatch",
      `expected the ${kind.kind} ${objectName} to be in the project ${projectID}, found it in ${spec.projectID}`,
    );
  const { registered = spec } = status ?? {};
  if (registered.name !== name || registered.projectID !== projectID)
    throw new WaitingError(
      `${kind.kind}NotReady`,
      `the ${kind.kind} ${objectName} is not ready: PipeCD still has it as ${registered.name} in the project ${registered.projectID}`,
    );
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True" && metadata.deletionTimestamp === undefined) return found;
  if (isSettled && (status?.pipedID ?? status?.environmentID) !== undefined) return found;
  const why = metadata.deletionTimestamp ? "it is being deleted" : (ready?.message ?? "it is new");
  throw new WaitingError(`${kind.kind}NotReady`, `the ${kind.kind} ${objectName} is not ready: ${why}`);
}
