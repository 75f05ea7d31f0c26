/** What keeps a configuration from being one that PipeCD can have. */
import { type FirstVersion, hasReached, type Profile } from "../profile.ts";
import { isBase64 } from "./base64.ts";

/** The version of PipeCD that is wanted can not have the configuration. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Each of them names a field of the object. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`PipeCD cannot have this configuration: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** Fields by their names; what is undefined or empty text is not given. */
export type Fields = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown) => value !== undefined && value !== "";
const namesOf = (fields: Fields) =>
  Object.entries(fields)
    .filter(([, value]) => isGiven(value))
    .map(([name]) => name);

/** Collects all problems of one configuration, so that people read of them at once. */
export class Problems {
  readonly profile: Profile;
  readonly #version: string;
  readonly #problems: string[] = [];

  constructor(profile: Profile, version: string) {
    this.profile = profile;
    this.#version = version;
  }

  add(problem: string): void {
    this.#problems.push(problem);
  }

  /** Adds the problem of one field, if there is one. */
  of(path: string, problem: string | undefined): void {
    if (problem !== undefined) this.add(`${path}: ${problem}`);
  }

  /** None of the fields may be given before a version. */
  from(first: FirstVersion, path: string, fields: Fields): void {
    if (!this.#isBefore(first)) return;
    for (const name of namesOf(fields)) this.add(`${path}.${name} needs PipeCD ${first} or later`);
  }

  /** None of the fields may be given after a version, which is of the older profile. */
  until(last: "v0.9.0" | "v0.12.0", path: string, fields: Fields): void {
    if (this.profile === "L0") return;
    for (const name of namesOf(fields)) this.add(`${path}.${name} needs PipeCD ${last} or older`);
  }

  /** All of the fields have to be given. */
  needed(path: string, fields: Fields): void {
    for (const [name, value] of Object.entries(fields)) {
      if (!isGiven(value)) this.add(`${path}.${name} is needed`);
    }
  }

  /** Those of the fields that are given have to be in base64. */
  base64(path: string, fields: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(fields)) {
      if (value && !isBase64(value)) this.add(`${path}.${name}: expected base64, with its padding`);
    }
  }

  /** Of these fields one has to be given, and no more. */
  oneOf(path: string, fields: Fields): void {
    if (namesOf(fields).length !== 1) {
      this.add(`${path}: expected exactly one of ${Object.keys(fields).join(", ")}`);
    }
  }

  /** Of these fields one may be given, and no more. */
  atMostOneOf(path: string, fields: Fields): void {
    if (namesOf(fields).length > 1) {
      this.add(`${path}: expected at most one of ${Object.keys(fields).join(", ")}`);
    }
  }

  /** Throws a {@link ConfigError} if there are any. */
  end(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #isBefore(first: FirstVersion): boolean {
    if (this.profile === "L0") return true;
    return !hasReached(this.#version, first);
  }
}
