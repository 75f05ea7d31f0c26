/** Receives webhooks from the package `emulate` and from tests, and delivers them. */
import type { Deliveries, Delivery } from "./deliveries.ts";
import { prefixedLinks } from "./links.ts";
import { completed, type Payload } from "./payloadgaps.ts";
import type { Pull, Pulls } from "./pulls.ts";
import { hiddenApp, type SeededApp } from "./seed.ts";

/** Receives, completes, and sends webhooks. */
export interface Webhooks {
  /** Receives a webhook from `emulate`. */
  receive(app: number, event: string, body: string): void;
  /** Sends the payload unchanged to the App with that id, or the first App. Resolves with the outcome. */
  send(event: string, payload: object, app?: number): Promise<Delivery>;
  /** Sends the payload to all Apps that subscribe to the event and are installed on the repository. */
  announce(repository: string, event: string, payload: Payload): void;
}

/** Dependencies of the webhooks. */
export interface WebhookParts {
  readonly apps: readonly SeededApp[];
  /** URL of the simulated GitHub. */
  readonly url: string;
  readonly deliveries: Deliveries;
  readonly pulls: Pulls;
}

/** Completes the webhooks of `emulate`, and delivers all webhooks. */
export function webhooks({ apps, url, deliveries, pulls }: WebhookParts): Webhooks {
  function appOf(id = apps[0]?.id): SeededApp {
    const app = apps.find((one) => one.id === id);
    if (app === undefined)
      throw new Error(`no App with id ${id}: the Apps are ${apps.map((one) => one.id).join(", ")}`);
    return app;
  }

  async function send(event: string, payload: object, id?: number): Promise<Delivery> {
    const app = appOf(id);
    const [first] = app.installations;
    const defaults = first && { installation: { id: first.id } };
    return deliveries.deliver(app, event, JSON.stringify({ ...defaults, ...payload }));
  }

  /** Sends the payload to all of these Apps that get webhooks, subscribe to the event, and are installed on the repository. */
  function fanOut(to: readonly SeededApp[], repository: string, event: string, payload: Payload): void {
    const [owner] = repository.split("/");
    for (const app of to.filter(({ events, hookUrl }) => hookUrl !== null && events.includes(event))) {
      for (const { id, account, repositories } of app.installations) {
        if (account === owner && (repositories === "all" || repositories.includes(repository)))
          void send(event, { ...payload, installation: { id } }, app.id);
      }
    }
  }

  return {
    send,
    receive(id, event, body) {
      const payload: Payload = JSON.parse(prefixedLinks(body, url));
      // GitHub's payload has `changes`; `emulate`'s does not. moves.ts sends these webhooks.
      if (event === "repository" && payload.changes === undefined && payload.action !== "deleted") return;
      pulls.correct(payload.pull_request);
      if (payload.action === "opened" && event === "pull_request")
        payload.sender = (payload.pull_request as Pull).user;
      const whole = completed(event, payload);
      if (id !== hiddenApp.id) return void deliveries.deliver(appOf(id), event, JSON.stringify(whole));
      const { full_name: repository = "" } = (payload.repository ?? {}) as { full_name?: string };
      fanOut(
        apps.filter(({ hookUrl }) => hookUrl !== undefined),
        repository,
        event,
        whole,
      );
    },
    announce: (repository, event, payload) => fanOut(apps, repository, event, payload),
  };
}
