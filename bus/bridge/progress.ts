/** Progress of a bridge's scopes, for its metrics. */

/** One scope that this replica leads. */
export interface Lead {
  /** The scope is not up to date: it lists, resumes, or cannot be watched. */
  fallsBehind(): void;
  /** The scope is listed or watched, so later changes are reported. */
  catchesUp(): void;
}

/** Values that a metric reads from a lead. */
export interface LeadSource {
  /** When the oldest unpublished change was read, by `performance.now()`; undefined if none waits. */
  readonly waitingSince: number | undefined;
  /** Objects that exist. */
  readonly count: number;
}

/** Progress of a kind, summed over its scopes. */
export interface KindProgress {
  /** Scopes that this replica leads. */
  leading: number;
  /** How long the scope that is furthest behind has been behind; 0 when all are up to date. */
  behindSeconds: number;
  objects: number;
}

/** Progress of all scopes of a bridge. */
export interface Progress {
  /** Registers a scope of the kind as standing by, until the returned function is called. */
  enter(kind: string): () => void;
  /** Marks a scope as led until the signal aborts. */
  lead(kind: string, source: LeadSource, signal: AbortSignal): Lead;
  /** Progress by kind. For a kind that only stands by, all values are 0. */
  kinds(): ReadonlyMap<string, KindProgress>;
  /** Number of existing objects in all scopes that this replica leads. */
  objects(): number;
}

/** Opens a progress record without scopes. */
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
        const total = found.get(kind);
        if (total === undefined) continue;
        const since = Math.min(behindSince ?? now, source.waitingSince ?? now);
        total.leading++;
        total.behindSeconds = Math.max(total.behindSeconds, (now - since) / 1000);
        total.objects += source.count;
      }
      return found;
    },
  };
}
