/** Live lists of objects. All lists of a screen share one stream. */
import type { KubeObject, Stored } from "denrei/kinds";
import { useEffect, useMemo, useState } from "preact/hooks";
import { pathOf, type Resource, type Scope } from "./resource.ts";
import { openStream } from "./stream.ts";

/** The state of a list. */
export interface Watched<T extends KubeObject = KubeObject> {
  readonly state: "loading" | "live" | "refused" | "away";
  /** Sorted by namespace and name. */
  readonly items: readonly Stored<T>[];
  /** Set if the state is `refused` or `away`. */
  readonly error?: { readonly status: number; readonly message: string } | undefined;
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
  const loading = useMemo(() => paths.map((): Watched => ({ state: "loading", items: [] })), [key]);
  const [lists, setLists] = useState<{ key: string; of: readonly Watched[] }>({ key, of: loading });
  useEffect(() => watchPaths(paths, (of) => setLists({ key, of })), [key]);
  return (lists.key === key ? lists.of : loading) as Lists<W>;
}

/** Watches paths until the returned function is called. Calls `onChange` at most once per frame. */
function watchPaths(paths: readonly string[], onChange: (lists: readonly Watched[]) => void): () => void {
  const lists = paths.map(() => new ObjectList());
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
      problem: on<{ status: number; message: string }>((list, error) => list.failed(error)),
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
  };
}

/** Several lists as one. It is refused, loading, or away if one of them is. */
export function combineLists<T extends KubeObject>(lists: readonly Watched<T>[]): Watched<T> {
  const inState = (state: Watched["state"]) => lists.find((list) => list.state === state);
  const worst = inState("refused") ?? inState("loading") ?? inState("away");
  return {
    state: worst?.state ?? "live",
    items: lists.flatMap(({ items }) => items),
    error: worst?.error,
  };
}

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;

/** One list, built from stream events. */
class ObjectList {
  private items = new Map<string, Stored>();
  private state: Watched["state"] = "loading";
  private error: Watched["error"];
  private isListed = false;

  replace(items: readonly Stored[]): void {
    this.items = new Map(items.map((item) => [keyOf(item), item]));
    this.isListed = true;
    this.recovered();
  }

  change({ type, object }: { readonly type: string; readonly object: Stored }): void {
    if (type === "DELETED") this.items.delete(keyOf(object));
    else this.items.set(keyOf(object), object);
    this.recovered();
  }

  failed({ status, message }: { readonly status: number; readonly message: string }): void {
    if (status === 0) {
      this.recovered();
      return;
    }
    this.state = status === 403 || status === 404 ? "refused" : "away";
    this.error = { status, message };
  }

  away(): void {
    if (this.state !== "refused") this.state = "away";
    this.error ??= { status: 0, message: "The dashboard does not respond." };
  }

  back(): void {
    if (this.error?.status === 0) this.recovered();
  }

  private recovered(): void {
    this.state = this.isListed ? "live" : "loading";
    this.error = undefined;
  }

  watched(): Watched {
    const items = [...this.items.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    return { state: this.state, items, error: this.error };
  }
}
