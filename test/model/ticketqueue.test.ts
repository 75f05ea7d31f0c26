/**
 * The ticket queue's protocol as a small model, and every interleaving of it with crashes. One key, one object whose
 * version grows; two routers that turn events into requests; two workers that own, read, settle; marks that fall due
 * at any time. Each state that can be reached is visited (breadth first), so a schedule that loses a wake-up is found.
 *
 * The model mirrors bus/queue/queue.ts and the settling order in bus/worker/reconciler.ts. The same invariants are
 * held against the code itself, on a real server with real processes, in the first scenario of test/prove.
 */
import { expect, test } from "vitest";

/** What a router does with one event: nothing yet, try the ticket, take its older mark away, leave a mark, done. */
type RouterStep = "idle" | "try" | "mark" | "store" | "done";
/** Where an owner is. */
type OwnerStep = "idle" | "owns" | "read" | "acked" | "looked";

interface Router {
  readonly step: RouterStep;
  readonly version: number;
  /** The newest mark that it knows it has left. */
  readonly left: number;
}

/** Versions whose marks are there, ascending. */
type Versions = readonly number[];

interface Owner {
  readonly step: OwnerStep;
  /** What it read. */
  readonly saw: number;
  /** Which marks it found after its ack: versions per router. */
  readonly found: readonly Versions[];
}

interface State {
  /** Newest version in the object store, and how many more changes may still come. */
  readonly version: number;
  readonly changes: number;
  readonly ticket: "none" | "waiting" | "owned";
  /** Marks of each router. */
  readonly marks: readonly Versions[];
  /** Marks that fell due and were not asked for yet. */
  readonly due: readonly Versions[];
  /** A schedule that fires: it is not stored where it is due yet; 0 for none. */
  readonly firing: readonly number[];
  readonly routers: readonly Router[];
  readonly owners: readonly Owner[];
  /** The newest version that a finished reconcile has seen. */
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
  // The object changes; the event reaches one of the routers (whichever is free).
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
      // One that is newer speaks for it. An older one is taken away first, while the event is in hand.
      const older = protocol.versionsOnSubject === "one" ? without(beside, router.left) : beside;
      if (router.left > router.version) yield { ...s, routers: become({ step: "done" }) };
      else yield { ...s, marks: put(s.marks, slot, older), routers: become({ step: "store" }) };
    }
    if (router.step === "store") {
      // Where all versions share a subject, the later publish replaces the earlier one, whatever it says.
      const stored = protocol.versionsOnSubject === "all" ? [router.version] : plus(beside, router.version);
      yield {
        ...s,
        marks: put(s.marks, slot, stored),
        routers: become({ step: "done", left: Math.max(router.left, router.version) }),
      };
    }
    // A router that dies: its event is delivered again.
    if (s.crashes > 0 && router.step !== "idle" && router.step !== "done") {
      yield { ...s, crashes: s.crashes - 1, routers: become({ step: "try", left: 0 }) };
    }
  }
  // A mark falls due; the relay asks, and marks again when it is refused.
  // What fires waits its turn at the server like any publish; when it is stored, the schedule's subject is purged.
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
      // Any replica relays it. It writes one mark after the other, so not while its router is about to store one.
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
      // Purged are the marks that were found, not those that came since.
      const purged = s.marks.map((marks, at) =>
        marks.filter((version) => !owner.found[at]?.includes(version)),
      );
      if (!open) yield { ...s, marks: purged, owners: idle };
      else if (s.ticket === "none") yield { ...s, ticket: "waiting", marks: purged, owners: idle };
      else yield { ...s, marks: protocol.dropWhenOwned === "keep" ? s.marks : purged, owners: idle };
    }
    // An owner that dies: before its ack the ticket is delivered again, after it nothing is.
    if (s.crashes > 0 && owner.step !== "idle") {
      const ticket = owner.step === "owns" || owner.step === "read" ? "waiting" : s.ticket;
      yield { ...s, crashes: s.crashes - 1, ticket, owners: become({ step: "idle", saw: 0, found: [] }) };
    }
  }
}

/** Visits every reachable state; returns the first history that breaks an invariant. */
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
      // A router that died does not know its marks any more.
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
        return { states: cameFrom.size, broken: ["a wake-up was lost", ...history(state)] };
      }
    }
    frontier = found;
  }
  return { states: cameFrom.size };
}

test.each([
  [3, 1],
  [2, 2],
])(
  "the protocol keeps its invariants in every interleaving of %i changes and %i crashes",
  (changes, crashes) => {
    const { states, broken } = explore(real, changes, crashes);
    expect(broken?.join("\n")).toBeUndefined();
    expect(states).toBeGreaterThan(5000);
  },
);

test("without crashes a router never has two marks beside a ticket", () => {
  expect(explore(real, 3, 0).broken?.join("\n")).toBeUndefined();
});

test.each<[string, Protocol]>([
  ["forgetting a refused request", { ...real, markWhenRefused: "forget" }],
  [
    "one subject for all versions, so that an older one that fires takes a newer one along",
    { ...real, versionsOnSubject: "all" },
  ],
  [
    "one mark for all routers, so that an older one replaces a newer one",
    { ...real, marksPerRouter: "shared", versionsOnSubject: "all" },
  ],
  ["dropping marks that another owner has yet to judge", { ...real, dropWhenOwned: "drop" }],
])("the model finds the mistake: %s", (_, protocol) => {
  expect(explore(protocol, 3, 0).broken?.[0]).toBe("a wake-up was lost");
});
