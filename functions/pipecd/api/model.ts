/** What a control plane keeps, in words that hold for all versions of it. */
import type { ApplicationKind } from "../kinds/application.ts";

/** An environment (up to v0.26). */
export interface EnvironmentRecord {
  readonly id: string;
  readonly name: string;
}

/** Whether a piped is connected, as the control plane believes. */
export type Connection = "UNKNOWN" | "ONLINE" | "OFFLINE";

/** A piped that was registered. */
export interface PipedRecord {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly disabled: boolean;
  readonly environmentIDs: readonly string[];
  /** Ids of the repositories in its configuration, as it reported them when it started. */
  readonly repositories: readonly string[];
  readonly connection: Connection;
  /** Creators of its keys; the key that PipeCD takes for the newest comes first. */
  readonly keyIDs: readonly string[];
}

/** Keys of a piped, as PipeCD lists them. */
interface ListedKey {
  readonly creator: string;
  readonly createdAt: bigint;
}

/** Of two keys with the same creation time, PipeCD takes the first in its list for the newer one. */
export const keyIDsOf = (keys: readonly ListedKey[]): readonly string[] =>
  keys.toSorted((a, b) => Number(b.createdAt - a.createdAt)).map(({ creator }) => creator);

/** What a piped is registered with. */
export interface NewPiped {
  readonly name: string;
  readonly description: string;
  /** Up to v0.26: at least one. */
  readonly environmentIDs: readonly string[];
  /** The creator that its key is to be listed under. */
  readonly keyID: string;
}

/** A piped that has just been registered. */
export interface RegisteredPiped {
  readonly id: string;
  readonly key: string;
  /** Undefined where PipeCD lists the key under another creator: the APIService uses the name of the API key. */
  readonly keyID: string | undefined;
}

/** A name of PipeCD's enumeration of kinds. */
export type ApplicationKindName = ApplicationKind;

/** Where an application's files are. */
export interface ApplicationPlace {
  /** Id of a repository of the piped. */
  readonly repository: string;
  readonly path: string;
  readonly configFilename: string;
}

/** Names of deploy targets by their plugin, of an agent of PipeCD v1. */
export type DeployTargets = Readonly<Record<string, readonly string[]>>;

/** What of an application can be changed. */
export interface ApplicationSettings {
  readonly pipedID: string;
  readonly provider: string;
  readonly configFilename: string;
  readonly deployTargets?: DeployTargets;
}

/** What an application is registered with. */
export interface NewApplication extends ApplicationPlace, ApplicationSettings {
  readonly name: string;
  readonly kind: ApplicationKindName;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Up to v0.26. */
  readonly environmentID: string;
}

/** An application that was registered. */
export interface ApplicationRecord extends ApplicationPlace, ApplicationSettings {
  readonly id: string;
  readonly name: string;
  /** Undefined for one that nobody here knows. */
  readonly kind: ApplicationKindName | undefined;
  readonly disabled: boolean;
  readonly deleted: boolean;
}

/** An API key, without what makes it one. */
export interface APIKeyRecord {
  readonly id: string;
  readonly name: string;
  readonly disabled: boolean;
}
