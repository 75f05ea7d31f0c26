/**
 * The ServiceAccount that builds run as. Other controllers add Secrets to it too (OpenShift does), so an annotation records which
 * of them are the RemoteSync's, and the others stay. Pure.
 */
import type { ServiceAccount, Stored } from "denrei";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";

type References = ServiceAccount["secrets"];

/** Names of the Secrets that a RemoteSync's builds need. An empty name would fail every build. */
export function secretNamesOf({ spec }: RemoteSync): {
  readonly git: string;
  readonly registry: string | undefined;
} {
  return { git: spec.base.github.secretName, registry: spec.image.secretName || undefined };
}

/** The parts of an account that a RemoteSync manages. */
export interface DesiredAccount {
  readonly secrets: readonly string[];
  readonly imagePullSecrets: readonly string[];
}

export function desiredAccount(sync: RemoteSync): DesiredAccount {
  const { git, registry } = secretNamesOf(sync);
  const imagePullSecrets = registry === undefined ? [] : [registry];
  return { secrets: [...new Set([git, ...imagePullSecrets])], imagePullSecrets };
}

const noteOf = ({ secrets }: DesiredAccount): string => secrets.join(",");

const notedIn = (found: Stored<ServiceAccount> | undefined): string =>
  found?.metadata.annotations?.[annotations.builderSecrets] ?? "";

/** Whether the account has been updated for exactly these Secrets. */
export const isNoted = (found: Stored<ServiceAccount> | undefined, desired: DesiredAccount): boolean =>
  notedIn(found) === noteOf(desired);

/** The desired fields of an account. Existing entries keep their place. */
export function accountFields(
  found: Stored<ServiceAccount> | undefined,
  desired: DesiredAccount,
): Pick<ServiceAccount, "secrets" | "imagePullSecrets"> & {
  readonly metadata: { readonly annotations: Record<string, string> };
} {
  const ours = new Set(notedIn(found).split(",").filter(Boolean));
  const merged = (before: References = [], additions: readonly string[]) => {
    const kept = before.filter(({ name }) => name && (!ours.has(name) || additions.includes(name)));
    const names = new Set(kept.map(({ name }) => name));
    return [...kept, ...additions.filter((name) => !names.has(name)).map((name) => ({ name }))];
  };
  const pullSecrets = merged(found?.imagePullSecrets, desired.imagePullSecrets);
  return {
    metadata: { annotations: { [annotations.builderSecrets]: noteOf(desired) } },
    secrets: merged(found?.secrets, desired.secrets),
    // The API server drops empty lists, so writing one would cause a write at every reconcile.
    ...((pullSecrets.length > 0 || found?.imagePullSecrets) && { imagePullSecrets: pullSecrets }),
  };
}
