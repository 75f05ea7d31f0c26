/**
 * The ticket queue's protocol as a small model, explored in every interleaving with crashes. One key, one object whose version grows; two
 * routers that turn events into requests; two workers that own, read, settle; marks that fall due at any time. The test visits every
 * reachable
 * state (breadth first), so it finds each schedule that loses a request.
 * The model mirrors bus/queue/queue.ts and the settling order in bus/worker/reconciler.ts. The first scenario of test/prove checks
 * the same invariants of the code itself, on a real server with real processes.
 */
import { expect, test } from "vitest";

/** A router's progress with one event: idle, try the ticket, delete its older mark, store a mark, done. */
type RouterStep = "idle" | "try" | "mark" | "store" | "done";
/** An owner's progress. */
type OwnerStep = "idle" | "owns" | "read" | "acked" | "looked";

interface Router {
  readonly step: RouterStep;
  readonly version: number;
  /** The newest mark that it remembers having left. */
  readonly left: number;
}

/** Versions of stored marks, ascending. */
type Versions = readonly number[];

interface Owner {
  readonly step: OwnerStep;
  /** The version that it read. */
  readonly saw: number;
  /** The marks that it found after its ack: versions per router. */
  readonly found: readonly Versions[];
}

interface State {
  /** The newest version in the object store, and the number of changes still to come. */
  readonly version: number;
  readonly changes: number;
  readonly ticket: "none" | "waiting" | "owned";
  /** Marks of each router. */
  readonly marks: readonly Versions[];
  /** Marks that fell due and are not requested yet. */
  readonly due: readonly Versions[];
  /** A schedule that fires but is not stored in its target stream yet; 0 for none. */
  readonly firing: readonly number[];
  readonly routers: readonly Router[];
  readonly owners: readonly Owner[];
  /** The newest version that a finished reconcile has read. */
  readonly reconciled: number;
  readonly crashes: number;
}

/** Variants of the protocol: the real one, and mistakes that the model must find. */
interface Protocol {
  readonly marksPerRouter: "own" | "shared";
  readonly versionsOnSubject: "one" | "all";
  readonly dropWhenOwned: "keep" | "drop";
  readonly markWhenRefused: "mark" | "forget";
}

const real: Protocol = {
  marksPerRouter: "own",
  versionsOnSubject: "one",
  dropWhenOwned: "keep",
  markWhenRefused: "mark",
};
const put = <T>(list: readonly T[], at: number, value: T): T[] =>
  list.map((old, i) => (i === at ? value : old));

const plus = (versions: Versions, version: number): Versions =>
  versions.includes(version) ? versions : [...versions, version].sort((a, b) => a - b);
const without = (versions: Versions, version: number): Versions =>
  versions.filter((other) => other !== version);

function start(changes: number, crashes: number): State {
  return {
    version: 0,
    changes,
    ticket: "none",
    marks: [[], []],
    due: [[], []],
    firing: [0, 0],
    routers: [
      { step: "idle", version: 0, left: 0 },
      { step: "idle", version: 0, left: 0 },
    ],
    owners: [
      { step: "idle", saw: 0, found: [] },
      { step: "idle", saw: 0, found: [] },
    ],
    reconciled: 0,
    crashes,
  };
}

/** Every state that one step leads to. */
function* next(s: State, protocol: Protocol): Generator<State> {
  // The object changes; the event reaches any idle router.
  if (s.changes > 0) {
    for (const [i, router] of s.routers.entries()) {
      if (router.step !== "idle" && router.step !== "done") continue;
      const version = s.version + 1;
      const routers = put<Router>(s.routers, i, { ...router, step: "try", version });
      yield { ...s, version, changes: s.changes - 1, routers };
    }
  }
  for (const [i, router] of s.routers.entries()) {
    if (router.step === "try") {
      if (s.ticket === "none")
        yield { ...s, ticket: "waiting", routers: put(s.routers, i, { ...router, step: "done" }) };
      else if (protocol.markWhenRefused === "forget")
        yield { ...s, routers: put(s.routers, i, { ...router, step: "done" }) };
      else yield { ...s, routers: put(s.routers, i, { ...router, step: "mark" }) };
    }
    const slot = protocol.marksPerRouter === "own" ? i : 0;
    const beside = s.marks[slot] ?? [];
    const become = (change: Partial<Router>) => put(s.routers, i, { ...router, ...change });
    if (router.step === "mark") {
      // A newer mark covers the event. An older one is deleted first, while the event is in flight.
      const older = protocol.versionsOnSubject === "one" ? without(beside, router.left) : beside;
      if (router.left > router.version) yield { ...s, routers: become({ step: "done" }) };
      else yield { ...s, marks: put(s.marks, slot, older), routers: become({ step: "store" }) };
    }
    if (router.step === "store") {
      // Where all versions share a subject, the later publish replaces the earlier one, even with an older version.
      const stored = protocol.versionsOnSubject === "all" ? [router.version] : plus(beside, router.version);
      yield {
        ...s,
        marks: put(s.marks, slot, stored),
        routers: become({ step: "done", left: Math.max(router.left, router.version) }),
      };
    }
    // A router crashes: its event is redelivered.
    if (s.crashes > 0 && router.step !== "idle" && router.step !== "done") {
      yield { ...s, crashes: s.crashes - 1, routers: become({ step: "try", left: 0 }) };
    }
  }
  // A mark falls due. The relay requests the object, and leaves a mark again when the ticket is refused. A firing schedule waits at the
  // server like
  // any publish; when it is stored, the server purges the schedule's subject.
  for (const [i, marks] of s.marks.entries()) {
    const fired = s.firing[i] ?? 0;
    if (fired === 0) {
      for (const mark of marks) yield { ...s, firing: put(s.firing, i, mark) };
      continue;
    }
    const left = protocol.versionsOnSubject === "all" ? [] : without(marks, fired);
    const due = put(s.due, i, plus(s.due[i] ?? [], fired));
    yield { ...s, due, marks: put(s.marks, i, left), firing: put(s.firing, i, 0) };
  }
  for (const [i, dues] of s.due.entries()) {
    for (const due of dues) {
      const left = put(s.due, i, without(dues, due));
      if (s.ticket === "none") {
        yield { ...s, ticket: "waiting", due: left };
        continue;
      }
      // Any replica relays it. A replica writes one mark at a time, so not while its router is about to store one.
      for (const [at, router] of s.routers.entries()) {
        const slot = protocol.marksPerRouter === "own" ? at : 0;
        const beside = s.marks[slot] ?? [];
        if (router.step === "store") continue;
        if (router.left > due) {
          yield { ...s, due: left };
          continue;
        }
        const stored = protocol.versionsOnSubject === "one" ? plus(without(beside, router.left), due) : [due];
        const routers = put<Router>(s.routers, at, { ...router, left: due });
        yield { ...s, marks: put(s.marks, slot, stored), due: left, routers };
      }
    }
  }
  for (const [i, owner] of s.owners.entries()) {
    const become = (change: Partial<Owner>) => put(s.owners, i, { ...owner, ...change });
    if (owner.step === "idle" && s.ticket === "waiting") {
      yield { ...s, ticket: "owned", owners: become({ step: "owns" }) };
    }
    if (owner.step === "owns") yield { ...s, owners: become({ step: "read", saw: s.version }) };
    if (owner.step === "read") {
      yield {
        ...s,
        ticket: "none",
        reconciled: Math.max(s.reconciled, owner.saw),
        owners: become({ step: "acked" }),
      };
    }
    if (owner.step === "acked") yield { ...s, owners: become({ step: "looked", found: [...s.marks] }) };
    if (owner.step === "looked") {
      const open = owner.found.some((marks) => marks.some((version) => version > owner.saw));
      const idle = become({ step: "idle", saw: 0, found: [] });
      // Purges the marks that it found, not those stored since.
      const purged = s.marks.map((marks, at) =>
        marks.filter((version) => !owner.found[at]?.includes(version)),
      );
      if (!open) yield { ...s, marks: purged, owners: idle };
      else if (s.ticket === "none") yield { ...s, ticket: "waiting", marks: purged, owners: idle };
      else yield { ...s, marks: protocol.dropWhenOwned === "keep" ? s.marks : purged, owners: idle };
    }
    // An owner crashes: before its ack the ticket is redelivered, afterwards nothing is.
    if (s.crashes > 0 && owner.step !== "idle") {
      const ticket = owner.step === "owns" || owner.step === "read" ? "waiting" : s.ticket;
      yield { ...s, crashes: s.crashes - 1, ticket, owners: become({ step: "idle", saw: 0, found: [] }) };
    }
  }
}

/** Visits every reachable state; returns the first history that violates an invariant. */
function explore(
  protocol: Protocol,
  changes: number,
  crashes: number,
): { states: number; broken?: string[] } {
  const first = start(changes, crashes);
  const cameFrom = new Map<string, string | undefined>([[JSON.stringify(first), undefined]]);
  let frontier = [first];
  const history = (state: State): string[] => {
    const out: string[] = [];
    for (let at: string | undefined = JSON.stringify(state); at !== undefined; at = cameFrom.get(at))
      out.unshift(at);
    return out;
  };
  while (frontier.length > 0) {
    const found: State[] = [];
    for (const state of frontier) {
      const owning = state.owners.filter(({ step }) => step === "owns" || step === "read").length;
      if (owning > 1) return { states: cameFrom.size, broken: ["two owners", ...history(state)] };
      // A router that crashed has forgotten its marks.
      if (protocol === real && crashes === 0 && state.marks.some((marks) => marks.length > 1))
        return { states: cameFrom.size, broken: ["two marks of one router", ...history(state)] };
      let steps = 0;
      for (const after of next(state, protocol)) {
        steps++;
        const key = JSON.stringify(after);
        if (cameFrom.has(key)) continue;
        cameFrom.set(key, JSON.stringify(state));
        found.push(after);
      }
      if (steps === 0 && state.reconciled < state.version) {
        return { states: cameFrom.size, broken: ["a request was lost", ...history(state)] };
      }
    }
    frontier = found;
  }
  return { states: cameFrom.size };
}

test.each([
  [3, 1],
  [2, 2],
])("keeps its invariants in every interleaving of %i changes and %i crashes", (changes, crashes) => {
  const { states, broken } = explore(real, changes, crashes);
  expect(broken?.join("\n")).toBeUndefined();
  expect(states).toBeGreaterThan(5000);
});

test("without crashes, a router never has two marks while the object has a ticket", () => {
  expect(explore(real, 3, 0).broken?.join("\n")).toBeUndefined();
});

test.each<[string, Protocol]>([
  ["forgetting a refused request", { ...real, markWhenRefused: "forget" }],
  [
    "one subject for all versions, so that an older one that fires purges a newer one",
    { ...real, versionsOnSubject: "all" },
  ],
  [
    "one mark for all routers, so that an older one replaces a newer one",
    { ...real, marksPerRouter: "shared", versionsOnSubject: "all" },
  ],
  ["dropping marks that another owner still has to settle", { ...real, dropWhenOwned: "drop" }],
])("finds the mistake: %s", (_, protocol) => {
  expect(explore(protocol, 3, 0).broken?.[0]).toBe("a request was lost");
});
