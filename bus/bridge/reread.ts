/**
 * Objects whose last event may lack fields. After a CRD has changed, the API server serves open watches by the former CRD for
 * about a second, without the fields that it adds, and then ends them. Requests that were in progress can delay this by up to
 * two minutes. Only a second read of the same version has the fields.
 * https://github.com/kubernetes/apiextensions-apiserver/blob/master/pkg/apiserver/customresource_handler.go
 */
import type { Stored } from "../kube/object.ts";
import { keyText, parseKeyText } from "../subjects.ts";
import { type PagesOptions, pagesOf } from "./pages.ts";

/** How a watch ended: at the time that it was opened for, or before. */
export type WatchEnd = "scheduled" | "early";

/** How long before the end of a watch its events are doubtful. A scheduled end may come just before that of a changed CRD. */
const doubtfulMillis: Readonly<Record<WatchEnd, number>> = { scheduled: 3000, early: 120_000 };

const stepMillis = 1000;

/** Remembers for some minutes the last message that a kind had on the bus when a change was read. */
export class RecentChanges {
  readonly #moments: { readonly at: number; readonly sequence: number }[] = [];
  readonly #now: () => number;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Called before a change is published, with the sequence of the kind's last message. */
  note(sequence: number): void {
    const at = this.#now();
    const last = this.#moments.at(-1);
    if (last !== undefined && at - last.at < stepMillis) return;
    this.#moments.push({ at, sequence });
    while (at - (this.#moments[0]?.at ?? at) > doubtfulMillis.early + stepMillis) this.#moments.shift();
  }

  /** Everything so far was read again. */
  clear(): void {
    this.#moments.length = 0;
  }

  /** Changes that were published after this sequence are doubtful; undefined without such changes. */
  doubtfulAfter(end: WatchEnd): number | undefined {
    const from = this.#now() - doubtfulMillis[end] - stepMillis;
    return this.#moments.find(({ at }) => at >= from)?.sequence;
  }
}

/** One object costs about as much as this many objects of a page. */
const objectsPerRequest = 10;
const concurrent = 10;

/**
 * Reads objects of a kind again, of which `count` exist: each by its name, or, if the names are many, the whole kind. Objects that
 * are gone are left out. The bridge may list objects, but not get them.
 */
export async function* rereadObjects(
  options: PagesOptions,
  names: readonly string[],
  count: number,
): AsyncGenerator<Stored> {
  if (names.length * objectsPerRequest < count) {
    for (let at = 0; at < names.length; at += concurrent) {
      const some = names.slice(at, at + concurrent);
      yield* (await Promise.all(some.map((name) => readOne(options, name)))).flat();
    }
    return;
  }
  const wanted = new Set(names);
  if (wanted.size > 0)
    for await (const { items } of pagesOf(options))
      yield* items.filter((object) => wanted.has(nameOf(object)));
}

async function readOne({ client, kind, signal }: PagesOptions, text: string): Promise<readonly Stored[]> {
  const { namespace, name } = parseKeyText(text);
  const query = { fieldSelector: `metadata.name=${name}` };
  const { items } = await client.list(kind, namespace || undefined, query, signal);
  return items;
}

/** `namespace/name` of an object. */
export const nameOf = ({ metadata }: Stored): string =>
  keyText({ namespace: metadata.namespace ?? "", name: metadata.name });
