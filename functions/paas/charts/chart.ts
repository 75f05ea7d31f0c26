/** Charts: what makes the objects of an Application. */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import { annotations } from "../names.ts";
import type { SiteConfig } from "./site.ts";

/** What a chart is told of an Application: nothing that changes while it stays what it is. */
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

/** Makes the objects of an Application. The same application and site make the same objects. */
export interface Chart {
  /** Another one for each other text, command or version: renderings are kept by it. */
  readonly id: string;
  /**
   * The objects, in the order in which the chart names them, unchecked (`checkedObjects`). Throws a {@link ChartError}, or the
   * signal's reason.
   */
  render(app: ChartApplication, site: SiteConfig, signal: AbortSignal): Promise<unknown[]>;
}

/**
 * Why there are no objects, in one word:
 *
 * - `ChartNotLoaded`: the chart's text can not be run, or there is no such command
 * - `ChartThrew`: it said itself what is wrong, in its own words
 * - `ChartTimedOut`, `ChartOutOfMemory`, `ChartDied`: it was ended before it was done
 * - `ChartEmpty`: it made nothing; an Application without objects is never meant
 * - `ChartOutputInvalid`: what it made are no objects of Kubernetes, or too many
 * - `ChartNotAllowed`: they are objects that a chart may not make
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

/** A chart made no objects that can be used. The message is for whoever owns the Application or the chart. */
export class ChartError extends Error {
  override readonly name = "ChartError";
  readonly reason: ChartReason;
  constructor(reason: ChartReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A chart made an object of a kind that the site does not list, and might. */
export class UnlistedKindError extends ChartError {
  /** Which document, for messages. */
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

/** What says that somebody looked at the Application, or wrote it, and nothing about it. */
const noise = [annotations.refreshedAt, "kubectl.kubernetes.io/", "applied.denrei.dev/"];

/** What a chart is told of an Application. The image is the pinned one, if there is one. */
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
