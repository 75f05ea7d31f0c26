/** The kinds of a stack of PipeCD, in the order in which they go, and what goes with each. */
import type { KubeObject } from "../../../../bus/kube/object.ts";
import type { Place, Resource } from "../api/resource.ts";
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

/** The kinds of a stack, in the order of its deletion. No kind waits for EventRegistrations, and they wait for none. */
export const stackIn = (place: Place) =>
  [
    [eventRegistrations, place],
    [applications, place],
    [pipeds, place],
    [environments, place],
    [controlPlanes, place],
    [mysqls, place],
    [mongoes, place],
    [minios, place],
  ] as const;

/** The address of an object's screen. */
export function screenOf({ kind, metadata }: KubeObject): string {
  const plural = resources.find((resource) => resource.kind === kind)?.plural;
  return `/pipecd/${plural}/${metadata.namespace}/${metadata.name}`;
}

const resources: readonly Resource[] = stackIn({}).map(([resource]) => resource);

/** The kind that an address names. */
export const resourceOf = (plural: string): Resource | undefined =>
  resources.find((resource) => resource.plural === plural);

const storeGoes =
  "Its pod goes, and the data with it unless a volume claim keeps that. It stays while a ControlPlane uses it.";

const goesWithIt: Readonly<Record<string, string>> = {
  EventRegistration: "No more events are registered. PipeCD keeps those that it has.",
  Application: "PipeCD is told to delete it as well.",
  Piped:
    "Its pod ends, PipeCD disables it, and its rights in the cluster are taken away. It stays while there are Applications of it.",
  Environment: "It stays while Pipeds and Applications are in it.",
  ControlPlane:
    "Gateway, server, cache and ops go, and the Secret with the encryption key if it was made for them. It stays while Applications, Pipeds and Environments need it.",
  Mysql: storeGoes,
  Mongo: storeGoes,
  Minio: storeGoes,
};

/** What somebody is told who wants to delete one. */
export const consequenceOf = ({ kind }: Resource): string => goesWithIt[kind] ?? "";
