/** How far a bridge is with what it watches, for its metrics. */

/** One scope that this replica leads. */
export interface Lead {
  /** It is not up to date: it lists, resumes, or can not watch. */
  fallsBehind(): void;
  /** It is listed or watched, so what changes from now on is told. */
  catchesUp(): void;
}

/** What a lead is asked when somebody wants to know. */
export interface LeadSource {
  /** When the oldest change came that is not on the bus yet, by `performance.now()`; undefined where none waits. */
  readonly waitingSince: number | undefined;
  /** Objects that exist. */
  readonly count: number;
}

/** A kind, all of its scopes together. */
export interface KindProgress {
  /** Scopes that this replica leads. */
  leading: number;
  /** For how long the one that is the furthest behind has been; 0 when all are up to date. */
  behindSeconds: number;
  objects: number;
}

/** The scopes of a bridge. */
export interface Progress {
  /** A scope of the kind is stood by for, until the function that is returned is called. */
  enter(kind: string): () => void;
  /** Is led from now on, until the signal aborts. */
  lead(kind: string, source: LeadSource, signal: AbortSignal): Lead;
  /** By kind; of one that is only stood by for nothing is known. */
  kinds(): ReadonlyMap<string, KindProgress>;
  /** Objects that exist, of everything that this replica leads. */
  objects(): number;
}

/** No scopes yet. */
export function openProgress(): Progress {
  const scopes = new Map<symbol, string>();
  const leads = new Map<symbol, { kind: string; source: LeadSource; behindSince: number | undefined }>();
  return {
    enter(kind) {
      const scope = Symbol(kind);
      scopes.set(scope, kind);
      return () => void scopes.delete(scope);
    },
    lead(kind, source, signal) {
      const id = Symbol(kind);
      const lead = { kind, source, behindSince: performance.now() as number | undefined };
      leads.set(id, lead);
      signal.addEventListener("abort", () => leads.delete(id), { once: true });
      return {
        fallsBehind() {
          lead.behindSince ??= performance.now();
        },
        catchesUp() {
          lead.behindSince = undefined;
        },
      };
    },
    objects: () => [...leads.values()].reduce((sum, { source }) => sum + source.count, 0),
    kinds() {
      const now = performance.now();
      const found = new Map<string, KindProgress>();
      for (const kind of scopes.values()) found.set(kind, { leading: 0, behindSeconds: 0, objects: 0 });
      for (const { kind, source, behindSince } of leads.values()) {
        const of = found.get(kind);
        if (of === undefined) continue;
        const since = Math.min(behindSince ?? now, source.waitingSince ?? now);
        of.leading++;
        of.behindSeconds = Math.max(of.behindSeconds, (now - since) / 1000);
        of.objects += source.count;
      }
      return found;
    },
  };
}
