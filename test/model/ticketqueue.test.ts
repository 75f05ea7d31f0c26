/**
 * The ticket queue's protocol as a small model, explored in every interleaving with crashes. It has one key, one object whose
 * version grows, two routers that turn events into requests, two workers that own, read, and settle, and marks that fall due at
 * any time. The test visits every reachable state (breadth first), so it finds each order of steps that loses a request.
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

type Steps = Generator<State>;

/** Every state that one step leads to. */
function* next(s: State, protocol: Protocol): Steps {
  yield* changeSteps(s);
  for (const [i, router] of s.routers.entries()) yield* routerSteps(s, i, router, protocol);
  for (const [i, marks] of s.marks.entries()) yield* scheduleSteps(s, i, marks, protocol);
  for (const [i, dues] of s.due.entries()) yield* relaySteps(s, i, dues, protocol);
  for (const [i, owner] of s.owners.entries()) yield* ownerSteps(s, i, owner, protocol);
}

/** Which marks a router writes. */
const slotOf = (router: number, { marksPerRouter }: Protocol): number =>
  marksPerRouter === "own" ? router : 0;

/** The object changes; the event reaches any idle router. */
function* changeSteps(s: State): Steps {
  if (s.changes === 0) return;
  for (const [i, router] of s.routers.entries()) {
    if (router.step !== "idle" && router.step !== "done") continue;
    const version = s.version + 1;
    const routers = put<Router>(s.routers, i, { ...router, step: "try", version });
    yield { ...s, version, changes: s.changes - 1, routers };
  }
}

/** A router requests the object of its event, and leaves a mark when the ticket is refused. */
function* routerSteps(s: State, i: number, router: Router, protocol: Protocol): Steps {
  const slot = slotOf(i, protocol);
  const stored = s.marks[slot] ?? [];
  const become = (change: Partial<Router>) => put(s.routers, i, { ...router, ...change });
  if (router.step === "try") {
    if (s.ticket === "none") yield { ...s, ticket: "waiting", routers: become({ step: "done" }) };
    else if (protocol.markWhenRefused === "forget") yield { ...s, routers: become({ step: "done" }) };
    else yield { ...s, routers: become({ step: "mark" }) };
  }
  if (router.step === "mark") {
    // A newer mark covers the event. An older one is deleted first, while the event is in flight.
    const kept = protocol.versionsOnSubject === "one" ? without(stored, router.left) : stored;
    if (router.left > router.version) yield { ...s, routers: become({ step: "done" }) };
    else yield { ...s, marks: put(s.marks, slot, kept), routers: become({ step: "store" }) };
  }
  if (router.step === "store") {
    // If all versions share a subject, the later publish replaces the earlier one, even with an older version.
    const marks = protocol.versionsOnSubject === "all" ? [router.version] : plus(stored, router.version);
    yield {
      ...s,
      marks: put(s.marks, slot, marks),
      routers: become({ step: "done", left: Math.max(router.left, router.version) }),
    };
  }
  // A router crashes: its event is redelivered.
  if (s.crashes > 0 && router.step !== "idle" && router.step !== "done") {
    yield { ...s, crashes: s.crashes - 1, routers: become({ step: "try", left: 0 }) };
  }
}

/**
 * A mark falls due. The message that it fires waits at the server like any publish; when that is stored, the server purges the
 * mark's subject.
 */
function* scheduleSteps(s: State, i: number, marks: Versions, protocol: Protocol): Steps {
  const fired = s.firing[i] ?? 0;
  if (fired === 0) {
    for (const mark of marks) yield { ...s, firing: put(s.firing, i, mark) };
    return;
  }
  const left = protocol.versionsOnSubject === "all" ? [] : without(marks, fired);
  const due = put(s.due, i, plus(s.due[i] ?? [], fired));
  yield { ...s, due, marks: put(s.marks, i, left), firing: put(s.firing, i, 0) };
}

/** The relay requests the objects of due marks, and leaves a mark again when the ticket is refused. */
function* relaySteps(s: State, i: number, dues: Versions, protocol: Protocol): Steps {
  for (const version of dues) {
    const due = put(s.due, i, without(dues, version));
    if (s.ticket === "none") {
      yield { ...s, ticket: "waiting", due };
      continue;
    }
    // Any replica relays it.
    for (const [at, router] of s.routers.entries())
      yield* markAgain({ ...s, due }, version, at, router, protocol);
  }
}

/** A replica leaves a mark again. It writes one mark at a time, so not while its router is about to store one. */
function* markAgain(s: State, version: number, i: number, router: Router, protocol: Protocol): Steps {
  if (router.step === "store") return;
  if (router.left > version) {
    yield s;
    return;
  }
  const slot = slotOf(i, protocol);
  const stored = s.marks[slot] ?? [];
  const marks =
    protocol.versionsOnSubject === "one" ? plus(without(stored, router.left), version) : [version];
  const routers = put<Router>(s.routers, i, { ...router, left: version });
  yield { ...s, marks: put(s.marks, slot, marks), routers };
}

/** A worker owns the key, reads the object, acknowledges the ticket, and settles the marks. */
function* ownerSteps(s: State, i: number, owner: Owner, protocol: Protocol): Steps {
  const become = (change: Partial<Owner>) => put(s.owners, i, { ...owner, ...change });
  if (owner.step === "idle" && s.ticket === "waiting") {
    yield { ...s, ticket: "owned", owners: become({ step: "owns" }) };
  }
  if (owner.step === "owns") yield { ...s, owners: become({ step: "read", saw: s.version }) };
  if (owner.step === "read") {
    const reconciled = Math.max(s.reconciled, owner.saw);
    yield { ...s, ticket: "none", reconciled, owners: become({ step: "acked" }) };
  }
  if (owner.step === "acked") yield { ...s, owners: become({ step: "looked", found: [...s.marks] }) };
  const idle = become({ step: "idle", saw: 0, found: [] });
  if (owner.step === "looked") yield settled({ ...s, owners: idle }, owner, protocol);
  // An owner crashes: before its ack the ticket is redelivered, afterwards nothing is.
  if (s.crashes > 0 && owner.step !== "idle") {
    const ticket = owner.step === "owns" || owner.step === "read" ? "waiting" : s.ticket;
    yield { ...s, crashes: s.crashes - 1, ticket, owners: idle };
  }
}

/** The state after an owner has settled the marks that it found: it requests the changes that it has not seen. */
function settled(s: State, { found, saw }: Owner, { dropWhenOwned }: Protocol): State {
  const open = found.some((marks) => marks.some((version) => version > saw));
  // Purges the marks that it found, not those stored since.
  const purged = s.marks.map((marks, i) => marks.filter((version) => !found[i]?.includes(version)));
  if (!open) return { ...s, marks: purged };
  if (s.ticket === "none") return { ...s, ticket: "waiting", marks: purged };
  return { ...s, marks: dropWhenOwned === "keep" ? s.marks : purged };
}

/** Identifies a state. The owners are interchangeable. */
const keyOf = ({ owners, ...state }: State): string =>
  [JSON.stringify(state), ...owners.map((owner) => JSON.stringify(owner)).sort()].join("\n");

/** Visits every reachable state; returns the first history that violates an invariant. */
function explore(
  protocol: Protocol,
  changes: number,
  crashes: number,
): { states: number; broken?: string[] } {
  const first = start(changes, crashes);
  const cameFrom = new Map<string, string | undefined>([[keyOf(first), undefined]]);
  let frontier = [first];
  const history = (state: State): string[] => {
    const out: string[] = [];
    for (let at: string | undefined = keyOf(state); at !== undefined; at = cameFrom.get(at)) out.unshift(at);
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
      const from = keyOf(state);
      let steps = 0;
      for (const after of next(state, protocol)) {
        steps++;
        const key = keyOf(after);
        if (cameFrom.has(key)) continue;
        cameFrom.set(key, from);
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

// The number of states bounds the work. The time only ends a search that hangs.
const exhaustive = { timeout: 300_000 };

test.each([
  [3, 1, 156_003],
  [2, 2, 4389],
])(
  "keeps its invariants in every interleaving of %i changes and %i crashes",
  exhaustive,
  (changes, crashes, all) => {
    const { states, broken } = explore(real, changes, crashes);
    expect(broken?.join("\n")).toBeUndefined();
    expect(states).toBe(all);
  },
);

test("without crashes, a router never has two marks while the object has a ticket", exhaustive, () => {
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
])("finds the mistake: %s", exhaustive, (_, protocol) => {
  expect(explore(protocol, 3, 0).broken?.[0]).toBe("a request was lost");
});
