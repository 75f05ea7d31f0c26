/**
 * Simulates timelines of pull requests, reviews, and permissions, which the package `emulate` does not have. Only the
 * user has write access.
 * https://docs.github.com/en/rest/issues/timeline
 */
import { json } from "./call.ts";
import type { RepositoryEndpoint } from "./repositoryapi.ts";
import { user } from "./seed.ts";

type Event = Readonly<Record<string, unknown>>;

/** Timelines of all pull requests. */
export interface Timelines {
  readonly endpoints: readonly RepositoryEndpoint[];
  /** Adds an event and returns its time. */
  add(repository: string, number: number, event: Event): string;
}

/** Creates empty timelines. */
export function timelines(): Timelines {
  const all = new Map<string, Event[]>();
  return {
    add(repository, number, event) {
      const at = new Date().toISOString();
      const key = `${repository}#${number}`;
      all.set(key, [...(all.get(key) ?? []), { created_at: at, submitted_at: at, ...event }]);
      return at;
    },
    endpoints: [
      {
        method: "GET",
        path: /^issues\/(\d+)\/timeline$/,
        permission: "pull_requests",
        async answer({ repository, captures: [number = ""], query }) {
          const size = Math.min(Number(query.get("per_page") ?? 30), 100);
          const start = (Number(query.get("page") ?? 1) - 1) * size;
          return json(200, (all.get(`${repository}#${number}`) ?? []).slice(start, start + size));
        },
      },
      {
        method: "GET",
        path: /^collaborators\/([^/]+)\/permission$/,
        permission: "metadata",
        async answer({ captures: [login = ""] }) {
          return json(200, { permission: decodeURIComponent(login) === user.login ? "write" : "read" });
        },
      },
    ],
  };
}
