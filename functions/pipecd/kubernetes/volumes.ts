/** Volumes of pods, and a digest of their content, which pods read only at startup. */
import { ConfigMap, type Context, type Stored } from "denrei";
import { contentDigest, findSecret, secretWith } from "./secrets.ts";
import { within } from "./watches.ts";

/** A volume and its mount in a container. */
export interface Mount {
  readonly volume: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly mountPath: string;
  readonly readOnly?: boolean | undefined;
  readonly subPath?: string | undefined;
  readonly subPathExpr?: string | undefined;
}

/** `volumes` of a pod spec; empty without mounts. */
export const volumesOf = (mounts: readonly Mount[]) =>
  mounts.length === 0 ? {} : { volumes: mounts.map(({ volume }) => volume) };

/** `volumeMounts` of a container; empty without mounts. */
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

/** The source of a volume. Projected volumes use `name` instead of `secretName`. */
interface Source {
  readonly secret?: { readonly secretName?: string; readonly name?: string; readonly optional?: boolean };
  readonly configMap?: { readonly name?: string };
  readonly projected?: { readonly sources?: readonly Source[] };
}

interface Names {
  readonly secrets: readonly string[];
  /** Secrets that may be missing. */
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

type MountsOf<T> = (object: Stored & T) => readonly Mount[];

/** Indexes `secret` and `configMap`, by the sources of an object's volumes. `more` are other Secrets that it refers to. */
export const mountedIndex = <T>(
  mountsOf: MountsOf<T>,
  more: (object: Stored & T) => readonly string[] = () => [],
) => ({
  secret: (object: Stored & T) => {
    const { secrets, optional } = namesOf(mountsOf(object));
    return [...secrets, ...optional, ...more(object)].map((name) => within(object, name));
  },
  configMap: (object: Stored & T) => namesOf(mountsOf(object)).configMaps.map((name) => within(object, name)),
});

/** A digest of the content of volumes. Throws a `BlockedError` if a required Secret is missing, because no pod would start. */
export async function mountedDigest(mounts: readonly Mount[], ctx: Context): Promise<string> {
  const { secrets, optional, configMaps } = namesOf(mounts);
  const contents: unknown[] = [];
  for (const name of secrets) contents.push((await secretWith(name, [], ctx)).data);
  for (const name of optional) contents.push((await findSecret(name, ctx))?.data);
  for (const name of configMaps) contents.push((await ctx.live.get(ConfigMap, name))?.data);
  return contentDigest(...contents);
}
