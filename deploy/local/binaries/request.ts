/** A request for programs, and its result. */
import { type BinaryName, type ChosenVersions, versions } from "../versions.ts";
import type { Timeouts } from "./download.ts";
import type { OnProgress } from "./progress.ts";

/** A program that is ready to run. */
export interface Binary {
  readonly name: BinaryName;
  readonly path: string;
  /** Where it came from. */
  readonly origin: "assets" | "path" | "cache" | "download" | "build";
}

/** Options for obtaining programs. */
export interface ObtainOptions {
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Environment to use instead of this process's: KUBEBUILDER_ASSETS, PATH, DENREI_CACHE_DIR, XDG_CACHE_HOME,
   * DENREI_RELEASES_*, and the variables of Go.
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /**
   * Versions to use instead of the pinned ones, without `v`. KUBEBUILDER_ASSETS counts only if it has that version. Their
   * checksums are not recorded: downloads are compared with the publisher's checksum, builds with Go's checksum database.
   */
  readonly versions?: ChosenVersions | undefined;
  /** Timeouts for publishers. Default: 5 s to connect, 15 s between pieces of a response. */
  readonly timeouts?: Timeouts | undefined;
}

/** A request with defaults filled in, shared by all sources. */
export interface Request {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal | undefined;
  readonly chosen: ChosenVersions;
  readonly timeouts: Timeouts;
  /** Unreachable hosts with the reason, so that each is tried once and not once per program. */
  readonly unreachable: Map<string, string>;
}

/** Fills in the defaults. */
export function newRequest(options: ObtainOptions): Request {
  return {
    env: options.env ?? process.env,
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal,
    chosen: options.versions ?? {},
    timeouts: options.timeouts ?? { connectMillis: 5000, stallMillis: 15_000 },
    unreachable: new Map(),
  };
}

/** The desired version of a program. */
export const versionOf = (name: BinaryName, chosen: ChosenVersions): string =>
  (chosen as Partial<Record<BinaryName, string>>)[name] ?? versions[name];
