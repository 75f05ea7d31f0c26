/** The webhooks of all Apps, on their way from the package `emulate` or from a test to be delivered. */
import type { Deliveries, Delivery } from "./deliveries.ts";
import { prefixedLinks } from "./links.ts";
import { completed, type Payload } from "./payloadgaps.ts";
import type { Pull, Pulls } from "./pulls.ts";
import type { SeededApp } from "./seed.ts";

/** Ways in. */
export interface Webhooks {
  /** From `emulate`. */
  receive(app: number, event: string, body: string): void;
  /** As it is given, to the App with that id, or the first one. Resolves when there is an outcome. */
  send(event: string, payload: object, app?: number): Promise<Delivery>;
  /** To all Apps that want the event and are installed on the repository. */
  announce(repository: string, event: string, payload: Payload): void;
}

/** What they pass through. */
export interface WebhookParts {
  readonly apps: readonly SeededApp[];
  /** Of the emulated GitHub. */
  readonly url: string;
  readonly deliveries: Deliveries;
  readonly pulls: Pulls;
}

/** Completes what is missing in the webhooks of `emulate`, and has all of them delivered. */
export function webhooks({ apps, url, deliveries, pulls }: WebhookParts): Webhooks {
  function appOf(id = apps[0]?.id): SeededApp {
    const app = apps.find((one) => one.id === id);
    if (app === undefined)
      throw new Error(`expected one of the Apps ${apps.map((one) => one.id).join(", ")}, found ${id}`);
    return app;
  }

  async function send(event: string, payload: object, id?: number): Promise<Delivery> {
    const app = appOf(id);
    const [first] = app.installations;
    const of = first && { installation: { id: first.id } };
    return deliveries.deliver(app, event, JSON.stringify({ ...of, ...payload }));
  }

  return {
    send,
    receive(id, event, body) {
      const payload: Payload = JSON.parse(prefixedLinks(body, url));
      // GitHub says what has changed, `emulate` does not: those of moves are made in moves.ts.
      if (event === "repository" && payload.changes === undefined && payload.action !== "deleted") return;
      pulls.correct(payload.pull_request);
      if (payload.action === "opened" && event === "pull_request")
        payload.sender = (payload.pull_request as Pull).user;
      void deliveries.deliver(appOf(id), event, JSON.stringify(completed(event, payload)));
    },
    announce(repository, event, payload) {
      const [owner] = repository.split("/");
      for (const app of apps.filter(({ events }) => events.includes(event))) {
        for (const { id, account, repositories } of app.installations) {
          if (account === owner && (repositories === "all" || repositories.includes(repository)))
            void send(event, { ...payload, installation: { id } }, app.id);
        }
      }
    },
  };
}
