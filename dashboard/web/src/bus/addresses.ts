/** Addresses of the bus screens. */
import { group as ghapp } from "@denrei/functions/ghapp/names";
import { group as modoki } from "@denrei/functions/paas/names";
import { group as zundoko } from "@denrei/functions/zundoko/names";
import type { ObjectName, ReconcileEntry, WebhookEntry } from "../../../api/bus.ts";
import * as pipecd from "../pipecd/resources.ts";

/** Stands for the missing namespace of cluster-scoped objects in an address. */
export const noNamespace = "-";

/** The history of an object. */
export function historyAddress({ group, kind, namespace, name }: ObjectName): string {
  const query = new URLSearchParams({ ...(group && { group }), kind, ...(namespace && { namespace }), name });
  return `/bus/history?${query}`;
}

/** The figures of a function. */
export const functionAddress = (fn: string): string => `/bus/functions/${encodeURIComponent(fn)}`;

/** The history of a trace. */
export const traceAddress = (trace: string): string => `/bus/history?${new URLSearchParams({ trace })}`;

/** The causal history of an entry. It is searched in the namespace of its object, unless all namespaces are selected. */
export function causalityAddress(entry: WebhookEntry | ReconcileEntry, selected: string): string {
  const own = entry.type === "reconcile" ? entry.object.namespace : selected;
  const query = new URLSearchParams({ entry: entry.id, ...(selected && own && { namespace: own }) });
  return `/bus/causality?${query}`;
}

/** The dead letters of one function or of all. */
export const deadLettersAddress = (fn?: string): string =>
  fn === undefined ? "/bus/deadletters" : `/bus/deadletters?${new URLSearchParams({ function: fn })}`;

/** The path of a dead letter below `/bus` and `/api/bus`. */
export const deadLetterPath = (
  fn: string,
  { namespace, name }: Pick<ObjectName, "namespace" | "name">,
): string => ["", "deadletters", fn, namespace || noNamespace, name].map(encodeURIComponent).join("/");

/** Screens of kinds, by group and kind. */
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

/** The address of an object's screen, or undefined. */
export function objectAddress({ group, kind, namespace, name }: ObjectName): string | undefined {
  const path = screens[`${group} ${kind}`];
  return path && `/${path}/${namespace}/${name}`;
}
