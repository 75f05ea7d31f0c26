/** Mutations: one-line breakages of the product, and how to apply one to a text. */
import { stripTypeScriptTypes } from "node:module";

/** A mistake that a developer could make and a user would notice. */
export interface Mutation {
  /** Unique among all areas. */
  readonly name: string;
  /** The file to break, from the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What a user would see, in one sentence. */
  readonly breaks: string;
  /** Test files that must catch it, the cheapest first. */
  readonly tests: readonly string[];
}

/** The mutations of one part of the product. */
export interface Area {
  readonly name: string;
  readonly mutations: readonly Mutation[];
}

/** The mutation does not match its file: the product has changed since it was written. */
export class StaleMutationError extends Error {
  override readonly name = "StaleMutationError";
}

/** How often the text that the mutation replaces occurs. */
export const occurrencesIn = (text: string, { find }: Pick<Mutation, "find">): number =>
  text.split(find).length - 1;

/** Applies a mutation to the text of its file. Throws a {@link StaleMutationError} unless it breaks exactly one place. */
export function mutated(text: string, mutation: Mutation): string {
  const { name, file, find, replace } = mutation;
  const count = occurrencesIn(text, mutation);
  if (count !== 1)
    throw new StaleMutationError(
      `mutation ${name} is stale: expected its text exactly once in ${file}, found it ${count} times. Update test/mutations/areas.`,
    );
  if (find === replace)
    throw new StaleMutationError(`mutation ${name} changes nothing: its replacement is the same text`);
  const broken = text.split(find).join(replace);
  expectParses(name, file, broken);
  return broken;
}

/** A syntax error fails every test, which proves nothing. JSX is left to the build of the page. */
function expectParses(name: string, file: string, text: string): void {
  if (!file.endsWith(".ts")) return;
  try {
    stripTypeScriptTypes(text);
  } catch (error) {
    throw new StaleMutationError(
      `mutation ${name} breaks the syntax of ${file}: ${(error as Error).message}`,
    );
  }
}
