/** Repeated saves while objects are created. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Dev, Project } from "./project.ts";
import { source, stoneKind } from "./stonecode.ts";
import { put, untilMarked } from "./stones.ts";

/** Saves the function `pebble` `saves` times. Expects the last version to reconcile every Pebble; returns its mark. */
export async function saveAgainAndAgain(
  { client, printed, running }: Pick<Dev, "client" | "printed" | "running">,
  mine: Project,
  saves: number,
): Promise<string> {
  let stones = 0;
  const saving = new AbortController();
  const stream = (async () => {
    for (; !saving.signal.aborted; stones++) {
      await put(client, `stone-${stones}`);
      await sleep(100);
    }
  })();
  for (let code = 2; code <= saves + 1; code++) {
    const before = stones;
    mine.save("stones/pebble.ts", source({ mark: String(code) }));
    // Most saves come before the previous code has started.
    if (code % 5 === 0) await printed(/Code \d+ runs/);
    else await expect.poll(() => stones, { timeout: 30_000, interval: 10 }).toBeGreaterThan(before);
  }
  const last = String(saves + 1);
  await untilMarked(client, "stone-0", last);
  saving.abort();
  await stream;
  const unmarked = async () =>
    (await client.list(stoneKind("Pebble"))).items.filter(({ status }) => status?.mark !== last);
  await expect.poll(unmarked, { timeout: 60_000, interval: 50 }).toEqual([]);
  expect((await client.list(stoneKind("Pebble"))).items).toHaveLength(stones);
  expect(stones).toBeGreaterThan(saves / 2);
  expect(
    running.lines.all.filter((line) => /failed|dead letter|does not start|was ended/.test(line)),
  ).toEqual([]);
  return last;
}
