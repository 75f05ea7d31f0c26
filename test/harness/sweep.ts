/** Triggers a function's sweep, and loses its timers. */
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { sweeps, timersStream, work } from "../../bus/subjects.ts";
import type { TestObjects } from "./testobjects.ts";

const scopeOf = (fn: string) => ({ fn, cluster: "default" });

/** Requests all objects of a function, as every five minutes. */
export const sweep = async ({ bus }: Pick<TestObjects, "bus">, fn: string): Promise<void> => {
  await publishUntilAnswered(bus, sweeps.due(scopeOf(fn)), "");
};

/** Deletes the delayed requests of a function, as if the bus had lost them. */
export const loseTimers = async ({ bus }: Pick<TestObjects, "bus">, fn: string): Promise<void> => {
  await bus.jsm.streams.purge(timersStream(fn), { filter: work.timers(scopeOf(fn)) });
};
