/** Live lists of objects. All lists of a screen share one stream. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { type Place, pathOf, type Resource } from "./resource.ts";
import { openStream } from "./stream.ts";

/** The state of a list. */
export interface Watched<T extends KubeObject = KubeObject> {
  readonly state: "loading" | "live" | "refused" | "away";
  /** Sorted by namespace and name. */
  readonly items: readonly Stored<T>[];
  /** Set if the state is `refused` or `away`. */
  readonly trouble?: { readonly status: number; readonly message: string } | undefined;
}

/** A kind, and optionally which of its objects. */
export type Wanted<T extends KubeObject = KubeObject> = readonly [resource: Resource<T>, place?: Place];

type Lists<W extends readonly Wanted[]> = {
  [K in keyof W]: W[K] extends Wanted<infer T> ? Watched<T> : never;
};

/** Watches lists while the component is mounted. */
export function useWatch<const W extends readonly Wanted[]>(...wanted: W): Lists<W> {
  const paths = wanted.map(([resource, place]) => pathOf(resource, place));
  const key = paths.join("\n");
  const nothing = useMemo(() => paths.map((): Watched => ({ state: "loading", items: [] })), [key]);
  const [lists, setLists] = useState<{ key: string; of: readonly Watched[] }>({ key, of: nothing });
  useEffect(() => follow(paths, (of) => setLists({ key, of })), [key]);
  return (lists.key === key ? lists.of : nothing) as Lists<W>;
}

/** Watches paths until the returned function is called. Calls `tell` at most once per frame. */
function follow(paths: readonly string[], tell: (lists: readonly Watched[]) => void): () => void {
  const lists = paths.map(() => new ObjectList());
  let seen = "";
  let frame = 0;

  const changed = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      tell(lists.map((list) => list.watched()));
    });
  };

  const on =
    <T>(take: (list: ObjectList, data: T) => void) =>
    (data: T & { readonly at: number }, id: string) => {
      seen = id;
      const list = lists[data.at];
      if (list) take(list, data);
      changed();
    };

  const close = openStream({
    address: () =>
      `/api/watch?${new URLSearchParams([...paths.map((path) => ["of", path]), ["seen", seen]])}`,
    on: {
      list: on<{ items: Stored[] }>((list, { items }) => list.replace(items)),
      change: on<{ type: string; object: Stored }>((list, change) => list.change(change)),
      trouble: on<{ status: number; message: string }>((list, trouble) => list.troubled(trouble)),
    },
    opened() {
      for (const list of lists) list.back();
      changed();
    },
    broken() {
      for (const list of lists) list.away();
      changed();
    },
  });
  return () => {
    cancelAnimationFrame(frame);
    close();
  };
}

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;

/** One list, built from stream events. */
class ObjectList {
  private items = new Map<string, Stored>();
  private state: Watched["state"] = "loading";
  private trouble: Watched["trouble"];
  private isListed = false;

  replace(items: readonly Stored[]): void {
    this.items = new Map(items.map((item) => [keyOf(item), item]));
    this.isListed = true;
    this.well();
  }

  change({ type, object }: { readonly type: string; readonly object: Stored }): void {
    if (type === "DELETED") this.items.delete(keyOf(object));
    else this.items.set(keyOf(object), object);
    this.well();
  }

  troubled({ status, message }: { readonly status: number; readonly message: string }): void {
    if (status === 0) {
      this.well();
      return;
    }
    this.state = status === 403 || status === 404 ? "refused" : "away";
    this.trouble = { status, message };
  }

  away(): void {
    if (this.state !== "refused") this.state = "away";
    this.trouble ??= { status: 0, message: "The dashboard does not respond." };
  }

  back(): void {
    if (this.trouble?.status === 0) this.well();
  }

  private well(): void {
    this.state = this.isListed ? "live" : "loading";
    this.trouble = undefined;
  }

  watched(): Watched {
    const items = [...this.items.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    return { state: this.state, items, trouble: this.trouble };
  }
}
