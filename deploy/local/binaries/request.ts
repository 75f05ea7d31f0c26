/** What is asked for, and what comes of it. */
import { type BinaryName, type ChosenVersions, versions } from "../versions.ts";
import type { Patience } from "./download.ts";
import type { OnProgress } from "./progress.ts";

/** A program that is ready to run. */
export interface Binary {
  readonly name: BinaryName;
  readonly path: string;
  /** Who had it. */
  readonly origin: "assets" | "path" | "cache" | "download" | "build";
}

/** How to get programs. */
export interface ObtainOptions {
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * In place of this process's environment: KUBEBUILDER_ASSETS, PATH, DENREI_CACHE_DIR, XDG_CACHE_HOME,
   * DENREI_RELEASES_* and what Go reads.
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /**
   * Other versions than the pinned ones, without `v`. KUBEBUILDER_ASSETS is used only where it has that version. No
   * checksum is recorded for these: a download is compared with the one that its publisher states, a build with Go's checksum database.
   */
  readonly versions?: ChosenVersions | undefined;
  /** How long to wait for a publisher; 5 s for a connection and 15 s for a sign of life unless given. */
  readonly patience?: Patience | undefined;
}

/** One request for programs, with defaults filled in: what its sources share. */
export interface Request {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal | undefined;
  readonly chosen: ChosenVersions;
  readonly patience: Patience;
  /** Hosts that could not be reached, and why: asked once, not once per program. */
  readonly unreachable: Map<string, string>;
}

/** Fills in the defaults. */
export function newRequest(options: ObtainOptions): Request {
  return {
    env: options.env ?? process.env,
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal,
    chosen: options.versions ?? {},
    patience: options.patience ?? { connectMillis: 5000, stallMillis: 15_000 },
    unreachable: new Map(),
  };
}

/** The version of a program that is wanted. */
export const versionOf = (name: BinaryName, chosen: ChosenVersions): string =>
  (chosen as Partial<Record<BinaryName, string>>)[name] ?? versions[name];
