/** Volumes that a user gives to pods, and what is in them: pods read it when they start. */
import { ConfigMap } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { contentDigest, findSecret, secretWith } from "./secrets.ts";
import { within } from "./watches.ts";

/** A volume, and where a container has it. */
export interface Mount {
  readonly volume: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly mountPath: string;
  readonly readOnly?: boolean | undefined;
  readonly subPath?: string | undefined;
  readonly subPathExpr?: string | undefined;
}

/** Fields of a pod that has them. */
export const volumesOf = (mounts: readonly Mount[]) =>
  mounts.length === 0 ? {} : { volumes: mounts.map(({ volume }) => volume) };

/** Fields of a container that has them. */
export const volumeMountsOf = (mounts: readonly Mount[]) =>
  mounts.length === 0
    ? {}
    : {
        volumeMounts: mounts.map(({ volume, mountPath, readOnly, subPath, subPathExpr }) => ({
          name: volume.name,
          mountPath,
          ...(readOnly && { readOnly }),
          ...(subPath && { subPath }),
          ...(subPathExpr && { subPathExpr }),
        })),
      };

/** What a volume is made from; those of a projected one name their Secrets otherwise. */
interface Source {
  readonly secret?: { readonly secretName?: string; readonly name?: string; readonly optional?: boolean };
  readonly configMap?: { readonly name?: string };
  readonly projected?: { readonly sources?: readonly Source[] };
}

interface Names {
  readonly secrets: readonly string[];
  /** Secrets that need not be there. */
  readonly optional: readonly string[];
  readonly configMaps: readonly string[];
}

function namesIn({ secret, configMap, projected }: Source): Names {
  const inner = (projected?.sources ?? []).map(namesIn);
  const name = secret?.secretName ?? secret?.name;
  const own = name ? [name] : [];
  return {
    secrets: [...(secret?.optional ? [] : own), ...inner.flatMap(({ secrets }) => secrets)],
    optional: [...(secret?.optional ? own : []), ...inner.flatMap(({ optional }) => optional)],
    configMaps: [
      ...(configMap?.name ? [configMap.name] : []),
      ...inner.flatMap(({ configMaps }) => configMaps),
    ],
  };
}

function namesOf(mounts: readonly Mount[]): Names {
  const found = mounts.map(({ volume }) => namesIn(volume as Source));
  const secrets = new Set(found.flatMap(({ secrets }) => secrets));
  const optional = new Set(found.flatMap(({ optional }) => optional));
  return {
    secrets: [...secrets].sort(),
    optional: [...optional].filter((name) => !secrets.has(name)).sort(),
    configMaps: [...new Set(found.flatMap(({ configMaps }) => configMaps))].sort(),
  };
}

/** An object whose pods have volumes, of its own choice or because of something else that it says. */
type Mounting<T> = (object: Stored & T) => readonly Mount[];

/** Indexes `secret` and `configMap`: finds objects by what is in their volumes. `more` are other Secrets that they name. */
export const mountedIndex = <T>(
  mountsOf: Mounting<T>,
  more: (object: Stored & T) => readonly string[] = () => [],
) => ({
  secret: (object: Stored & T) => {
    const { secrets, optional } = namesOf(mountsOf(object));
    return [...secrets, ...optional, ...more(object)].map((name) => within(object, name));
  },
  configMap: (object: Stored & T) => namesOf(mountsOf(object)).configMaps.map((name) => within(object, name)),
});

/** Stands for all that is in them. Throws a `BlockedError` where a Secret that has to be there is not: no pod would start. */
export async function mountedDigest(mounts: readonly Mount[], ctx: Context): Promise<string> {
  const { secrets, optional, configMaps } = namesOf(mounts);
  const contents: unknown[] = [];
  for (const name of secrets) contents.push((await secretWith(name, [], ctx)).data);
  for (const name of optional) contents.push((await findSecret(name, ctx))?.data);
  for (const name of configMaps) contents.push((await ctx.live.get(ConfigMap, name))?.data);
  return contentDigest(...contents);
}
