/** Collects validation errors of a PipeCD configuration. */
import { type FirstVersion, hasReached, type Profile } from "../profile.ts";

/** The desired version of PipeCD does not support the configuration. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Each problem starts with the path of a field. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid PipeCD configuration: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** Fields by name. Undefined and empty strings count as not set. */
export type Fields = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown) => value !== undefined && value !== "";
const namesOf = (fields: Fields) =>
  Object.entries(fields)
    .filter(([, value]) => isGiven(value))
    .map(([name]) => name);

/** Whether Go can decode text: standard alphabet, with padding, line breaks ignored. https://pkg.go.dev/encoding/base64#StdEncoding */
function isBase64(text: string): boolean {
  const joined = text.replaceAll(/[\r\n]/g, "");
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined);
}

/** Collects all problems of one configuration, so that the user sees them at once. */
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

  /** Adds the problem of a field unless it is undefined. */
  of(path: string, problem: string | undefined): void {
    if (problem !== undefined) this.add(`${path}: ${problem}`);
  }

  /** Requires that none of the fields is set before a version. */
  from(first: FirstVersion, path: string, fields: Fields): void {
    if (!this.#isBefore(first)) return;
    for (const name of namesOf(fields)) this.add(`${path}.${name} needs PipeCD ${first} or later`);
  }

  /** Requires that none of the fields is set in the profile C. `last` is the last version that supports them. */
  until(last: "v0.9.0" | "v0.12.0", path: string, fields: Fields): void {
    if (this.profile === "L0") return;
    for (const name of namesOf(fields)) this.add(`${path}.${name} needs PipeCD ${last} or older`);
  }

  /** Requires that all of the fields are set. */
  needed(path: string, fields: Fields): void {
    for (const [name, value] of Object.entries(fields)) {
      if (!isGiven(value)) this.add(`${path}.${name} is required`);
    }
  }

  /** Requires base64 in the fields that are set. */
  base64(path: string, fields: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(fields)) {
      if (value && !isBase64(value)) this.add(`${path}.${name}: expected base64 with padding`);
    }
  }

  /** Requires that exactly one of the fields is set. */
  oneOf(path: string, fields: Fields): void {
    if (namesOf(fields).length !== 1) {
      this.add(`${path}: expected exactly one of ${Object.keys(fields).join(", ")}`);
    }
  }

  /** Requires that at most one of the fields is set. */
  atMostOneOf(path: string, fields: Fields): void {
    if (namesOf(fields).length > 1) {
      this.add(`${path}: expected at most one of ${Object.keys(fields).join(", ")}`);
    }
  }

  /** Throws a {@link ConfigError} if there are problems. */
  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #isBefore(first: FirstVersion): boolean {
    if (this.profile === "L0") return true;
    return !hasReached(this.#version, first);
  }
}
