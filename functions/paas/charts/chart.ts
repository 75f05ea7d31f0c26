/** Charts: they render the objects of an Application. */
import type { Stored } from "denrei";
import type { Application } from "../kinds/application.ts";
import { annotations } from "../names.ts";
import type { SiteConfig } from "./site.ts";

/** A chart's view of an Application. It has no fields that change while the Application stays the same. */
export interface ChartApplication {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: Application["spec"];
}

/** Renders the objects of an Application. The same application and site result in the same objects. */
export interface Chart {
  /** Identifies source, command, and version: renderings are cached by it. */
  readonly id: string;
  /**
   * The objects in the chart's order, not validated yet (`checkedObjects`). Throws a {@link ChartError}, or the signal's reason.
   */
  render(app: ChartApplication, site: SiteConfig, signal: AbortSignal): Promise<unknown[]>;
}

/**
 * Why a rendering failed:
 *
 * - `ChartNotLoaded`: the source cannot be compiled, or the command does not exist
 * - `ChartThrew`: the chart reported an error
 * - `ChartTimedOut`, `ChartOutOfMemory`, `ChartDied`: the chart was ended before it finished
 * - `ChartEmpty`: the chart rendered nothing, which is never intended for an Application
 * - `ChartOutputInvalid`: the output is not a list of Kubernetes objects, or too long
 * - `ChartNotAllowed`: the chart rendered objects that it may not make
 */
export type ChartReason =
  | "ChartNotLoaded"
  | "ChartThrew"
  | "ChartTimedOut"
  | "ChartOutOfMemory"
  | "ChartDied"
  | "ChartEmpty"
  | "ChartOutputInvalid"
  | "ChartNotAllowed";

/** A rendering failed. The message is for the owner of the Application or of the chart. */
export class ChartError extends Error {
  override readonly name = "ChartError";
  readonly reason: ChartReason;
  constructor(reason: ChartReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A chart rendered an object of a kind that the site does not list, but could. */
export class UnlistedKindError extends ChartError {
  /** The document, for messages. */
  readonly where: string;
  readonly apiVersion: string;
  readonly kind: string;
  constructor(where: string, apiVersion: string, kind: string, problem: string) {
    super("ChartNotAllowed", `${where}: ${problem}`);
    this.where = where;
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/** Annotations that record accesses to the Application, and do not describe it. */
const noise = [annotations.refreshedAt, "kubectl.kubernetes.io/", "applied.denrei.dev/"];

/** The chart's view of an Application. The image is the pinned one, if set. */
export function chartApplication({
  apiVersion,
  kind,
  metadata,
  spec,
}: Stored<Application>): ChartApplication {
  const { pinnedImage, ...rest } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      uid: metadata.uid,
      labels: metadata.labels ?? {},
      annotations: Object.fromEntries(
        Object.entries(metadata.annotations ?? {}).filter(
          ([name]) => !noise.some((start) => name.startsWith(start)),
        ),
      ),
    },
    spec: { ...rest, ...(pinnedImage !== undefined && { image: pinnedImage }) },
  };
}
