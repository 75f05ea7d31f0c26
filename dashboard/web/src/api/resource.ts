/** Kinds and their paths in the Kubernetes API. */
import type { Application, AppPipeline, RemoteSync } from "@denrei/functions/paas/kinds";
import type { Build, Image } from "@denrei/functions/paas/kinds/kpack";
import { group as modoki, version as modokiVersion } from "@denrei/functions/paas/names";
import type { Deployment, KubeObject, StatefulSet } from "denrei/kinds";
import type { EventObject, PodObject, ServiceObject } from "./kubernetes.ts";

/** A kind and its place in the API. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Carries the type of the objects; always undefined. */ readonly example?: T;
}

/** Declares a kind. */
export const resource = <T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> => ({
  group,
  version,
  kind,
  plural,
});

export const applications = resource<Application>(modoki, modokiVersion, "Application", "applications");
export const remoteSyncs = resource<RemoteSync>(modoki, modokiVersion, "RemoteSync", "remotesyncs");
export const appPipelines = resource<AppPipeline>(modoki, modokiVersion, "AppPipeline", "apppipelines");
export const builds = resource<Build>("kpack.io", "v1alpha2", "Build", "builds");
export const images = resource<Image>("kpack.io", "v1alpha2", "Image", "images");
export const pods = resource<PodObject>("", "v1", "Pod", "pods");
export const events = resource<EventObject>("events.k8s.io", "v1", "Event", "events");
export const deployments = resource<Deployment>("apps", "v1", "Deployment", "deployments");
export const statefulSets = resource<StatefulSet>("apps", "v1", "StatefulSet", "statefulsets");
export const services = resource<ServiceObject>("", "v1", "Service", "services");
export const namespaces = resource("", "v1", "Namespace", "namespaces");

/** Selects one object or a list. */
export interface Scope {
  /** Defaults to all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** The API path of an object or a list. */
export function pathOf({ group, version, plural }: Resource, scope: Scope = {}): string {
  const { namespace, name, subresource, ...selectors } = scope;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const parts = [root, ...(namespace ? ["namespaces", namespace] : []), plural, name, subresource];
  const query = new URLSearchParams(
    Object.entries(selectors).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return `${parts.filter((part) => part !== undefined).join("/")}${query.size > 0 ? `?${query}` : ""}`;
}

/** The `apiVersion` of a kind's objects. */
export const apiVersionOf = ({ group, version }: Resource): string =>
  group === "" ? version : `${group}/${version}`;
