/** Records of a control plane, in one format for all versions. */
import type { ApplicationKind } from "../kinds/application.ts";

/** An environment (up to v0.26). */
export interface EnvironmentRecord {
  readonly id: string;
  readonly name: string;
}

/** Whether a piped is connected, according to the control plane. */
export type Connection = "UNKNOWN" | "ONLINE" | "OFFLINE";

/** A registered piped. */
export interface PipedRecord {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly disabled: boolean;
  readonly environmentIDs: readonly string[];
  /** Ids of the repositories in its configuration, which it reported at startup. */
  readonly repositories: readonly string[];
  readonly connection: Connection;
  /** Creators of its keys, in PipeCD's order: newest first. */
  readonly keyIDs: readonly string[];
}

/** A key of a piped in PipeCD's list. */
interface ListedKey {
  readonly creator: string;
  readonly createdAt: bigint;
}

/** Sorts keys by creation time. Of two with the same time, PipeCD treats the first in its list as newer. */
export const keyIDsOf = (keys: readonly ListedKey[]): readonly string[] =>
  keys.toSorted((a, b) => Number(b.createdAt - a.createdAt)).map(({ creator }) => creator);

/** The fields of a new piped. */
export interface NewPiped {
  readonly name: string;
  readonly description: string;
  /** Up to v0.26: at least one. */
  readonly environmentIDs: readonly string[];
  /** The creator under which PipeCD lists its key. */
  readonly keyID: string;
}

/** A piped that has just been registered. */
export interface RegisteredPiped {
  readonly id: string;
  readonly key: string;
  /** Undefined if PipeCD lists the key under another creator: the APIService uses the name of the API key. */
  readonly keyID: string | undefined;
}

/** A name of PipeCD's enumeration of kinds. */
export type ApplicationKindName = ApplicationKind;

/** The location of an application's files. */
export interface ApplicationPlace {
  /** Id of one of the piped's repositories. */
  readonly repository: string;
  readonly path: string;
  readonly configFilename: string;
}

/** Names of deploy targets by plugin, for an agent of PipeCD v1. */
export type DeployTargets = Readonly<Record<string, readonly string[]>>;

/** The fields of an application that can change. */
export interface ApplicationSettings {
  readonly pipedID: string;
  readonly provider: string;
  readonly configFilename: string;
  readonly deployTargets?: DeployTargets;
}

/** The fields of a new application. */
export interface NewApplication extends ApplicationPlace, ApplicationSettings {
  readonly name: string;
  readonly kind: ApplicationKindName;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Up to v0.26. */
  readonly environmentID: string;
}

/** A registered application. */
export interface ApplicationRecord extends ApplicationPlace, ApplicationSettings {
  readonly id: string;
  readonly name: string;
  /** Undefined for an unknown kind. */
  readonly kind: ApplicationKindName | undefined;
  readonly disabled: boolean;
  readonly deleted: boolean;
}

/** An API key without its secret. */
export interface APIKeyRecord {
  readonly id: string;
  readonly name: string;
  readonly disabled: boolean;
}

/** The name of an enumeration value; undefined for a value that a later version has added. */
export const nameOf = <T extends string>(values: Readonly<Record<T, number>>, value: number): T | undefined =>
  (Object.keys(values) as T[]).find((name) => values[name] === value);
