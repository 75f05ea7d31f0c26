import fc from "fast-check";
import { expect, test } from "vitest";
import { judge, type WatchedVersion, type WatchRecord } from "./watchrecords.ts";

/** What a version shows to the watch: a projection of a matching object, or nothing. */
type State = "a" | "b" | "unmatched" | "deleted";

interface Message {
  readonly sequence: number;
  readonly previous: number;
  readonly state: State;
  readonly published: number;
}

const seenIn = ({ sequence, previous, state }: Message, declaration = "d"): WatchedVersion => ({
  ...{ declaration, sequence, previous, resourceVersion: String(sequence + 100) },
  projection: state,
  matches: state === "a" || state === "b",
  deleted: state === "deleted",
});

/** A router that handles one message, step by step. */
interface Router {
  readonly message: Message;
  next: "read" | "enter" | "request" | "store";
  verdict: ReturnType<typeof judge>;
  revision: number;
}

/** One object in OBJECTS, its record, and routers of several replicas. */
class Model {
  readonly messages: Message[] = [];
  readonly handled = new Set<Message>();
  readonly requests: number[] = [];
  readonly #routers: Router[] = [];
  #record: WatchRecord | undefined;
  #revision = 0;
  #time = 0;
  #undelivered = false;

  /** Replaces the last message, which is lost if it was not delivered yet. */
  publish(state: State): void {
    const previous = this.messages.length;
    this.messages.push({ sequence: previous + 1, previous, state, published: ++this.#time });
    this.#undelivered = true;
  }

  deliver(): void {
    const message = this.messages.at(-1);
    if (!this.#undelivered || message === undefined) return;
    this.#undelivered = false;
    this.#routers.push({ message, next: "read", verdict: { requests: false, record: "keep" }, revision: 0 });
  }

  /** Only a message that is still the last one is redelivered. */
  crash(at: number): void {
    const [router] = this.#routers.splice(at % Math.max(1, this.#routers.length), 1);
    if (router?.message === this.messages.at(-1)) this.#undelivered = true;
  }

  step(at: number): void {
    this.#time++;
    const router = this.#routers[at % Math.max(1, this.#routers.length)];
    if (router === undefined) return;
    router.next = this.#stepOf(router);
    if (router.next !== "read" || !this.handled.has(router.message)) return;
    this.#routers.splice(this.#routers.indexOf(router), 1);
  }

  #stepOf(router: Router): Router["next"] {
    const { message, verdict } = router;
    const { projection, ...known } = seenIn(message);
    switch (router.next) {
      case "read":
        router.revision = this.#revision;
        router.verdict = judge(this.#record, seenIn(message));
        return "enter";
      case "enter": {
        if (verdict.record === "enter" && !this.#replace(router, { ...known, keys: [] })) return "read";
        return "request";
      }
      case "request":
        if (verdict.requests) this.requests.push(this.#time);
        return "store";
      case "store": {
        const record = verdict.record === "remove" ? undefined : { ...known, projection, keys: [] };
        if (verdict.record === "keep" || this.#replace(router, record)) this.handled.add(message);
        return "read";
      }
    }
  }

  #replace(router: Router, record: WatchRecord | undefined): boolean {
    if (router.revision !== this.#revision) return false;
    this.#record = record;
    router.revision = ++this.#revision;
    return true;
  }

  /** Delivers and handles everything, in this order of routers, then in any. */
  settle(order: readonly number[] = []): void {
    const orders = order.values();
    for (this.deliver(); this.#routers.length > 0; this.deliver()) this.step(orders.next().value ?? 0);
  }
}

const visible = ({ state }: Message): State => (state === "deleted" ? "unmatched" : state);

/** Changes that no request has followed. A match that no router has seen may be missed. */
function missed({ messages, handled, requests }: Model): Message[] {
  const shown = (message: Message | undefined) => (message === undefined ? "unmatched" : visible(message));
  return messages.filter((message, at) => {
    if (visible(message) === shown(messages[at - 1])) return false;
    const before = messages.slice(0, at).findLast((one) => handled.has(one));
    const after = messages.slice(at).find((one) => handled.has(one));
    const isUnseen = shown(before) === "unmatched" && shown(after) === "unmatched";
    return !isUnseen && !requests.some((time) => time >= message.published);
  });
}

const state = fc.constantFrom<State>("a", "b", "unmatched", "deleted");
const command = fc.oneof(
  { weight: 3, arbitrary: state.map((state) => (model: Model) => model.publish(state)) },
  { weight: 4, arbitrary: fc.constant((model: Model) => model.deliver()) },
  { weight: 12, arbitrary: fc.nat(3).map((at) => (model: Model) => model.step(at)) },
  { weight: 1, arbitrary: fc.nat(3).map((at) => (model: Model) => model.crash(at)) },
);

const long = { maxLength: 30, size: "max" } as const;

test("requests after every change, with lost versions, crashes, and replicas that overtake each other", () => {
  fc.assert(
    fc.property(fc.array(command, long), fc.array(fc.nat(3), long), (commands, order) => {
      const model = new Model();
      for (const run of commands) run(model);
      model.settle(order);
      expect(missed(model)).toEqual([]);
    }),
    { numRuns: 10_000 },
  );
});

test("requests exactly the changes when versions arrive one after the other", () => {
  fc.assert(
    fc.property(fc.array(state, { maxLength: 20 }), (states) => {
      const model = new Model();
      for (const state of states) {
        model.publish(state);
        model.settle();
      }
      const shown = ["unmatched", ...model.messages.map(visible)];
      const changes = shown.filter((state, at) => at > 0 && state !== shown[at - 1]);
      expect(model.requests).toHaveLength(changes.length);
    }),
  );
});

const record: WatchRecord = {
  ...{ declaration: "d", sequence: 5, resourceVersion: "105", projection: "a" },
  keys: [],
};
const after = (state: State, sequence = 6, previous = 5): Message => ({
  ...{ sequence, previous, state },
  published: 0,
});

test.each([
  ["another declaration", { ...record, declaration: "other" }, seenIn(after("a"))],
  ["no known projection", { ...record, projection: undefined }, seenIn(after("a"))],
  ["another projection", record, seenIn(after("b"))],
  ["a message between them", record, seenIn(after("a", 7, 6))],
  ["an unknown message between them", record, { ...seenIn(after("a")), previous: undefined }],
  ["a recreated stream", record, { ...seenIn(after("a", 1, 0)), resourceVersion: "106" }],
  ["a restored cluster", record, { ...seenIn(after("a", 9, 8)), resourceVersion: "50" }],
])("requests and replaces a record with %s", (_, before, seen) => {
  expect(judge(before, seen)).toEqual({ requests: true, record: "replace" });
});

test("requests nothing for the same version, delivered or published again", () => {
  const same = { ...seenIn(after("a", 5, 4)), resourceVersion: "105" };
  expect(judge(record, same)).toEqual({ requests: false, record: "keep" });
  expect(judge(record, { ...same, sequence: 9, previous: 8 })).toEqual({
    requests: false,
    record: "replace",
  });
});

test("a late, older version never changes the record, and requests its keys if it matches", () => {
  const late = (state: State) =>
    judge({ ...record, sequence: 9, resourceVersion: "109" }, seenIn(after(state)));
  expect([late("a"), late("b")]).toEqual(Array(2).fill({ requests: true, record: "keep" }));
  expect([late("unmatched"), late("deleted")]).toEqual(Array(2).fill({ requests: false, record: "keep" }));
});
