/** `denrei dev`: the API server calls the admission hooks of the running code. */
import { expect, test } from "vitest";
import { testFolder } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { source } from "./stonecode.ts";
import { firstMark, put } from "./stones.ts";

const pebble = "stones/pebble.ts";

/** The source with a hook that limits the ticks. */
const withLimit = (mark: string, limit: number): string =>
  source({ mark }).replace(
    /( {2}status: .*),\n\}\);/,
    `$1,
  admission: {
    validate: ({ object }) =>
      object.spec.ticks > ${limit} ? { errors: [{ field: "spec.ticks", message: "at most ${limit}" }] } : undefined,
  },
});`,
  );

test("a saved hook takes effect, and a removed one has none", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(pebble, withLimit("1", 3));
  const { client, printed, running } = await startDev(mine, []);
  await put(client, "first", { spec: { ticks: 1 } });
  expect(await firstMark(client, "first")).toBe("1");
  const putting = (ticks: number) =>
    put(client, `with-${ticks}`, { spec: { ticks } }).then(
      () => "created",
      ({ message }: Error) => message,
    );
  expect(await putting(4)).toMatch(
    /"validate\.pebbles\.test\.denrei\.dev" denied the request: spec\.ticks: at most 3/,
  );

  mine.save(pebble, withLimit("2", 5));
  await printed("Code 2 runs");
  // The API server keeps its connections until the former worker has stopped.
  await expect.poll(() => putting(6)).toContain("at most 5");
  await expect.poll(() => putting(4)).toBe("created");

  mine.save(pebble, source({ mark: "3" }));
  await printed("Code 3 runs");
  expect(await putting(6)).toBe("created");

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
});
