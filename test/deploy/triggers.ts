/** ScaledObjects as they are rendered, for asking whether a function would have a worker. */
import { isActive, type Monitors, type TriggerMetadata } from "../harness/keda.ts";
import { find, type Manifest } from "./manifests.ts";

/** What has KEDA scale a Deployment, as far as these tests look at it. */
export interface ScaledObject extends Manifest {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicaCount: number;
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: TriggerMetadata;
      readonly authenticationRef: { readonly name: string };
    }[];
  };
}

interface TriggerAuthentication extends Manifest {
  readonly spec: {
    readonly configMapTargetRef: readonly {
      readonly parameter: string;
      readonly name: string;
      readonly key: string;
    }[];
  };
}

/** The ScaledObject of a function. */
export const scaledObjectOf = (objects: readonly Manifest[], fn: string): ScaledObject =>
  find<ScaledObject>(objects, "ScaledObject", `denrei-${fn}`);

/** What a function's triggers are given by the objects that they name. */
export function monitorEndpoint(objects: readonly Manifest[], fn: string): string {
  const [name, ...others] = new Set(
    scaledObjectOf(objects, fn).spec.triggers.map(({ authenticationRef }) => authenticationRef.name),
  );
  const { spec } = find<TriggerAuthentication>(objects, "TriggerAuthentication", name ?? "");
  const [reference, ...more] = spec.configMapTargetRef;
  if (others.length > 0 || more.length > 0 || reference?.parameter !== "natsServerMonitoringEndpoint")
    throw new Error(
      `expected the monitoring endpoint for all triggers of ${fn}, found ${JSON.stringify(spec)}`,
    );
  return find(objects, "ConfigMap", reference.name).data?.[reference.key] ?? "";
}

/** `stream/consumer` of the triggers by which the function would have a worker. */
export async function activeTriggers(
  objects: readonly Manifest[],
  fn: string,
  bus: Omit<Monitors, "endpoint">,
): Promise<string[]> {
  const monitors = { ...bus, endpoint: monitorEndpoint(objects, fn) };
  const { triggers } = scaledObjectOf(objects, fn).spec;
  const active = await Promise.all(triggers.map(({ metadata }) => isActive(metadata, monitors)));
  return triggers
    .filter((_, at) => active[at])
    .map(({ metadata: { stream, consumer } }) => `${stream}/${consumer}`);
}
