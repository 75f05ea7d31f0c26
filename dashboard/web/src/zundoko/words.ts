/** The words of a song. Pure. */
import type { Hikawa, Kiyoshi, Zundoko } from "@denrei/functions/zundoko/kinds";
import { numberOf, saidByAnnotation } from "@denrei/functions/zundoko/names";
import { controllerOf, type KubeObject, type Stored } from "denrei/kinds";
import { factText as text } from "./text.ts";

/** A word of a song. */
export interface Word {
  /** Name of its object. */
  readonly name: string;
  readonly say: string;
  /** The replica that said it. */
  readonly by: string;
}

const wordOf = ({ metadata, spec }: Stored<Zundoko | Kiyoshi>): Word => ({
  name: metadata.name,
  say: spec.say,
  by: metadata.annotations?.[saidByAnnotation] ?? "",
});

/** Whether an object is a word of a Hikawa. */
export const isWordOf =
  ({ metadata: { uid } }: Stored<Hikawa>) =>
  (object: KubeObject): boolean =>
    controllerOf(object)?.uid === uid;

/** The words of a Hikawa by number, followed by Kiyoshi. */
export function songOf(
  hikawa: Stored<Hikawa>,
  zundokos: readonly Stored<Zundoko>[],
  kiyoshis: readonly Stored<Kiyoshi>[],
): readonly Word[] {
  const isOurs = isWordOf(hikawa);
  const words = zundokos
    .filter(isOurs)
    .sort((a, b) => (numberOf(a.metadata.name) ?? 0) - (numberOf(b.metadata.name) ?? 0));
  return [...words, ...kiyoshis.filter(isOurs)].map(wordOf);
}

/** The number of words of each replica, sorted by name. */
export const singersOf = (song: readonly Word[]): readonly (readonly [by: string, words: number])[] =>
  [...Map.groupBy(song, ({ by }) => by)]
    .map(([by, words]) => [by || text.unknownSinger, words.length] as const)
    .sort(([a], [b]) => a.localeCompare(b));
