/** Addresses of the bus's screens, for links from anywhere. */
import { group as ghapp } from "../../../../functions/ghapp/names.ts";
import { group as modoki } from "../../../../functions/paas/names.ts";
import { group as zundoko } from "../../../../functions/zundoko/names.ts";
import type { ObjectName } from "../../../api/bus.ts";
import * as pipecd from "../pipecd/resources.ts";

/** Objects of the cluster have no namespace, and an address has no empty part. */
export const noNamespace = "-";

/** Everything that happened to an object. */
export function historyAddress({ group, kind, namespace, name }: ObjectName): string {
  const query = new URLSearchParams({ ...(group && { group }), kind, ...(namespace && { namespace }), name });
  return `/bus/history?${query}`;
}

/** Everything of a trace. */
export const traceAddress = (trace: string): string => `/bus/history?${new URLSearchParams({ trace })}`;

/** The dead letters, of one function if it is given. */
export const deadLettersAddress = (fn?: string): string =>
  fn === undefined ? "/bus/deadletters" : `/bus/deadletters?${new URLSearchParams({ function: fn })}`;

/** One dead letter, below `/bus` or `/api/bus`. */
export const deadLetterPath = (
  fn: string,
  { namespace, name }: Pick<ObjectName, "namespace" | "name">,
): string => ["", "deadletters", fn, namespace || noNamespace, name].map(encodeURIComponent).join("/");

/** Kinds of ours that have a screen of their own, and where: by group and kind. */
const screens: Readonly<Record<string, string>> = {
  [`${modoki} Application`]: "applications",
  [`${modoki} RemoteSync`]: "builds",
  [`${modoki} AppPipeline`]: "previews",
  [`${ghapp} Installation`]: "github",
  [`${zundoko} Hikawa`]: "zundoko",
  ...Object.fromEntries(
    Object.values(pipecd).map(({ group, kind, plural }) => [`${group} ${kind}`, `pipecd/${plural}`]),
  ),
};

/** The screen of an object; undefined where it has none. */
export function objectAddress({ group, kind, namespace, name }: ObjectName): string | undefined {
  const place = screens[`${group} ${kind}`];
  return place && `/${place}/${namespace}/${name}`;
}
