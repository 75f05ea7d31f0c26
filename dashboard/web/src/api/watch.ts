/** Live lists of objects. All lists of a screen share one stream. */
import type { KubeObject, Stored } from "denrei/kinds";
import { useEffect, useMemo, useState } from "preact/hooks";
import { forgetObject, type KnownList, type ListSource, lastKnownList, rememberList } from "./lastknown.ts";
import type { ShownError } from "./message.ts";
import { pathOf, type Resource, type Scope } from "./resource.ts";
import { openStream } from "./stream.ts";
import { text } from "./text.ts";

/** A list. Without items it is empty only if `asOf` is set: before that, nothing is known. */
export interface Watched<T extends KubeObject = KubeObject> {
  /**
   * `loading`: requested; `live`: current; `refused`: the user may not list it, or the kind is not installed; `away`: the API server
   * or the dashboard does not respond.
   */
  readonly state: "loading" | "live" | "refused" | "away";
  /** The last known objects, sorted by namespace and name. */
  readonly items: readonly Stored<T>[];
  /** When the items were last current, in milliseconds since 1970. Undefined if no list was received yet. */
  readonly asOf?: number | undefined;
  /** Set if the state is `refused` or `away`. */
  readonly error?: ShownError | undefined;
}

/** A kind, and optionally which of its objects. */
export type Selection<T extends KubeObject = KubeObject> = readonly [resource: Resource<T>, scope?: Scope];

type Lists<W extends readonly Selection[]> = {
  [K in keyof W]: W[K] extends Selection<infer T> ? Watched<T> : never;
};

/** Watches lists while the component is mounted. */
export function useWatch<const W extends readonly Selection[]>(...selections: W): Lists<W> {
  const paths = selections.map(([resource, scope]) => pathOf(resource, scope));
  const key = paths.join("\n");
  const known = useMemo(() => selections.map(([resource, scope]) => lastKnownList(resource, scope)), [key]);
  const loading = useMemo(
    () => known.map((list): Watched => ({ state: "loading", items: list?.items ?? [], asOf: list?.asOf })),
    [known],
  );
  const [lists, setLists] = useState<{ key: string; of: readonly Watched[] }>({ key, of: loading });
  useEffect(() => watchPaths(paths, known, (of) => setLists({ key, of })), [key]);
  return (lists.key === key ? lists.of : loading) as Lists<W>;
}

/** Watches paths until the returned function is called. Calls `onChange` at most once per frame. */
function watchPaths(
  paths: readonly string[],
  known: readonly (KnownList | undefined)[],
  onChange: (lists: readonly Watched[]) => void,
): () => void {
  const lists = known.map((list) => new ObjectList(list));
  for (const [at, path] of paths.entries()) rememberList(path, lists[at] as ObjectList);
  let lastId = "";
  let frame = 0;

  const schedule = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      onChange(lists.map((list) => list.watched()));
    });
  };

  const on =
    <T>(take: (list: ObjectList, data: T) => void) =>
    (data: T & { readonly at: number }, id: string) => {
      lastId = id;
      const list = lists[data.at];
      if (list) take(list, data);
      schedule();
    };

  const close = openStream({
    address: () =>
      `/api/watch?${new URLSearchParams([...paths.map((path) => ["of", path]), ["seen", lastId]])}`,
    on: {
      list: on<{ items: Stored[] }>((list, { items }) => list.replace(items)),
      change: on<{ type: string; object: Stored }>((list, change) => list.change(change)),
      problem: on<StreamedProblem>((list, problem) => list.failed(problem)),
    },
    opened() {
      for (const list of lists) list.back();
      schedule();
    },
    broken() {
      for (const list of lists) list.away();
      schedule();
    },
  });
  return () => {
    cancelAnimationFrame(frame);
    close();
    for (const list of lists) list.close();
  };
}

/** Several lists as one. It is refused, loading, or away if one of them is. */
export function combineLists<T extends KubeObject>(lists: readonly Watched<T>[]): Watched<T> {
  const inState = (state: Watched["state"]) => lists.find((list) => list.state === state);
  const worst = inState("refused") ?? inState("loading") ?? inState("away");
  return {
    state: worst?.state ?? "live",
    items: lists.flatMap(({ items }) => items),
    asOf: lists.some(({ asOf }) => asOf === undefined)
      ? undefined
      : Math.min(...lists.map(({ asOf = 0 }) => asOf)),
    error: worst?.error,
  };
}

/** An error of a list, or its end (status 0). */
interface StreamedProblem {
  readonly status: number;
  readonly message: string;
  /** Set if the message is in the words of Kubernetes. */
  readonly kind?: "Status";
}

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;

/** One list, built from stream events. */
class ObjectList implements ListSource {
  private items: Map<string, Stored>;
  private state: Watched["state"] = "loading";
  private error: Watched["error"];
  private asOf: number | undefined;
  /** Whether the stream has sent the list. Until then, `items` are those of an earlier screen. */
  private isListed = false;

  constructor(known: KnownList | undefined) {
    this.items = new Map(known?.items.map((item) => [keyOf(item), item]));
    this.asOf = known?.asOf;
  }

  replace(items: readonly Stored[]): void {
    this.items = new Map(items.map((item) => [keyOf(item), item]));
    this.isListed = true;
    this.recovered();
  }

  change({ type, object }: { readonly type: string; readonly object: Stored }): void {
    if (type === "DELETED") {
      this.items.delete(keyOf(object));
      forgetObject(object);
    } else this.items.set(keyOf(object), object);
    this.recovered();
  }

  failed({ status, message, kind }: StreamedProblem): void {
    if (status === 0) {
      this.recovered();
      return;
    }
    const isRefused = status === 403 || status === 404;
    if (isRefused) this.drop();
    else this.touch();
    this.state = isRefused ? "refused" : "away";
    this.error = { status, message, isSentence: kind === undefined };
  }

  away(): void {
    this.touch();
    if (this.state !== "refused") this.state = "away";
    this.error ??= { status: 0, message: text.away, isSentence: true };
  }

  back(): void {
    if (this.error?.status === 0) this.recovered();
  }

  known(): KnownList | undefined {
    this.touch();
    return this.asOf === undefined ? undefined : { items: this.sorted(), asOf: this.asOf };
  }

  /** The list is no longer updated. */
  close(): void {
    this.touch();
    this.state = "loading";
  }

  watched(): Watched {
    this.touch();
    return { state: this.state, items: this.sorted(), asOf: this.asOf, error: this.error };
  }

  private sorted(): readonly Stored[] {
    return [...this.items.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** A live list is current now. */
  private touch(): void {
    if (this.state === "live") this.asOf = Date.now();
  }

  private drop(): void {
    this.items.clear();
    this.asOf = undefined;
    this.isListed = false;
  }

  private recovered(): void {
    this.state = this.isListed ? "live" : "loading";
    this.error = undefined;
    this.touch();
  }
}
