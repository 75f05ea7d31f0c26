/** The kinds of a PipeCD stack. */
import type { KubeObject } from "denrei/kinds";
import type { Resource, Scope } from "../api/resource.ts";
import {
  applications,
  controlPlanes,
  environments,
  eventRegistrations,
  minios,
  mongoes,
  mysqls,
  pipeds,
} from "./resources.ts";
import { consequences } from "./text.ts";

/** The kinds in the order of deletion. EventRegistrations neither wait for another kind nor delay one. */
export const stackIn = (scope: Scope) =>
  [
    [eventRegistrations, scope],
    [applications, scope],
    [pipeds, scope],
    [environments, scope],
    [controlPlanes, scope],
    [mysqls, scope],
    [mongoes, scope],
    [minios, scope],
  ] as const;

/** The address of an object's screen. */
export function screenOf({ kind, metadata }: KubeObject): string {
  const plural = resources.find((resource) => resource.kind === kind)?.plural;
  return `/pipecd/${plural}/${metadata.namespace}/${metadata.name}`;
}

const resources: readonly Resource[] = stackIn({}).map(([resource]) => resource);

/** The kind in an address. */
export const resourceOf = (plural: string): Resource | undefined =>
  resources.find((resource) => resource.plural === plural);

const withoutWorkloads: readonly string[] = ["EventRegistration", "Environment", "Application"];

/** Whether objects of a kind have Deployments or StatefulSets. PipeCD itself runs nothing for the others. */
export const runsWorkloads = ({ kind }: Resource): boolean => !withoutWorkloads.includes(kind);

/** The consequence of deleting an object of a kind, for the confirmation. */
export const consequenceOf = ({ kind }: Resource): string => consequences[kind] ?? "";
