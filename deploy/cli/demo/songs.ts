import { Hikawa, Kiyoshi, Zundoko } from "@denrei/functions/zundoko/kinds";
import { saidByAnnotation } from "@denrei/functions/zundoko/names";
import { controllerOf, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { follow } from "./follow.ts";

/** A word, or Kiyoshi. */
export interface SaidWord {
  /** UID of the Hikawa. */
  readonly song: string;
  readonly say: string;
  /** Name of the replica that said it; `?` if unknown. */
  readonly replica: string;
  /** Name of the object. */
  readonly name: string;
}

/** A song of which everything was seen. */
export interface CompleteSong {
  readonly uid: string;
  /** Name of the Hikawa. */
  readonly name: string;
  readonly words: readonly SaidWord[];
  readonly kiyoshi: SaidWord;
}

/** What to do with songs. A song is known by the UID of its Hikawa. */
export interface SongListener {
  onStart?(uid: string, name: string): void;
  onWord?(word: SaidWord): void;
  /** The last word of a song is Kiyoshi. It comes after `onWord` of all others. */
  onEnd(song: CompleteSong): void;
  onDelete?(uid: string): void;
  /** Called when the API server does not answer, and with undefined when it answers again. */
  onWatch(error: Error | undefined): void;
}

/** A song so far. Each kind has its own watch, so Kiyoshi and the status may arrive before the last words. */
interface Song {
  name?: string;
  readonly words: SaidWord[];
  kiyoshi?: SaidWord;
  /** Known when the Hikawa has ended its song. */
  wordsAtEnd?: number;
  isReported?: true;
}

type Saying = KubeObject<{ say: string }>;

/** Follows songs from now on. Songs that have begun before have no end. `ended` resolves when `signal` aborts. */
export async function followSongs(
  client: KubeClient,
  signal: AbortSignal,
  listener: SongListener,
): Promise<{ ended: Promise<unknown> }> {
  const songs = new Songs(listener);
  const { namespace } = client.connection;
  const common = { client, namespace, signal, onError: listener.onWatch };
  const watches = await Promise.all([
    ...[Zundoko, Kiyoshi].map((kind) =>
      follow({
        ...common,
        kind: kind as Kind<Saying>,
        each: (type, object) => type === "ADDED" && songs.addWord(object),
      }),
    ),
    follow({ ...common, kind: Hikawa, each: (type, object) => songs.change(type, object) }),
  ]);
  return { ended: Promise.all(watches.map(({ ended }) => ended)) };
}

/** The songs so far. */
export class Songs {
  readonly #listener: Omit<SongListener, "onWatch">;
  readonly #songs = new Map<string, Song>();

  constructor(listener: Omit<SongListener, "onWatch">) {
    this.#listener = listener;
  }

  /** The song of a Hikawa, whose own event may arrive after its words. */
  #songOf(uid: string): Song {
    const song = this.#songs.get(uid) ?? { words: [] };
    this.#songs.set(uid, song);
    return song;
  }

  addWord(object: Stored<Saying>): void {
    const { metadata, kind, spec } = object;
    const uid = controllerOf(object)?.uid;
    if (uid === undefined) return;
    const replica = metadata.annotations?.[saidByAnnotation] ?? "?";
    const word = { song: uid, say: spec.say, replica, name: metadata.name };
    const song = this.#songOf(uid);
    if (kind === Kiyoshi.kind) song.kiyoshi = word;
    else {
      song.words.push(word);
      this.#listener.onWord?.(word);
    }
    this.#reportIfComplete(uid, song);
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", { metadata, status }: Stored<Hikawa>): void {
    const { uid, name } = metadata;
    if (type === "DELETED") {
      this.#songs.delete(uid);
      this.#listener.onDelete?.(uid);
      return;
    }
    const song = this.#songOf(uid);
    song.name = name;
    if (type === "ADDED") this.#listener.onStart?.(uid, name);
    if (status?.kiyoshied) song.wordsAtEnd = status.numZundokosSaid ?? 0;
    this.#reportIfComplete(uid, song);
  }

  #reportIfComplete(uid: string, song: Song): void {
    const { name, words, kiyoshi, wordsAtEnd, isReported } = song;
    if (name === undefined || kiyoshi === undefined || wordsAtEnd === undefined || isReported) return;
    if (words.length < wordsAtEnd) return;
    song.isReported = true;
    this.#listener.onEnd({ uid, name, words, kiyoshi });
  }
}
